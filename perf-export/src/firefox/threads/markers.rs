//! The markers of a thread.

use perf_profile::text::OneLine;
use serde::Serialize;

use super::{OFF_CPU, SAMPLE, ThreadMoment, ThreadSpan};
use crate::firefox::ThreadsWriter;
use crate::json::{ComputedValues, JsonDocument, RepeatedValue};

/// Of markers at a moment, and of those with a duration.
const INSTANT: u32 = 0;
const INTERVAL: u32 = 1;

/// The markers of a thread, in the order of time: samples of other events, and times without a CPU.
pub(super) struct MarkerTable<'a> {
    threads: &'a ThreadsWriter<'a>,
    moments: Vec<ThreadMoment>,
}

#[derive(Serialize)]
struct FirefoxMarker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<MarkerCause>,
}

#[derive(Serialize)]
struct MarkerCause {
    stack: u32,
}

impl<'a> MarkerTable<'a> {
    pub(super) fn new(threads: &'a ThreadsWriter<'a>, row: &ThreadSpan) -> Self {
        Self { threads, moments: threads.in_order(&row.marked, row.off_cpu.iter().copied()) }
    }

    fn name(&self, moment: ThreadMoment) -> u32 {
        let ThreadMoment::Sample(number) = moment else { return self.threads.off_cpu_name };
        let event = self.threads.sample(number).map(|it| it.event as usize);
        event.and_then(|event| self.threads.markers.get(event)).copied().unwrap_or_default()
    }

    fn end(&self, moment: ThreadMoment) -> Option<f64> {
        let ThreadMoment::Off(number) = moment else { return None };
        self.threads.off_cpu(number).map(|it| self.threads.time(it.end))
    }

    fn data(&self, moment: ThreadMoment) -> Option<FirefoxMarker> {
        match moment {
            ThreadMoment::Sample(number) => {
                let sample = self.threads.sample(number)?;
                Some(FirefoxMarker {
                    kind: SAMPLE,
                    text: self.threads.profile.text(number).map(|text| OneLine(text).to_string()),
                    period: Some(sample.total.period),
                    cpu: sample.cpu,
                    cause: self.threads.shared.row_of(sample.stack).map(|stack| MarkerCause { stack }),
                })
            }
            ThreadMoment::Off(number) => {
                let is_preempted = self.threads.off_cpu(number)?.is_preempted;
                let text = if is_preempted { "preempted" } else { "waits" };
                let (text, period) = (Some(text.to_owned()), None);
                Some(FirefoxMarker { kind: OFF_CPU, text, period, cpu: None, cause: None })
            }
        }
    }

    /// Adds the table to a document.
    pub(super) fn add_to<'d>(&'d self, document: &mut JsonDocument<'d>) {
        let Self { threads, moments } = self;
        document.table("markers", moments.len(), |table| {
            table.column("name", ComputedValues(moments, |it| self.name(it)));
            table.column("startTime", ComputedValues(moments, |it| threads.time(threads.time_of(it))));
            table.column("endTime", ComputedValues(moments, |it| self.end(it)));
            let phase = |it| if matches!(it, ThreadMoment::Off(_)) { INTERVAL } else { INSTANT };
            table.column("phase", ComputedValues(moments, phase));
            table.column("category", RepeatedValue(0, moments.len()));
            table.column("data", ComputedValues(moments, |it| self.data(it)));
        });
    }
}

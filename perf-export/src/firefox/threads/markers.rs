//! The markers of a thread.

use serde::Serialize;

use super::{Moment, OFF_CPU, Row, SAMPLE};
use crate::firefox::Threads;
use crate::firefox::document::{Document, Made, Same};
use perf_profile::text::OneLine;

/// Of markers at a moment, and of those with a duration.
const INSTANT: u32 = 0;
const INTERVAL: u32 = 1;

/// The markers of a thread, in the order of time: samples of other events, and times without a CPU.
pub(super) struct Table<'a> {
    threads: &'a Threads<'a>,
    moments: Vec<Moment>,
}

#[derive(Serialize)]
struct Marker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
}

#[derive(Serialize)]
struct Cause {
    stack: u32,
}

impl<'a> Table<'a> {
    pub(super) fn new(threads: &'a Threads<'a>, row: &Row) -> Self {
        Self { threads, moments: threads.in_order(&row.marked, row.off_cpu.iter().copied()) }
    }

    fn name(&self, moment: Moment) -> u32 {
        let Moment::Sample(number) = moment else { return self.threads.off_cpu_name };
        let event = self.threads.sample(number).map(|it| it.event as usize);
        event.and_then(|event| self.threads.markers.get(event)).copied().unwrap_or_default()
    }

    fn end(&self, moment: Moment) -> Option<f64> {
        let Moment::Off(number) = moment else { return None };
        self.threads.off_cpu(number).map(|it| self.threads.time(it.end))
    }

    fn data(&self, moment: Moment) -> Option<Marker> {
        match moment {
            Moment::Sample(number) => {
                let sample = self.threads.sample(number)?;
                Some(Marker {
                    kind: SAMPLE,
                    text: self.threads.profile.text(number).map(|text| OneLine(text).to_string()),
                    period: Some(sample.total.period),
                    cpu: sample.cpu,
                    cause: self.threads.shared.row_of(sample.stack).map(|stack| Cause { stack }),
                })
            }
            Moment::Off(number) => {
                let is_preempted = self.threads.off_cpu(number)?.is_preempted;
                let text = if is_preempted { "preempted" } else { "waits" };
                let (text, period) = (Some(text.to_owned()), None);
                Some(Marker { kind: OFF_CPU, text, period, cpu: None, cause: None })
            }
        }
    }

    /// Adds the table to a document.
    pub(super) fn add_to<'d>(&'d self, document: &mut Document<'d>) {
        let Self { threads, moments } = self;
        document.table("markers", moments.len(), |table| {
            table.column("name", Made(moments, |it| self.name(it)));
            table.column("startTime", Made(moments, |it| threads.time(threads.time_of(it))));
            table.column("endTime", Made(moments, |it| self.end(it)));
            let phase = |it| if matches!(it, Moment::Off(_)) { INTERVAL } else { INSTANT };
            table.column("phase", Made(moments, phase));
            table.column("category", Same(0, moments.len()));
            table.column("data", Made(moments, |it| self.data(it)));
        });
    }
}

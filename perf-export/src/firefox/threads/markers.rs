//! The markers of a thread.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{Column, Moment, OFF_CPU, Row, SAMPLE};
use crate::firefox::Threads;
use crate::text::OneLine;

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

    fn column<T: Serialize>(&self, value: impl Fn(Moment) -> T) -> impl Serialize {
        Column { moments: &self.moments, value }
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
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { threads, moments } = self;
        let mut table = serializer.serialize_struct("markers", 7)?;
        table.serialize_field("length", &moments.len())?;
        table.serialize_field("name", &self.column(|it| self.name(it)))?;
        table.serialize_field("startTime", &self.column(|it| threads.time(threads.time_of(it))))?;
        table.serialize_field("endTime", &self.column(|it| self.end(it)))?;
        let phase = |it| if matches!(it, Moment::Off(_)) { INTERVAL } else { INSTANT };
        table.serialize_field("phase", &self.column(phase))?;
        table.serialize_field("category", &self.column(|_| 0))?;
        table.serialize_field("data", &self.column(|it| self.data(it)))?;
        table.end()
    }
}

//! What the raw data of tracepoints says.

use perf_abi::event::EventType;
use perf_parse::file::{Event, FeatureSection, FileError};
use perf_parse::tracepoint::{Tracepoints, TracingData};

use crate::render::tracepoint::Tracepoint;

/// The formats of the tracepoints of a capture, parsed once.
#[derive(Debug, Default)]
pub(super) struct Formats<'a> {
    /// By rising id, equal ones in the order of the capture.
    tracepoints: Vec<Tracepoint<'a>>,
}

impl<'a> Formats<'a> {
    /// Those that the feature `TRACING_DATA` describes. What is wrong with them is told to `diagnose`.
    pub(super) fn new(section: &FeatureSection<'a>, mut diagnose: impl FnMut(FileError)) -> Self {
        let data = match TracingData::parse(section.bytes) {
            Ok(data) => data,
            Err(error) => {
                diagnose(error.in_file(section));
                return Self::default();
            }
        };
        let parsed = Tracepoints::new(&data);
        parsed.faults().iter().for_each(|fault| diagnose(fault.in_file(section)));
        Self { tracepoints: parsed.formats().iter().map(Tracepoint::new).collect() }
    }

    /// Which of them the raw data of an event's samples is of, if it is a tracepoint: the first of its id.
    pub(super) fn of(&self, event: &Event) -> Option<usize> {
        let id = |tracepoint: &Tracepoint<'_>| u64::from(tracepoint.id());
        let first = self.tracepoints.partition_point(|it| id(it) < event.attr.config);
        let is_it = event.attr.kind == EventType::TRACEPOINT
            && self.tracepoints.get(first).is_some_and(|it| id(it) == event.attr.config);
        is_it.then_some(first)
    }

    /// The one that [`of`](Self::of) gave.
    pub(super) fn get(&self, index: usize) -> Option<&Tracepoint<'a>> {
        self.tracepoints.get(index)
    }
}

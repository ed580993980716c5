//! What the raw data of tracepoints says.

use perf_abi::event::EventType;
use perf_parse::file::Event;
use perf_parse::tracepoint::{Tracepoints, TracingData};

use crate::render::tracepoint::Tracepoint;

/// The formats of the tracepoints of a capture, parsed once.
#[derive(Debug, Default)]
pub(super) struct Formats<'a> {
    /// By rising id, equal ones in the order of the capture.
    tracepoints: Vec<Tracepoint<'a>>,
}

impl<'a> Formats<'a> {
    /// Those that `tracing_data`, the feature `TRACING_DATA`, describes. Formats that cannot be parsed are left out.
    pub(super) fn new(tracing_data: &'a [u8]) -> Self {
        let data = TracingData::parse(tracing_data);
        let parsed = data.map(|data| Tracepoints::new(&data)).unwrap_or_default();
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

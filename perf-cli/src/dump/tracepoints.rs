//! The tracepoints of a capture.

use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_parse::file::Reader;
use perf_parse::tracepoint::{Tracepoints, TracingData};
use perf_profile::tracepoints::tracing_data;

use crate::render::tracepoint::Tracepoint;

/// The formats of the tracepoints of a capture, parsed once.
#[derive(Debug, Default)]
pub(crate) struct Formats<'a> {
    /// By ascending ID; formats with the same ID are in the order of the capture.
    tracepoints: Vec<Tracepoint<'a>>,
}

impl<'a> Formats<'a> {
    /// Parses the formats in the feature `TRACING_DATA` of a capture. Leaves out formats that cannot be parsed.
    pub(crate) fn new(reader: &'a Reader<'_>) -> Self {
        let (tracing_data, endianness) = (tracing_data(reader), reader.endianness());
        let data = TracingData::parse(tracing_data);
        let parsed = data.map(|data| Tracepoints::new(&data)).unwrap_or_default();
        let prepared = parsed.formats().iter().map(|format| Tracepoint::new(format, endianness));
        Self { tracepoints: prepared.collect() }
    }

    /// Returns the index of the format of an event's raw data, if the event is a tracepoint. Of several formats with
    /// the same ID, returns the first.
    pub(crate) fn of(&self, event: &Event) -> Option<usize> {
        let id = |tracepoint: &Tracepoint<'_>| u64::from(tracepoint.id());
        let first = self.tracepoints.partition_point(|it| id(it) < event.attr.config);
        let is_it = event.attr.kind == EventType::TRACEPOINT
            && self.tracepoints.get(first).is_some_and(|it| id(it) == event.attr.config);
        is_it.then_some(first)
    }

    /// Returns the format at an index that [`of`](Self::of) returned.
    pub(crate) fn get(&self, index: usize) -> Option<&Tracepoint<'a>> {
        self.tracepoints.get(index)
    }
}

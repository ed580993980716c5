//! Which events are tracepoints, and what their raw data says.

use perf_abi::endian::Endian;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::file::{File, FileError};
use perf_parse::tracepoint::{Format, Tracepoints, TracingData};

/// The formats of the events of a file, parsed once.
#[derive(Debug, Default)]
pub(super) struct Formats<'a> {
    tracepoints: Tracepoints<'a>,
    /// The id of each event that is a tracepoint.
    ids: Vec<Option<u64>>,
}

impl<'a> Formats<'a> {
    /// Those of a file; none where it does not describe tracepoints. What is wrong with them is told to `diagnose`.
    pub(super) fn new<O: Endian>(file: &File<'a, O>, diagnose: &mut dyn FnMut(FileError)) -> Self {
        let Some(section) = file.feature(Feature::TRACING_DATA) else { return Self::default() };
        let data = match TracingData::parse(section.bytes) {
            Ok(data) => data,
            Err(error) => {
                diagnose(error.in_file(section));
                return Self::default();
            }
        };
        let tracepoints = Tracepoints::new(&data);
        tracepoints.faults().iter().for_each(|fault| diagnose(fault.in_file(section)));
        let events = file.events().iter().map(|event| event.attr);
        let id = |attr: perf_abi::attr::Attr| (attr.kind == EventType::TRACEPOINT).then_some(attr.config);
        Self { tracepoints, ids: events.map(id).collect() }
    }

    /// The format of the raw data of an event, by its index.
    pub(super) fn of_event(&self, index: usize) -> Option<&Format<'a>> {
        self.tracepoints.get((*self.ids.get(index)?)?)
    }
}

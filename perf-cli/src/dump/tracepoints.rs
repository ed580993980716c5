//! What the raw data of tracepoints says.

use perf_abi::endian::Endian;
use perf_abi::event::EventType;
use perf_parse::file::{FeatureSection, FileError, FileRecord};
use perf_parse::tracepoint::{Format, Tracepoints, TracingData};

/// The formats of the tracepoints of a capture, parsed once.
#[derive(Debug, Default)]
pub(super) struct Formats<'a> {
    tracepoints: Tracepoints<'a>,
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
        let tracepoints = Tracepoints::new(&data);
        tracepoints.faults().iter().for_each(|fault| diagnose(fault.in_file(section)));
        Self { tracepoints }
    }

    /// The format of a record's raw data, if its event is a tracepoint.
    pub(super) fn of<O: Endian>(&self, record: &FileRecord<'_, O>) -> Option<&Format<'a>> {
        let attr = &record.event()?.attr;
        if attr.kind == EventType::TRACEPOINT { self.tracepoints.get(attr.config) } else { None }
    }
}

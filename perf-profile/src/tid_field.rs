//! The fields of scheduler tracepoints that have the id of a thread.

use perf_abi::attr::Attr;
use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_parse::EventRecord;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Tracepoints, TracingData};
use perf_session::SampleContext;

use crate::capture_info::CaptureInfo;
use crate::int_field::IntField;
use crate::tracepoints::tracing_data;

/// The field of a tracepoint that has the id of a thread.
#[derive(Clone, Debug)]
pub(crate) struct TidField {
    /// Number of the tracepoint, which is the `config` of its events.
    id: u64,
    field: IntField,
    endianness: Endianness,
}

impl TidField {
    /// Finds the first of some tracepoints of the scheduler that is recorded, each with the name of its field. Returns the
    /// index of its event, too. `None` if none is recorded.
    pub(crate) fn find(info: CaptureInfo<'_>, wanted: &[(&[u8], &[u8])]) -> Option<(usize, Self)> {
        let tracing = TracingData::parse(tracing_data(info)).ok()?;
        let tracepoints = Tracepoints::new(&tracing);
        wanted.iter().find_map(|(tracepoint, field)| {
            let format = tracepoints.find(b"sched", tracepoint)?;
            let id = u64::from(format.id);
            let is_of = |attr: &Attr| attr.kind == EventType::TRACEPOINT && attr.config == id;
            let event = info.events().iter().position(|event| is_of(&event.attr))?;
            let field = IntField::new(format.own_fields().iter().find(|it| it.name == *field)?)?;
            Some((event, Self { id, field, endianness: info.endianness() }))
        })
    }

    /// Returns whether a sample is of the tracepoint.
    pub(crate) fn is_of(&self, at: &SampleContext<'_, '_>) -> bool {
        self.is_of_record(at.record())
    }

    fn is_of_record(&self, record: &EventRecord<'_>) -> bool {
        let is_own = |event: &Event| event.attr.kind == EventType::TRACEPOINT && event.attr.config == self.id;
        record.event().is_some_and(|event| is_own(event))
    }

    /// Returns the id in a sample; `None` if it is of another event, or does not have the field.
    pub(crate) fn of(&self, at: &SampleContext<'_, '_>) -> Option<i32> {
        self.of_record(at.record())
    }

    /// Returns the id in a record; `None` if it is no sample, too.
    pub(crate) fn of_record(&self, record: &EventRecord<'_>) -> Option<i32> {
        if !self.is_of_record(record) {
            return None;
        }
        self.field.int(record.tail().ok()??.raw?, self.endianness)
    }
}

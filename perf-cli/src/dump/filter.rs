//! The selection of records.

use perf_abi::record::RecordType;
use perf_parse::EventRecord;
use perf_parse::file::{EventRecords, Reader};
use perf_profile::selection::{EventFilter, SpanSet, TimeSpans};

use crate::args::ShowArgs;
use crate::input::Memory;
use crate::outcome::Failure;
use crate::selection::failure;

/// The filters of the command line. A record must pass all of them.
#[derive(Debug)]
pub(super) struct Filter {
    /// Empty for all types.
    types: Vec<RecordType>,
    /// `None` for all events.
    event: Option<EventFilter>,
    /// Records without a time are in no span.
    spans: SpanSet,
}

impl Filter {
    pub(super) fn new(reader: &Reader<'_>, args: &ShowArgs) -> Result<Self, Failure> {
        let types: Result<_, _> = args.types.iter().map(|name| record_type(name)).collect();
        let event =
            args.event.as_ref().map(|name| EventFilter::new(reader, name)).transpose().map_err(failure)?;
        let time: TimeSpans =
            args.time.as_deref().map(str::parse).transpose().map_err(failure)?.unwrap_or_default();
        let spans = time.resolve(reader).map_err(failure)?;
        Ok(Self { types: types?, event, spans })
    }

    /// Makes a walk return only records of the selected types.
    pub(super) fn select<'r>(&self, records: EventRecords<'r>) -> EventRecords<'r> {
        if self.types.is_empty() { records } else { records.only(&self.types) }
    }

    /// Returns the walk over the parts of the capture that have records of the selected times, if there is an index
    /// beside it. It also has all records that are not samples.
    pub(super) fn indexed<'r>(&self, reader: &'r Reader<'_>, memory: Memory<'_>) -> Option<EventRecords<'r>> {
        if self.spans.is_all() {
            return None;
        }
        let index = crate::index::of(reader, memory)?;
        index.walk(reader, |part| part.times().is_some_and(|times| self.spans.overlaps(&times)))
    }

    #[inline(always)]
    pub(super) fn wants(&self, record: &EventRecord<'_>) -> bool {
        if self.types.is_empty() && self.event.is_none() && self.spans.is_all() {
            return true;
        }
        self.wants_some(record)
    }

    fn wants_some(&self, record: &EventRecord<'_>) -> bool {
        (self.types.is_empty() || self.types.contains(&record.kind()))
            && self.event.as_ref().is_none_or(|event| record.event().is_some_and(|of| event.wants(of)))
            && (self.spans.is_all() || record.time().is_some_and(|time| self.spans.contains(time)))
    }
}

/// Parses a record type: a name, with or without its prefix, or a number.
fn record_type(name: &str) -> Result<RecordType, Failure> {
    if let Ok(number) = name.parse() {
        return Ok(RecordType(number));
    }
    let upper = name.to_ascii_uppercase();
    let is = |known: &&perf_abi::Name| known.name == upper || known.c_name == upper;
    let Some(known) = RecordType::NAMES.iter().find(is) else {
        let known: Vec<_> = RecordType::NAMES.iter().map(|known| known.name).collect();
        return Err(Failure(format!(
            "--type {name}: no such record type; give a number or one of {}",
            known.join(" ")
        )));
    };
    Ok(RecordType(known.value as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_by_name_and_number() {
        assert_eq!(record_type("mmap2").ok(), Some(RecordType::MMAP2));
        assert_eq!(record_type("PERF_RECORD_COMM").ok(), Some(RecordType::COMM));
        assert_eq!(record_type("99").ok(), Some(RecordType(99)));
        assert!(record_type("MAP").is_err());
    }
}

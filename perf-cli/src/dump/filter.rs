//! The selection of records.

use perf_abi::record::RecordType;
use perf_parse::EventRecord;
use perf_parse::file::{EventRecords, Reader};

use crate::Failure;
use crate::args::ShowArgs;
use crate::event_filter::EventFilter;
use crate::input::Memory;

/// The filters of the command line. A record must pass all of them.
#[derive(Debug)]
pub(super) struct Filter {
    /// Empty for all types.
    types: Vec<RecordType>,
    /// `None` for all events.
    event: Option<EventFilter>,
    /// The first and last nanosecond; `None` for all records, including those without a time.
    time: Option<(u64, u64)>,
}

impl Filter {
    pub(super) fn new(reader: &Reader<'_>, args: &ShowArgs) -> Result<Self, Failure> {
        let types: Result<_, _> = args.types.iter().map(|name| record_type(name)).collect();
        let event = args.event.as_ref().map(|name| EventFilter::new(reader, "--event", name)).transpose()?;
        let time = args.time.as_ref().map(|range| time_range(range)).transpose()?;
        Ok(Self { types: types?, event, time })
    }

    /// Makes a walk return only records of the selected types.
    pub(super) fn select<'r>(&self, records: EventRecords<'r>) -> EventRecords<'r> {
        if self.types.is_empty() { records } else { records.only(&self.types) }
    }

    /// Returns the walk over the parts of the capture that have records of the selected times, if there is an index
    /// beside it. It also has all records that are not samples.
    pub(super) fn indexed<'r>(&self, reader: &'r Reader<'_>, memory: Memory<'_>) -> Option<EventRecords<'r>> {
        let (first, last) = self.time?;
        let index = crate::index::of(reader, memory)?;
        index.walk(reader, |part| part.may_hold(&(first..=last), None, None))
    }

    #[inline(always)]
    pub(super) fn wants(&self, record: &EventRecord<'_>) -> bool {
        if self.types.is_empty() && self.event.is_none() && self.time.is_none() {
            return true;
        }
        self.wants_some(record)
    }

    fn wants_some(&self, record: &EventRecord<'_>) -> bool {
        let in_time = |(first, last)| record.time().is_some_and(|time| time >= first && time <= last);
        (self.types.is_empty() || self.types.contains(&record.kind()))
            && self.event.as_ref().is_none_or(|event| record.event().is_some_and(|of| event.wants(of)))
            && self.time.is_none_or(in_time)
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

/// Parses `A,B` in seconds. An end that is left out is open.
fn time_range(range: &str) -> Result<(u64, u64), Failure> {
    let parsed = range.split_once(',').and_then(|(first, last)| {
        let first = if first.is_empty() { Some(0) } else { nanoseconds(first) };
        let last = if last.is_empty() { Some(u64::MAX) } else { nanoseconds(last) };
        first.zip(last).filter(|(first, last)| first <= last)
    });
    let must = "must be A,B in seconds, with A not greater than B, for example 12.5,13 or 12.5,";
    parsed.ok_or_else(|| Failure(format!("--time {range}: {must}")))
}

/// Parses seconds with up to nine decimal places, without floating-point rounding.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact_to_the_nanosecond() {
        assert_eq!(nanoseconds("18446744073.709551615"), Some(u64::MAX));
        assert_eq!(nanoseconds("12.5"), Some(12_500_000_000));
        assert_eq!(nanoseconds("12"), Some(12_000_000_000));
        assert_eq!(nanoseconds("18446744073.709551616"), None);
        assert_eq!(nanoseconds("1.0000000001"), None);
        assert_eq!(nanoseconds("-1"), None);
    }

    #[test]
    fn an_end_left_out_is_open() {
        assert_eq!(time_range("1,2").ok(), Some((1_000_000_000, 2_000_000_000)));
        assert_eq!(time_range(",2").ok(), Some((0, 2_000_000_000)));
        assert_eq!(time_range("1,").ok(), Some((1_000_000_000, u64::MAX)));
        assert!(time_range("1").is_err());
        assert!(time_range("5,3").is_err());
    }

    #[test]
    fn types_go_by_name_and_number() {
        assert_eq!(record_type("mmap2").ok(), Some(RecordType::MMAP2));
        assert_eq!(record_type("PERF_RECORD_COMM").ok(), Some(RecordType::COMM));
        assert_eq!(record_type("99").ok(), Some(RecordType(99)));
        assert!(record_type("MAP").is_err());
    }
}

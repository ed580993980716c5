//! Finding the next record where the boundary was lost.
//!
//! A place is taken for a boundary only if it proves itself: several records in a row that each decode, of events the
//! capture lists, or records up to the very end.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::events::Events;
use crate::record::{RawRecord, Record};

/// Records in a row that prove a boundary.
const CHAIN: usize = 4;

/// Bytes of the longest record that is believed where it contains a string, which has to be searched for its end.
const LONGEST_STRING_RECORD: usize = 4096 + 256;

/// Bytes to look at beyond a place to judge it: those of the records of a chain.
pub(super) const HORIZON: usize = CHAIN << 16;

/// The first credible boundary in `bytes`, searched at multiples of `step` from `step` on. `ended` if the capture ends
/// where `bytes` do; otherwise only places a horizon before that are judged.
pub(super) fn search<O: Endian>(bytes: &[u8], step: usize, ended: bool, events: &Events) -> Option<usize> {
    let last = if ended { bytes.len() } else { bytes.len().saturating_sub(HORIZON) };
    (step..last)
        .step_by(step)
        .find(|&at| bytes.get(at..).is_some_and(|rest| proves::<O>(rest, ended, events)))
}

/// Whether records begin at the start of `bytes`.
fn proves<O: Endian>(bytes: &[u8], ended: bool, events: &Events) -> bool {
    let mut rest = bytes;
    for length in 0..CHAIN {
        if rest.is_empty() {
            return ended && length > 0;
        }
        match RawRecord::<O>::parse(rest) {
            Ok((record, behind)) if is_credible(&record, events) => rest = behind,
            _ => return false,
        }
    }
    true
}

/// Whether a record is what the kernel or perf would write.
fn is_credible<O: Endian>(record: &RawRecord<'_, O>, events: &Events) -> bool {
    let kind = record.kind();
    if kind.is_user() {
        let unaligned = [RecordType::HEADER_TRACING_DATA, RecordType::HEADER_FEATURE, RecordType::COMPRESSED];
        return kind.name().is_some() && (record.size().is_multiple_of(8) || unaligned.contains(&kind));
    }
    if kind.name().is_none() || !record.size().is_multiple_of(8) {
        return false;
    }
    let has_string =
        [RecordType::MMAP, RecordType::MMAP2, RecordType::COMM, RecordType::KSYMBOL, RecordType::CGROUP];
    if has_string.contains(&kind) && usize::from(record.size()) > LONGEST_STRING_RECORD {
        return false;
    }
    let Ok(Some(event)) = events.of(record) else { return false };
    let Some(event) = events.get(event) else { return false };
    match record.decode(&event.layout) {
        Ok(Record::Sample(sample)) => event.fault.is_none() && sample.tail().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

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

/// Bytes of a record's header. One of zeros has no size, and so is none.
const HEADER: usize = 8;

/// The first credible boundary in `bytes`, searched at multiples of `step` from `step` on. `ended` if the capture ends
/// where `bytes` do; otherwise only places a horizon before that are judged.
///
/// Zeros are jumped over, and not looked at where `hole` knows of them: it gives how many bytes are zeros from a place
/// on, as far as is known.
pub(super) fn search<O: Endian>(
    bytes: &[u8],
    step: usize,
    ended: bool,
    events: &Events,
    hole: impl Fn(usize) -> usize,
) -> Option<usize> {
    let last = if ended { bytes.len() } else { bytes.len().saturating_sub(HORIZON) };
    let mut at = step;
    while at < last {
        let rest = bytes.get(at..)?;
        if hole(at) < HEADER && rest.first_chunk() != Some(&[0; HEADER]) {
            if proves::<O>(rest, ended, events) {
                return Some(at);
            }
            at = at.saturating_add(step);
            continue;
        }
        // Up to the first place whose header has a byte that is no zero.
        let zeros = zeros(bytes, at, &hole).saturating_sub(HEADER);
        at = at.saturating_add(zeros.saturating_add(1).next_multiple_of(step));
    }
    None
}

/// How many bytes are zeros from a place on.
fn zeros(bytes: &[u8], from: usize, hole: impl Fn(usize) -> usize) -> usize {
    const PAGE: usize = 4096;
    let mut at = from;
    while at < bytes.len() {
        match hole(at) {
            0 => {
                let rest = bytes.get(at..).unwrap_or_default();
                let page = rest.get(..PAGE).unwrap_or(rest);
                let stored = page.iter().position(|&byte| byte != 0);
                at = at.saturating_add(stored.unwrap_or(page.len()));
                if stored.is_some() {
                    break;
                }
            }
            hole => at = at.saturating_add(hole),
        }
    }
    at.min(bytes.len()).saturating_sub(from)
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

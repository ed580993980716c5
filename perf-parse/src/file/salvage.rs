//! Finds the next record after the boundary was lost.
//!
//! An offset is accepted as a boundary only with proof: several records in a row that can be decoded and belong to
//! events of the capture, or records up to the end of the capture.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use crate::event::Events;
use crate::record::{RawRecord, Record};

/// Number of records in a row that prove a boundary.
const CHAIN: usize = 4;

/// Size of the longest credible record with a string, in bytes. A string has to be searched for its end.
const LONGEST_STRING_RECORD: usize = 4096 + 256;

/// Number of bytes after an offset that are needed to judge it: the largest size of a chain of records.
pub(super) const HORIZON: usize = CHAIN << 16;

/// Size of a record's header in bytes. A header of zeros has no size, so it is invalid.
const HEADER: usize = 8;

/// Returns the first credible boundary in `bytes`, searching at multiples of `step` from `step` on. If `ended`, the
/// capture ends with `bytes`; otherwise the last offsets, less than a horizon before the end, are not judged.
///
/// The search skips zeros. It does not read those that `hole` knows: `hole` returns how many bytes from an offset on
/// are known to be zeros.
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
        // Go on at the first offset whose header has a byte that is not zero.
        let zeros = zeros(bytes, at, &hole).saturating_sub(HEADER);
        at = at.saturating_add(zeros.saturating_add(1).next_multiple_of(step));
    }
    None
}

/// Returns how many bytes from an offset on are zeros.
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

/// Returns whether records begin at the start of `bytes`.
fn proves<O: Endian>(bytes: &[u8], ended: bool, events: &Events) -> bool {
    let mut rest = bytes;
    for length in 0..CHAIN {
        if rest.is_empty() {
            return ended && length > 0;
        }
        match RawRecord::<O>::parse(rest) {
            Ok((record, after)) if is_credible(&record, events) => rest = after,
            _ => return false,
        }
    }
    true
}

/// Returns whether the kernel or perf would write such a record.
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
        Ok(Record::Sample(sample)) => !event.is_faulty && sample.tail().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

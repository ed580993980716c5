//! Finds the bytes of a buffer that repeat the buffer before it.
//!
//! A snapshot has the newest data of an area, so the next snapshot can repeat some of it. All costs are linear in the sizes of
//! the buffers.

mod psb;

use alloc::vec;
use alloc::vec::Vec;

use perf_abi::auxtrace::RECORD_ALIGNMENT;

use psb::{first_tsc, last_psb, next_psb};

/// Maximum number of bytes by which an AUXTRACE record's data is padded.
pub(super) const MAX_PADDING: usize = RECORD_ALIGNMENT - 1;

/// Bytes of an entry of Intel BTS: the addresses of the branch, and flags.
const BTS_ENTRY: usize = 24;

/// How repeated bytes of a capture are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverlapRule {
    /// By their positions in the area, and only if the bytes are the same.
    Positions,
    /// Snapshots and samples of Intel PT: by time stamps if the events record them, and by content.
    IntelPt { has_tsc: bool },
    /// Snapshots of Intel BTS: by content, in whole entries.
    IntelBts,
    /// Samples of other tracers: their positions are unknown, and all data is taken for new.
    Unknown,
}

/// The part of a buffer that does not repeat the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewData {
    /// Offset in the buffer at which it begins; the size of the buffer for none.
    pub(super) start: usize,
    /// Whether it continues the buffer before without a gap.
    pub(super) is_consecutive: bool,
}

impl OverlapRule {
    /// Finds the new data of `next`, which comes after `last`. `distance` is the number of bytes at the end of `last` that
    /// have the positions of the first bytes of `next`, if there are any.
    pub(super) fn new_data(self, last: &[u8], next: &[u8], distance: Option<u64>) -> NewData {
        match self {
            Self::IntelPt { has_tsc } => intel_pt(last, next, has_tsc),
            Self::IntelBts => {
                let start = longest_overlap(last, next, BTS_ENTRY);
                NewData { start, is_consecutive: start > 0 }
            }
            Self::Unknown => NewData { start: 0, is_consecutive: false },
            Self::Positions => {
                let repeated =
                    distance.and_then(|distance| usize::try_from(distance).ok()).filter(|&bytes| {
                        let tail = last.len().checked_sub(bytes).and_then(|from| last.get(from..));
                        tail.is_some_and(|tail| next.starts_with(tail))
                    });
                NewData { start: repeated.unwrap_or(0), is_consecutive: repeated.is_some() }
            }
        }
    }
}

/// perf: `intel_pt_find_overlap`, `tools/perf/util/intel-pt-decoder/intel-pt-decoder.c`.
fn intel_pt(last: &[u8], next: &[u8], has_tsc: bool) -> NewData {
    let other = |start| NewData { start, is_consecutive: false };
    // Data is of no use before a PSB.
    let Some(psb) = next_psb(next, 0) else { return other(next.len()) };
    let Some(last_start) = next_psb(last, 0) else { return other(psb) };
    let last = last.get(last_start..).unwrap_or_default();
    if has_tsc {
        return by_time_stamps(last, next, psb);
    }
    // The longest overlap that begins with a PSB, because the new data does. A shorter one is no PSB.
    let tail = next.get(psb..).unwrap_or_default();
    match longest_overlap(last, tail, 1) {
        overlap if overlap < psb::PSB.len() => other(psb),
        overlap => NewData { start: psb.saturating_add(overlap), is_consecutive: true },
    }
}

/// Finds the time stamp after the last PSB of `last` in `next`. The data is consecutive if it is there, new from the start if all
/// is later, and repeated if all is earlier. `next` has a PSB at `psb`.
///
/// perf: `intel_pt_find_overlap_tsc`.
fn by_time_stamps(last: &[u8], next: &[u8], mut psb: usize) -> NewData {
    let other = |start| NewData { start, is_consecutive: false };
    // If the packets after the last PSB are not complete, those after the PSB before it.
    let stamp_of = |end: usize| {
        let psb = last_psb(last.get(..end)?)?;
        Some((psb, first_tsc(last.get(..end)?, psb)))
    };
    let found = match stamp_of(last.len()) {
        Some((_, Some(stamp))) => Some((stamp, last.len())),
        Some((psb, None)) => stamp_of(psb).and_then(|(_, stamp)| Some((stamp?, psb))),
        None => None,
    };
    let Some((stamp, end)) = found else { return other(psb) };
    // perf counts from the end at which it stopped, so that what comes after an incomplete PSB is taken for new.
    let after = end.saturating_sub(stamp.at);
    loop {
        if let Some(it) = first_tsc(next, psb) {
            let left = next.len().saturating_sub(it.at);
            if it.tsc == stamp.tsc && left >= after {
                let last = last.get(..end).unwrap_or_default();
                let start = without_padding(last, next, it.at.saturating_add(after));
                return NewData { start, is_consecutive: true };
            }
            if is_earlier(stamp.tsc, it.tsc) {
                return other(psb);
            }
        }
        match next_psb(next, psb.saturating_add(1)) {
            Some(next) => psb = next,
            None => return other(next.len()),
        }
    }
}

/// Returns whether a time stamp of 56 bits is earlier than another, if they are less than half of all values apart.
fn is_earlier(one: u64, other: u64) -> bool {
    const HALF: u64 = 1 << 55;
    if one < other { other.saturating_sub(one) < HALF } else { one.saturating_sub(other) >= HALF }
}

/// Returns the start of the new data, which is at `start` if `last` has no padding at its end. If the last bytes of `last` and
/// those before `start` differ, the padding of `last` has the place of new data.
///
/// perf: `adj_for_padding`.
fn without_padding(last: &[u8], next: &[u8], start: usize) -> usize {
    let before = |bytes: &[u8], end: usize| {
        let from = end.checked_sub(MAX_PADDING)?;
        bytes.get(from..end)?.first_chunk::<MAX_PADDING>().copied()
    };
    let Some((last, next)) = before(last, last.len()).zip(before(next, start)) else { return start };
    let same = last.iter().zip(next).take_while(|&(&last, next)| last == next).count();
    start.saturating_sub(MAX_PADDING.saturating_sub(same))
}

/// Returns the number of bytes of the longest end of `last` that `next` begins with, in whole units of `unit` bytes.
///
/// The prefix function of Knuth, Morris and Pratt: linear time, and 4 bytes of memory for each unit.
///
/// perf: `intel_bts_find_overlap`, `tools/perf/util/intel-bts.c`, which tries each length.
fn longest_overlap(last: &[u8], next: &[u8], unit: usize) -> usize {
    let units = (last.len().min(next.len())).checked_div(unit).unwrap_or(0);
    let at = |bytes, index: usize| -> &[u8] {
        let bytes: &[u8] = bytes;
        let from = index.saturating_mul(unit);
        bytes.get(from..from.saturating_add(unit)).unwrap_or_default()
    };
    let tail = last.get(last.len().saturating_sub(units.saturating_mul(unit))..).unwrap_or_default();
    // Of each number of units: the longest shorter end of them that `next` begins with.
    let mut shorter: Vec<u32> = vec![0; units.saturating_add(1)];
    let fall_back = |shorter: &[u32], mut len: usize, unit: &[u8]| {
        while len > 0 && (len == units || at(next, len) != unit) {
            len = shorter.get(len).map_or(0, |&len| len as usize);
        }
        if at(next, len) == unit { len.saturating_add(1) } else { len }
    };
    let mut len = 0;
    for index in 1..units {
        len = fall_back(&shorter, len, at(next, index));
        if let (Some(slot), Ok(len)) = (shorter.get_mut(index.saturating_add(1)), u32::try_from(len)) {
            *slot = len;
        }
    }
    let found = (0..units).fold(0, |len, index| fall_back(&shorter, len, at(tail, index)));
    found.saturating_mul(unit)
}

#[cfg(test)]
mod tests;

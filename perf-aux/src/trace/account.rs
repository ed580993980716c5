//! The account of the traces of a capture.

use perf_abi::aux_area::AuxFlags;
use perf_parse::file::Account;

use super::AuxQueue;
use super::overlap::MAX_PADDING;

/// What the traces of a capture have, what they lack, and what was left out.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AuxAccount {
    /// Number of buffers.
    pub buffers: u64,
    /// Number of bytes of the buffers, with their padding. simpleperf's may be compressed.
    pub bytes: u64,
    /// Number of bytes that AUXTRACE records announce and that the capture does not have, because it was cut off.
    pub cut_off: u64,
    /// Number of places within queues at which the data continues at a higher offset. Not
    /// counted in snapshots and samples, whose buffers can repeat data, and in captures of simpleperf, whose sizes are those of
    /// compressed data.
    pub gaps: u64,
    /// Number of bytes that are missing at these places.
    pub gap_bytes: u64,
    /// Number of places within queues at which the data continues at a lower offset: it repeats data, or is of another trace.
    pub rewinds: u64,
    /// Number of bytes that the kernel reported after the last buffer of a queue: the recorder did not write them.
    pub unwritten: u64,
    /// Number of AUX records with the flag TRUNCATED: data after them was lost.
    pub truncated: u64,
    /// Number of AUX records with the flag PARTIAL: the data has gaps.
    pub partial: u64,
    /// Number of AUX records with the flag COLLISION: the hardware dropped samples.
    pub collisions: u64,
    /// Number of AUX records that belong to no queue.
    pub unattached: u64,
    /// Number of indices that buffers of different CPUs or threads share. perf refuses such a capture; here each CPU and
    /// thread has its own queue.
    pub conflicts: u64,
    /// Number of items of compressed records that were left out: see [the module](super#memory).
    pub omitted: u64,
    /// The account of the pass: all damage of the capture.
    pub capture: Account,
}

impl AuxAccount {
    /// Adds a queue. `has_positions` means that its buffers do not repeat data.
    pub(super) fn count(&mut self, queue: &AuxQueue, has_positions: bool) {
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        let mut last_end: Option<u64> = None;
        for buffer in queue.buffers() {
            add(&mut self.buffers, 1);
            add(&mut self.bytes, buffer.size);
            if let Some(end) = last_end.filter(|_| has_positions) {
                let gap = buffer.offset.saturating_sub(end);
                add(&mut self.gaps, u64::from(gap > 0));
                add(&mut self.gap_bytes, gap);
                let repeated = end.saturating_sub(buffer.offset);
                add(&mut self.rewinds, u64::from(repeated > MAX_PADDING as u64));
            }
            last_end = Some(buffer.offset.saturating_add(buffer.size));
        }
        let is_overwritten = queue.ranges().iter().any(|range| range.flags.contains(AuxFlags::OVERWRITE));
        if let Some(end) = last_end.filter(|_| has_positions && !is_overwritten) {
            let reported = queue.ranges().iter().map(|range| range.end).max().unwrap_or(0);
            add(&mut self.unwritten, reported.saturating_sub(end));
        }
    }
}

//! What is held back for the order of time.
//!
//! A recorder empties one ring after the other, and each ring is in order: between two ends of a round there are a few
//! runs of rising times. So it is runs that are held back, and merged, not records: of records in memory nothing is kept
//! but where a run of them begins and ends.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use perf_abi::endian::Endian;

use super::super::found::Current;
use super::copies::Copies;
use crate::record::RawRecord;

/// The records that are held back.
#[derive(Debug)]
pub(in super::super) struct TimeOrder {
    /// Records held back at most.
    pub(super) limit: usize,
    /// Records held back, without those that may be given now, if they are not later than `until`.
    pub(super) held: usize,
    pub(super) allowed: usize,
    until: u64,
    /// The run that records are given of, which may have none left, and the time up to which it is its turn.
    pub(super) first: Run,
    turn: u64,
    others: BinaryHeap<Reverse<Run>>,
    /// The run that what is read next may go on with.
    open: Option<OpenRun>,
    /// Runs begun since none was held.
    begun: u32,
    /// The latest time seen, and that at the end of the round before.
    latest: u64,
    latest_of_last_round: u64,
    /// The latest time given.
    pub(super) given: u64,
    /// The capture is read to its end.
    pub(super) ended: bool,
    pub(super) copies: Copies,
}

/// Records that lie end to end, none earlier than the one before it. The earliest run is the least; of those that begin
/// with equal times, the one that is first in the capture. 24 bytes, as there may be one for each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// Time of the first record.
    pub(super) time: u64,
    /// Which run it is of those begun since none was held.
    number: u32,
    /// Bytes of the records, and of what stands before each of those that are copies.
    pub(super) bytes: u32,
    pub(super) at: Place,
}

/// Where a record is that is held back: an offset, and above that the data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64);

const FILE_SHIFT: u32 = 48;

/// Stands for the copies among the data files.
const COPIES: u64 = 0xffff;

impl Place {
    /// In a data file; `None` where there are too many of them, or it is too large: such records are copied.
    #[inline]
    pub(super) fn in_file(data_file: usize, offset: u64) -> Option<Self> {
        let file = data_file as u64;
        // What a run is long is added to an offset: far less than the upper half of what there is room for.
        (file < COPIES && offset < 1 << (FILE_SHIFT - 1)).then_some(Self(offset | file << FILE_SHIFT))
    }

    /// Among the copies.
    #[inline]
    pub(super) fn copied(offset: u64) -> Self {
        Self(offset | COPIES << FILE_SHIFT)
    }

    #[inline]
    pub(super) fn is_copy(self) -> bool {
        self.0 >> FILE_SHIFT == COPIES
    }

    /// Its offset, if it is in this data file.
    #[inline]
    pub(super) fn in_data_file(self, data_file: usize) -> Option<u64> {
        (self.data_file() == data_file && !self.is_copy()).then(|| self.offset())
    }

    /// The data file; nothing of one for a copy.
    #[inline]
    pub(super) fn data_file(self) -> usize {
        // 16 bits.
        usize::try_from(self.0 >> FILE_SHIFT).unwrap_or(usize::MAX)
    }

    /// In the data file, or among the copies.
    #[inline]
    pub(super) fn offset(self) -> u64 {
        self.0 & ((1 << FILE_SHIFT) - 1)
    }

    /// So many bytes further on.
    #[inline]
    fn behind(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes.into()))
    }
}

impl TimeOrder {
    pub(in super::super) fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            allowed: 0,
            until: 0,
            first: Run { time: 0, number: 0, bytes: 0, at: Place(0) },
            turn: 0,
            others: BinaryHeap::new(),
            open: None,
            begun: 0,
            latest: 0,
            latest_of_last_round: 0,
            given: 0,
            ended: false,
            copies: Copies::default(),
        }
    }

    /// Records held back at most.
    #[cfg(feature = "std")]
    pub(in super::super) fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes of the record that is copied here, and those behind it.
    #[inline]
    pub(in super::super) fn copied(&self, at: u64) -> &[u8] {
        self.copies.record(at)
    }

    /// Holds back records that lie end to end at a place, none earlier than the one before it.
    pub(super) fn push(&mut self, found: &Found, at: Place) {
        let &Found { from, records, size, bytes, time, last_time } = found;
        // No run is longer: what is looked at for one is limited.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let until = Origin { position: from.position.saturating_add(size as u64), ..from };
        self.held = self.held.saturating_add(records);
        self.latest = self.latest.max(last_time);
        if let Some(open) = &mut self.open {
            let follows =
                at == open.run.at.behind(open.run.bytes) && from == open.until && time >= open.last_time;
            if let Some(together) = open.run.bytes.checked_add(bytes).filter(|_| follows) {
                open.run.bytes = together;
                (open.until, open.last_time) = (until, last_time);
                return;
            }
        }
        self.close();
        if self.others.is_empty() && self.first.bytes == 0 {
            self.begun = 0;
        }
        let run = Run { time, number: self.begun, bytes, at };
        self.open = Some(OpenRun { run, until, last_time });
        self.begun = self.begun.wrapping_add(1);
    }

    /// Ends the run that is open.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.keep(open.run);
        }
    }

    /// Puts a run among the others.
    fn keep(&mut self, run: Run) {
        // By halves, not doubled: there may be as many runs as records, and their memory is promised to be small.
        if self.others.len() == self.others.capacity() {
            self.others.reserve_exact((self.others.len() / 2).max(16));
        }
        self.others.push(Reverse(run));
    }

    /// Lets `allowed` records go, if they are not later than `until`.
    pub(super) fn release(&mut self, until: u64, allowed: usize) {
        self.close();
        // What came since may be earlier.
        self.keep_first();
        self.until = until;
        self.allowed = allowed.min(self.held);
        self.held = self.held.saturating_sub(self.allowed);
    }

    /// A round is over: nothing earlier than the end of the round before it is still to come.
    pub(super) fn end_round(&mut self) {
        let until = core::mem::replace(&mut self.latest_of_last_round, self.latest);
        self.release(until, usize::MAX);
    }

    /// The capture is over.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.release(u64::MAX, usize::MAX);
    }

    pub(super) fn is_full(&self) -> bool {
        self.held >= self.limit || self.copies.is_full()
    }

    /// Whether a record may be given now: the one that `first` begins with.
    #[inline(always)]
    pub(super) fn may_give(&mut self) -> bool {
        self.allowed > 0 && (self.first.bytes > 0 && self.first.time <= self.turn || self.select())
    }

    /// Makes `first` the earliest run; whether its first record may be given now.
    #[inline(never)]
    fn select(&mut self) -> bool {
        if self.first.bytes == 0 {
            if let Some(Reverse(first)) = self.others.pop() {
                self.first = first;
            }
        } else if let Some(mut other) = self.others.peek_mut().filter(|other| other.0 < self.first) {
            // In one step, where what is left of it goes back among the others.
            core::mem::swap(&mut other.0, &mut self.first);
        }
        if self.first.bytes == 0 || self.first.time > self.until {
            self.settle();
            return false;
        }
        let turn = match self.others.peek() {
            // Of equal times the run that began before comes first.
            Some(Reverse(other)) if other.number < self.first.number => other.time.saturating_sub(1),
            Some(Reverse(other)) => other.time,
            None => u64::MAX,
        };
        self.turn = turn.min(self.until);
        true
    }

    /// Puts what is left of `first` back among the others.
    fn keep_first(&mut self) {
        if self.first.bytes > 0 {
            self.keep(self.first);
            self.first.bytes = 0;
        }
    }

    /// What was allowed to go has gone.
    fn settle(&mut self) {
        self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        if !self.copies.is_empty() {
            self.keep_first();
            let mut runs = core::mem::take(&mut self.others).into_vec();
            self.copies.compact(&mut runs);
            self.others = runs.into();
        }
    }

    /// Takes the first record of `first`, which takes `size` bytes; that behind it is of time `next`.
    ///
    /// A record that had a time when it was found may have none now, as more events are known: then it goes with the one
    /// before it.
    #[inline(always)]
    pub(super) fn take(&mut self, size: usize, next: Option<u64>) {
        self.given = self.given.max(self.first.time);
        self.allowed = self.allowed.saturating_sub(1);
        // What is left is always a record, in bytes that stay as they are.
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(self.first.bytes);
        self.first.at = self.first.at.behind(size);
        self.first.bytes = self.first.bytes.wrapping_sub(size);
        if let Some(time) = next {
            self.first.time = time;
        }
    }

    /// Copies a record that was found.
    pub(super) fn copy<O: Endian>(&mut self, current: &Current, raw: &RawRecord<'_, O>) -> (Place, usize) {
        let (offset, bytes) = self.copies.push(current, raw);
        (Place::copied(offset), bytes)
    }
}

/// A run that may become longer.
#[derive(Debug)]
struct OpenRun {
    run: Run,
    /// Where in the capture a record would follow.
    until: Origin,
    /// The time of its last record.
    last_time: u64,
}

/// Where in the capture a record was found. Of what is copied, too, a run is only what lies end to end there: so the runs of
/// a stream are those of the same capture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) data_file: usize,
    pub(super) is_inner: bool,
    /// In the data file, or in the decompressed stream.
    pub(super) position: u64,
}

/// Records that were found to be held back.
pub(super) struct Found {
    pub(super) from: Origin,
    /// Bytes of the records in the capture, and of what is held of them: the same, or their copies.
    pub(super) size: usize,
    pub(super) bytes: usize,
    pub(super) records: usize,
    /// The times of the first and of the last.
    pub(super) time: u64,
    pub(super) last_time: u64,
}

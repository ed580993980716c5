//! The runs of rising times that records are held back as.
//!
//! A recorder empties one ring after the other, and each ring is in order: between two ends of a round there are a few
//! runs of rising times. So it is runs that are held back, and merged, not records: of records in memory nothing is kept
//! but where a run of them begins and ends.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::place::Place;

/// Records that lie end to end, none earlier than the one before it. The earliest run is the least; of those that begin
/// with equal times, the one that is first in the capture. 24 bytes, as there may be one for each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// Time of the first record.
    pub(super) time: u64,
    /// Which run it is of those begun since none was held; after 2 to the 32 of them the place decides.
    pub(super) number: u32,
    pub(super) at: Place,
    /// Bytes of the records, and of what stands before each of those that are copies.
    pub(super) bytes: u32,
}

impl Run {
    /// A run without records.
    pub(super) const EMPTY: Self = Self { time: 0, number: 0, at: Place::START, bytes: 0 };

    /// Whether of two records of equal time the one of this run comes first in the capture.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (self.number, self.at) < (other.number, other.at)
    }
}

/// Runs, of which the earliest can be had.
///
/// Those of which no record was given yet are sorted once, before records are given, and taken from the end; only those
/// that were begun, and have to wait for others, are in a heap. So what is in no order at all, where each record is a run,
/// costs a sort, and not a way through a heap that is larger than the caches of a processor.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The latest first, once it is sorted.
    waiting: Vec<Run>,
    begun: BinaryHeap<Reverse<Run>>,
}

impl Runs {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty()
    }

    /// Adds a run. The earliest is not to be had before [`sort`](Self::sort).
    pub(super) fn push(&mut self, run: Run) {
        // By halves, not doubled: there may be as many runs as records, and their memory is promised to be small.
        if self.waiting.len() == self.waiting.capacity() {
            self.waiting.reserve_exact((self.waiting.len() / 2).max(16));
        }
        self.waiting.push(run);
    }

    pub(super) fn sort(&mut self) {
        self.waiting.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// The earliest.
    #[inline]
    fn least(&self) -> Option<&Run> {
        match (self.waiting.last(), self.begun.peek()) {
            (Some(waiting), Some(Reverse(begun))) => Some(waiting.min(begun)),
            (waiting, begun) => waiting.or(begun.map(|Reverse(begun)| begun)),
        }
    }

    /// Takes the earliest.
    pub(super) fn take_least(&mut self) -> Option<Run> {
        match (self.waiting.last(), self.begun.peek_mut()) {
            (Some(waiting), Some(begun)) if begun.0 > *waiting => self.waiting.pop(),
            (_, Some(begun)) => Some(PeekMut::pop(begun).0),
            (_, None) => self.waiting.pop(),
        }
    }

    /// Puts the earliest in the place of `first`, and `first` among those begun, if that is later.
    pub(super) fn swap_least(&mut self, first: &mut Run) {
        let waiting = self.waiting.last().copied().filter(|waiting| waiting < first);
        let is_next = |begun: &Run| begun < first && waiting.is_none_or(|waiting| *begun < waiting);
        if let Some(mut begun) = self.begun.peek_mut().filter(|begun| is_next(&begun.0)) {
            // In one step, where what is left of it goes back among the others.
            core::mem::swap(&mut begun.0, first);
        } else if let Some(waiting) = waiting {
            self.waiting.pop();
            if self.begun.len() == self.begun.capacity() {
                self.begun.reserve_exact((self.begun.len() / 2).max(16));
            }
            self.begun.push(Reverse(core::mem::replace(first, waiting)));
        }
    }

    /// The time up to which it is the turn of `first`: until one of the others comes before it.
    pub(super) fn turn(&self, first: &Run) -> u64 {
        match self.least() {
            // Of equal times the run that began before comes first.
            Some(other) if other.is_before(first) => other.time.saturating_sub(1),
            Some(other) => other.time,
            None => u64::MAX,
        }
    }

    /// All of them, by their places. They have to be [sorted](Self::sort) before the earliest is to be had again.
    pub(super) fn by_place(&mut self) -> &mut [Run] {
        for Reverse(run) in core::mem::take(&mut self.begun) {
            self.push(run);
        }
        self.waiting.sort_unstable_by_key(|run| run.at);
        &mut self.waiting
    }
}

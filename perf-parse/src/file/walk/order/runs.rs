//! The runs of ascending times in which records are held.
//!
//! A recorder empties one ring after another, and each ring is in order, so a round has a few runs of ascending times.
//! Runs are held and merged, not records. For records in memory, only the start and end of each run are kept.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::place::HeldAt;

/// Adjacent records, none earlier than the one before it. Runs are ordered by the time of their first record; with
/// equal times, by their order in the capture. 24 bytes, as there may be one for each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordRun {
    /// Time of the first record.
    pub(super) time: u64,
    /// Number of the run, counted since no run was held. The count wraps after 2^32 runs; then the place decides.
    pub(super) number: u32,
    pub(super) at: HeldAt,
    /// Number of bytes of the records, and of the headers in front of copies.
    pub(super) bytes: u32,
}

impl RecordRun {
    /// A run without records.
    pub(super) const EMPTY: Self = Self { time: 0, number: 0, at: HeldAt::START, bytes: 0 };

    /// Returns whether this run comes before `other` in the capture. Decides between runs whose first records have the
    /// same time.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (self.number, self.at) < (other.number, other.at)
    }
}

/// Runs, ordered so that the earliest can be taken.
///
/// Runs from which no record was returned yet are sorted before records are returned, and taken from the end.
/// Only runs that have begun and have to wait for others are in a heap. If records are in no order at all, each record
/// is a run; that then costs a sort, not a walk through a heap that is larger than the CPU's caches.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Once sorted: those that are not returned yet, then the others, the latest first.
    waiting: Vec<RecordRun>,
    begun: BinaryHeap<Reverse<RecordRun>>,
}

impl Runs {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty()
    }

    /// Adds a run. The earliest runs are only available after [`sort`](Self::sort).
    pub(super) fn push(&mut self, run: RecordRun) {
        // Grows by half, not by doubling: there may be as many runs as records, and their memory has a documented
        // limit.
        if self.waiting.len() == self.waiting.capacity() {
            self.waiting.reserve_exact((self.waiting.len() / 2).max(16));
        }
        self.waiting.push(run);
    }

    /// Makes the earliest runs available: those not later than `until`, and at least `count` of them if there are as many.
    /// The others are not sorted, as they are sorted again before they are returned.
    pub(super) fn sort(&mut self, until: u64, count: usize) {
        let mut later = 0_usize;
        if until < u64::MAX {
            for index in 0..self.waiting.len() {
                if self.waiting.get(index).is_some_and(|run| run.time > until) {
                    self.waiting.swap(index, later);
                    later = later.wrapping_add(1);
                }
            }
        } else if count < self.waiting.len() {
            later = self.waiting.len().saturating_sub(count.max(1));
            self.waiting.select_nth_unstable_by(later, |one, other| other.cmp(one));
        }
        let earliest = self.waiting.get_mut(later..).unwrap_or_default();
        earliest.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Returns the earliest run.
    #[inline]
    fn least(&self) -> Option<&RecordRun> {
        match (self.waiting.last(), self.begun.peek()) {
            (Some(waiting), Some(Reverse(begun))) => Some(waiting.min(begun)),
            (waiting, begun) => waiting.or(begun.map(|Reverse(begun)| begun)),
        }
    }

    /// Takes the earliest run.
    pub(super) fn take_least(&mut self) -> Option<RecordRun> {
        match (self.waiting.last(), self.begun.peek_mut()) {
            (Some(waiting), Some(begun)) if begun.0 > *waiting => self.waiting.pop(),
            (_, Some(begun)) => Some(PeekMut::pop(begun).0),
            (_, None) => self.waiting.pop(),
        }
    }

    /// If `first` is later than the earliest run, swaps them: `first` becomes one of the runs that have begun.
    pub(super) fn swap_least(&mut self, first: &mut RecordRun) {
        let waiting = self.waiting.last().copied().filter(|waiting| waiting < first);
        let is_next = |begun: &RecordRun| begun < first && waiting.is_none_or(|waiting| *begun < waiting);
        if let Some(mut begun) = self.begun.peek_mut().filter(|begun| is_next(&begun.0)) {
            // In one step, if the rest of `first` goes back into the heap.
            core::mem::swap(&mut begun.0, first);
        } else if let Some(waiting) = waiting {
            self.waiting.pop();
            if self.begun.len() == self.begun.capacity() {
                self.begun.reserve_exact((self.begun.len() / 2).max(16));
            }
            self.begun.push(Reverse(core::mem::replace(first, waiting)));
        }
    }

    /// Returns the time up to which `first` comes before all other runs.
    pub(super) fn turn(&self, first: &RecordRun) -> u64 {
        match self.least() {
            // With equal times, the run that began first comes first.
            Some(other) if other.is_before(first) => other.time.saturating_sub(1),
            Some(other) => other.time,
            None => u64::MAX,
        }
    }

    /// Returns all runs in the order of their places. [`sort`](Self::sort) them before the earliest run is taken again.
    pub(super) fn by_place(&mut self) -> &mut [RecordRun] {
        for Reverse(run) in core::mem::take(&mut self.begun) {
            self.push(run);
        }
        self.waiting.sort_unstable_by_key(|run| run.at);
        &mut self.waiting
    }
}

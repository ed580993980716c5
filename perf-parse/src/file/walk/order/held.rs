//! The records that are held for time order, and those that may be returned.

use perf_abi::endian::Endian;

use super::OrderThread;
use super::copies::RecordCopies;
use super::place::{HeldAt, RecordOrigin, UnheldRecords};
use super::runs::{RecordRun, Runs};
use crate::event::RecordPosition;
use crate::limits::Limits;
use crate::record::RawRecord;

/// The records that are held for time order.
///
/// The reader either returns some of them (`allowed` is not 0), or reads more. These invariants hold when it reads
/// more, after [`settle`](Self::settle), and make reading in time order terminate:
///
/// - `held` is the number of records in the runs; 0 if there is no run.
/// - At a limit, at least one record is held, so [`release_half`](Self::release_half) allows at least one. At a limit
///   the reader returns a record; otherwise it reads one.
/// - More bytes of `copies` are held than were returned. So the copies take at most twice the limit and one record.
#[derive(Debug)]
pub(in super::super) struct TimeOrder {
    /// Maximum number of held records, and of bytes in their copies.
    pub(super) limit: usize,
    copies_limit: usize,
    /// Number of held records, without those that may be returned now. Number of records that may be returned now, if
    /// they are not later than `until`.
    pub(super) held: usize,
    pub(super) allowed: usize,
    until: u64,
    /// Number of bytes in returned copies at which no more records may be returned.
    enough: usize,
    /// The run from which records are returned, which may be empty, and the time up to which it comes before the
    /// others.
    pub(super) first: RecordRun,
    turn: u64,
    others: Runs,
    /// The run to which the next records may be added. It has no records if there is none.
    open: OpenRun,
    /// Number of runs that have begun since none was held.
    begun: u32,
    /// The latest time that was read, and that at the end of the round before.
    latest: u64,
    latest_of_last_round: u64,
    /// The latest time that was returned.
    pub(super) given: u64,
    /// Whether the capture has been read to its end.
    pub(super) ended: bool,
    pub(super) copies: RecordCopies,
    /// The runs that another thread finds.
    pub(super) ahead: Option<OrderThread>,
}

impl TimeOrder {
    pub(in super::super) fn new(limits: &Limits) -> Self {
        Self {
            limit: limits.held_records.max(1),
            copies_limit: limits.held_bytes.max(1),
            held: 0,
            allowed: 0,
            until: 0,
            enough: usize::MAX,
            first: RecordRun::EMPTY,
            turn: 0,
            others: Runs::default(),
            open: OpenRun::NONE,
            begun: 0,
            latest: 0,
            latest_of_last_round: 0,
            given: 0,
            ended: false,
            copies: RecordCopies::default(),
            ahead: None,
        }
    }

    /// Returns the bytes of the record that is copied at `at`, and the bytes after it.
    #[inline]
    pub(in super::super) fn copied(&self, at: u64) -> &[u8] {
        self.copies.record(at)
    }

    /// Returns whether no record is held.
    fn is_empty(&self) -> bool {
        self.first.bytes == 0 && self.others.is_empty() && self.open.records == 0
    }

    /// Holds adjacent records at a place, none earlier than the one before it.
    pub(super) fn push(&mut self, found: &UnheldRecords, at: HeldAt) {
        let &UnheldRecords { from, records, size, bytes, time, last_time } = found;
        // No run is longer: the bytes that are read for one run are limited.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let until = RecordOrigin { position: from.position.saturating_add(size as u64), ..from };
        self.held = self.held.saturating_add(records);
        self.latest = self.latest.max(last_time);
        let open = &mut self.open;
        let follows = open.records > 0
            && at == open.run.at.after(open.run.bytes)
            && from == open.until
            && time >= open.last_time;
        match open.run.bytes.checked_add(bytes).filter(|_| follows) {
            Some(together) => open.run.bytes = together,
            None => {
                self.close();
                self.open.run = RecordRun { time, number: 0, at, bytes };
            }
        }
        let open = &mut self.open;
        (open.until, open.last_time) = (until, last_time);
        open.count(records, time, bytes);
    }

    /// Ends the open run.
    #[inline]
    fn close(&mut self) {
        let count = core::mem::take(&mut self.open.records);
        if count == 0 {
            return;
        }
        if self.is_empty() {
            self.begun = 0;
        }
        if count > SHORT {
            return self.keep(self.open.run);
        }
        let mut at = self.open.run.at;
        for index in 0..count {
            let Some(&(time, bytes)) = self.open.singles.get(index) else { break };
            self.keep(RecordRun { time, number: 0, at, bytes });
            at = at.after(bytes);
        }
    }

    /// Holds a run that is complete.
    fn keep(&mut self, run: RecordRun) {
        self.others.push(RecordRun { number: self.begun, ..run });
        self.begun = self.begun.saturating_add(1);
    }

    /// Allows `allowed` records to be returned, if they are not later than `until`.
    fn release(&mut self, until: u64, allowed: usize) {
        self.close();
        // Records that came since may be earlier.
        self.keep_first();
        self.allowed = allowed.min(self.held);
        // Each run has a record, and the run after the last one decides when its turn ends.
        self.others.sort(until, self.allowed.saturating_add(1));
        (self.until, self.enough) = (until, usize::MAX);
        self.held = self.held.saturating_sub(self.allowed);
    }

    /// At a limit, allows the earlier half of the records, or else of the bytes of their copies; at least one record.
    pub(super) fn release_half(&mut self) {
        if self.held >= self.limit {
            self.release(u64::MAX, (self.held / 2).max(1));
        } else {
            self.release(u64::MAX, self.held);
            self.enough = self.copies.given().saturating_add(self.copies.held().div_ceil(2));
        }
    }

    /// Ends a round: no record can come that is earlier than the end of the round before it.
    pub(super) fn end_round(&mut self) {
        let until = core::mem::replace(&mut self.latest_of_last_round, self.latest);
        self.release(until, usize::MAX);
    }

    /// Ends the capture.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.ahead = None;
        self.release(u64::MAX, usize::MAX);
    }

    pub(super) fn is_full(&self) -> bool {
        self.held > 0 && (self.held >= self.limit || self.copies.held() >= self.copies_limit)
    }

    /// Returns whether a record may be returned now: the first one of `first`.
    #[inline(always)]
    pub(super) fn may_give(&mut self) -> bool {
        self.allowed > 0 && (self.first.bytes > 0 && self.first.time <= self.turn || self.select())
    }

    /// Makes `first` the earliest run. Returns whether its first record may be returned now.
    #[inline(never)]
    fn select(&mut self) -> bool {
        if self.first.bytes == 0 {
            let Some(least) = self.others.take_least() else { return false };
            self.first = least;
        } else {
            self.others.swap_least(&mut self.first);
        }
        self.turn = self.others.turn(&self.first).min(self.until);
        self.first.time <= self.turn
    }

    /// Puts the rest of `first` back among the others.
    fn keep_first(&mut self) {
        if self.first.bytes > 0 {
            self.others.push(self.first);
            self.first.bytes = 0;
        }
    }

    /// Stops returning records: those that were allowed but not returned are held again.
    pub(super) fn settle(&mut self) {
        self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        // This is always so, unless the bytes of the capture change while they are read.
        if self.is_empty() {
            self.held = 0;
        }
        if self.copies.given() > 0 && self.copies.given() >= self.copies.held() {
            self.close();
            self.keep_first();
            self.copies.compact(self.others.by_place());
        }
    }

    /// Takes the first record of `first`, which has `size` bytes; the record after it has the time `next`.
    ///
    /// A record may have had a time when it was found and have none now, because more events are known. It is then
    /// returned right after the record before it.
    #[inline(always)]
    pub(super) fn take(&mut self, size: usize, next: Option<u64>) {
        self.given = self.given.max(self.first.time);
        self.allowed = self.allowed.saturating_sub(1);
        // The rest always begins with a record, in bytes that do not change.
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(self.first.bytes);
        self.first.at = self.first.at.after(size);
        self.first.bytes = self.first.bytes.wrapping_sub(size);
        if let Some(time) = next {
            self.first.time = time;
        }
    }

    /// Takes a copy as [`take`](Self::take) takes a record.
    pub(super) fn take_copy(&mut self, size: usize, next: Option<u64>) {
        let before = self.first.bytes;
        self.take(size, next);
        self.copies.give(before.saturating_sub(self.first.bytes) as usize);
        if self.copies.given() >= self.enough {
            self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        }
    }

    /// Copies a record that was found. Returns its place and its size.
    pub(super) fn copy<O: Endian>(
        &mut self,
        place: &RecordPosition,
        raw: &RawRecord<'_, O>,
    ) -> (HeldAt, usize) {
        let (offset, bytes) = self.copies.push(place, raw);
        (HeldAt::copied(offset), bytes)
    }
}

/// Maximum number of records in a run that is held as runs of one record each. Sorting these costs less than putting
/// the rest of a run back among a million others after each of its records.
pub(super) const SHORT: usize = 8;

/// A run to which records may be added. It is changed in place: a run may have one record, and moving it would then cost more
/// than the record.
#[derive(Debug)]
struct OpenRun {
    run: RecordRun,
    /// The position in the capture at which the next record would continue the run.
    until: RecordOrigin,
    /// The time of its last record.
    last_time: u64,
    /// Number of records, and the time and size of each if the run is short.
    records: usize,
    singles: [(u64, u32); SHORT],
}

impl OpenRun {
    /// A run without records, to which none is added.
    const NONE: Self = Self {
        run: RecordRun::EMPTY,
        until: RecordOrigin::START,
        last_time: 0,
        records: 0,
        singles: [(0, 0); SHORT],
    };

    /// Counts records that were added to the run: one, or more than a short run has.
    fn count(&mut self, records: usize, time: u64, bytes: u32) {
        if let Some(single) = self.singles.get_mut(self.records) {
            *single = (time, bytes);
        }
        self.records = self.records.saturating_add(records);
    }
}

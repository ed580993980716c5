//! What is held back for the order of time, and what of it may be given.

use perf_abi::endian::Endian;

use super::super::super::limits::Limits;
use super::super::found::Current;
use super::copies::Copies;
use super::place::{Found, Origin, Place};
use super::runs::{Run, Runs};
use crate::record::RawRecord;

/// The records that are held back.
///
/// Either some of them may be given (`allowed` is not 0), or more is read. What holds when more is read, after
/// [`settle`](Self::settle), and makes reading in time order end:
///
/// - `held` is how many records the runs have, and 0 where there is no run;
/// - at a limit a record is held, so that [`release_half`](Self::release_half) lets at least one go: who is at a limit gives
///   a record, who is not reads one;
/// - of the bytes of `copies` more are held back than were given: so they are at most twice the limit and a record.
#[derive(Debug)]
pub(in super::super) struct TimeOrder {
    /// Records held back at most, and bytes of their copies.
    pub(super) limit: usize,
    copies_limit: usize,
    /// Records held back, without those that may be given now, if they are not later than `until`.
    pub(super) held: usize,
    pub(super) allowed: usize,
    until: u64,
    /// Bytes of copies that are given, after which no more may be.
    enough: usize,
    /// The run that records are given of, which may have none left, and the time up to which it is its turn.
    pub(super) first: Run,
    turn: u64,
    others: Runs,
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

impl TimeOrder {
    pub(in super::super) fn new(limits: &Limits) -> Self {
        Self {
            limit: limits.held_records.max(1),
            copies_limit: limits.held_bytes.max(1),
            held: 0,
            allowed: 0,
            until: 0,
            enough: usize::MAX,
            first: Run::EMPTY,
            turn: 0,
            others: Runs::default(),
            open: None,
            begun: 0,
            latest: 0,
            latest_of_last_round: 0,
            given: 0,
            ended: false,
            copies: Copies::default(),
        }
    }

    /// The bytes of the record that is copied here, and those after it.
    #[inline]
    pub(in super::super) fn copied(&self, at: u64) -> &[u8] {
        self.copies.record(at)
    }

    /// Whether no record is held back.
    fn is_empty(&self) -> bool {
        self.first.bytes == 0 && self.others.is_empty() && self.open.is_none()
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
                at == open.run.at.after(open.run.bytes) && from == open.until && time >= open.last_time;
            if let Some(together) = open.run.bytes.checked_add(bytes).filter(|_| follows) {
                open.run.bytes = together;
                (open.until, open.last_time) = (until, last_time);
                open.count(records, time, bytes);
                return;
            }
        }
        self.close();
        let run = Run { time, number: 0, at, bytes };
        let mut open = OpenRun { run, until, last_time, records: 0, singles: [(0, 0); SHORT] };
        open.count(records, time, bytes);
        self.open = Some(open);
    }

    /// Ends the run that is open.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if self.is_empty() {
            self.begun = 0;
        }
        if open.records > SHORT {
            return self.keep(open.run);
        }
        let mut at = open.run.at;
        for &(time, bytes) in open.singles.iter().take(open.records) {
            self.keep(Run { time, at, bytes, ..open.run });
            at = at.after(bytes);
        }
    }

    /// Holds a run that is whole.
    fn keep(&mut self, run: Run) {
        self.others.push(Run { number: self.begun, ..run });
        self.begun = self.begun.saturating_add(1);
    }

    /// Lets `allowed` records go, if they are not later than `until`.
    fn release(&mut self, until: u64, allowed: usize) {
        self.close();
        // What came since may be earlier.
        self.keep_first();
        self.others.sort();
        (self.until, self.enough) = (until, usize::MAX);
        self.allowed = allowed.min(self.held);
        self.held = self.held.saturating_sub(self.allowed);
    }

    /// At a limit: lets the earlier half go, of the records or else of the bytes of their copies. At least one record.
    pub(super) fn release_half(&mut self) {
        if self.held >= self.limit {
            self.release(u64::MAX, (self.held / 2).max(1));
        } else {
            self.release(u64::MAX, self.held);
            self.enough = self.copies.given().saturating_add(self.copies.held().div_ceil(2));
        }
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
        self.held > 0 && (self.held >= self.limit || self.copies.held() >= self.copies_limit)
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
            let Some(least) = self.others.take_least() else { return false };
            self.first = least;
        } else {
            self.others.swap_least(&mut self.first);
        }
        if self.first.time > self.until {
            return false;
        }
        self.turn = self.others.turn(&self.first).min(self.until);
        true
    }

    /// Puts what is left of `first` back among the others.
    fn keep_first(&mut self) {
        if self.first.bytes > 0 {
            self.others.push(self.first);
            self.first.bytes = 0;
        }
    }

    /// What was allowed to go has gone; what was not given of it is held back again.
    pub(super) fn settle(&mut self) {
        self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        // Always so, unless the bytes of the capture are changed while it is read.
        if self.is_empty() {
            self.held = 0;
        }
        if self.copies.given() > 0 && self.copies.given() >= self.copies.held() {
            self.close();
            self.keep_first();
            self.copies.compact(self.others.by_place());
        }
    }

    /// Takes the first record of `first`, which takes `size` bytes; that after it is of time `next`.
    ///
    /// A record that had a time when it was found may have none now, as more events are known: then it goes with the one
    /// before it.
    #[inline(always)]
    pub(super) fn take(&mut self, size: usize, next: Option<u64>) {
        self.given = self.given.max(self.first.time);
        self.allowed = self.allowed.saturating_sub(1);
        // What is left is always a record, in bytes that stay as they are.
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(self.first.bytes);
        self.first.at = self.first.at.after(size);
        self.first.bytes = self.first.bytes.wrapping_sub(size);
        if let Some(time) = next {
            self.first.time = time;
        }
    }

    /// As [`take`](Self::take), of a copy.
    pub(super) fn take_copy(&mut self, size: usize, next: Option<u64>) {
        let before = self.first.bytes;
        self.take(size, next);
        self.copies.give(before.saturating_sub(self.first.bytes) as usize);
        if self.copies.given() >= self.enough {
            self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        }
    }

    /// Copies a record that was found.
    pub(super) fn copy<O: Endian>(&mut self, current: &Current, raw: &RawRecord<'_, O>) -> (Place, usize) {
        let (offset, bytes) = self.copies.push(current, raw);
        (Place::copied(offset), bytes)
    }
}

/// Records of a run at most that are held back as runs of one record each: these are sorted, which costs less than to put
/// what is left of a run back among a million others at each of its records.
pub(super) const SHORT: usize = 8;

/// A run that may become longer.
#[derive(Debug)]
struct OpenRun {
    run: Run,
    /// Where in the capture a record would follow.
    until: Origin,
    /// The time of its last record.
    last_time: u64,
    /// How many it has, and as long as it is short the time and bytes of each.
    records: usize,
    singles: [(u64, u32); SHORT],
}

impl OpenRun {
    /// Counts records that are of the run now: one, or more than a short run has.
    fn count(&mut self, records: usize, time: u64, bytes: u32) {
        if let Some(single) = self.singles.get_mut(self.records) {
            *single = (time, bytes);
        }
        self.records = self.records.saturating_add(records);
    }
}

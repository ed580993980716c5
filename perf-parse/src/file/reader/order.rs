//! Records by time.
//!
//! A recorder empties one ring after the other, and each ring is in order: between two ends of a round there are a few
//! runs of rising times. So it is runs that are held back, and merged, not records: of records in memory nothing is kept
//! but where a run of them begins and ends.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::error::FileError;
use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use super::advance::{Current, Held, boundary, whole_and_plain};
use crate::record::RawRecord;

/// Records held back at most for their order, and bytes of those that are held as a copy.
///
/// A recorder that reads its rings in rounds stays far below; without rounds this is how far two records may be apart
/// in the capture and still be put in order.
pub const ORDER_LIMIT: usize = 4 << 20;
const COPIES_LIMIT: usize = 64 << 20;

/// The records that are held back.
#[derive(Debug)]
pub(super) struct TimeOrder {
    /// Records held back at most.
    limit: usize,
    /// Records held back, without those that may be given now, if they are not later than `until`.
    held: usize,
    allowed: usize,
    until: u64,
    /// The run that records are given of, which may have none left, and the time up to which it is its turn.
    first: Run,
    turn: u64,
    others: BinaryHeap<Reverse<Run>>,
    /// The run that what is read next may go on with, and the time of its last record.
    open: Option<(Run, u64)>,
    /// Runs begun so far.
    begun: u64,
    /// The latest time seen, and that at the end of the round before.
    latest: u64,
    latest_of_last_round: u64,
    /// The latest time given.
    given: u64,
    /// The capture is read to its end.
    ended: bool,
    copies: Copies,
}

/// Records that lie end to end, none earlier than the one before it. The earliest run is the least; of those that begin
/// with equal times, the one that is first in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    /// Time of the first record.
    time: u64,
    /// Which run of the capture it is.
    number: u64,
    at: Place,
    /// Bytes of the records, and of what stands before each of those that are copies.
    bytes: u32,
}

/// Where a record is that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// In the capture, or among the copies.
    offset: u64,
    /// The data file, or [`COPIES`].
    data_file: u32,
}

/// Stands for the copies among the data files.
const COPIES: u32 = u32::MAX;

/// Copies of records that cannot be gone back to, end to end, each behind its place in the capture.
#[derive(Debug, Default)]
struct Copies {
    bytes: Vec<u8>,
}

/// Bytes in front of a copied record: its offset, its offset in the decompressed stream, its data file.
const COPY_HEADER: usize = 24;

/// Stands for a record that was not compressed.
const NOT_INNER: u64 = u64::MAX;

impl Copies {
    /// Copies a record: where the copy begins, and its bytes.
    fn push<O: Endian>(&mut self, current: &Current, raw: &RawRecord<'_, O>) -> (u64, u32) {
        let start = self.bytes.len();
        for word in [current.offset, current.inner.unwrap_or(NOT_INNER), current.data_file as u64] {
            self.bytes.extend_from_slice(&word.to_ne_bytes());
        }
        raw.write(&mut self.bytes);
        (start as u64, self.bytes.len().saturating_sub(start) as u32)
    }

    /// Where the record was found that is copied here.
    #[inline]
    fn found(&self, at: u64) -> Option<Current> {
        let words = self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk::<COPY_HEADER>()?;
        let mut words = words.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let (offset, inner, data_file) = (words.next()?, words.next()?, words.next()?);
        let inner = Some(inner).filter(|&inner| inner != NOT_INNER);
        Some(Current::new(offset, inner, usize::try_from(data_file).ok()?, Held::Copied(at)))
    }

    /// Keeps only what `runs` are of, moved to the front.
    fn compact(&mut self, runs: &mut [Reverse<Run>]) {
        runs.sort_unstable_by_key(|Reverse(run)| (run.at.data_file, run.at.offset));
        let mut end = 0_usize;
        for Reverse(run) in runs.iter_mut().filter(|Reverse(run)| run.at.data_file == COPIES) {
            let start = usize::try_from(run.at.offset).unwrap_or(usize::MAX);
            let behind = start.saturating_add(run.bytes as usize);
            // Always so; otherwise what is left of the run is not there.
            if behind <= self.bytes.len() {
                self.bytes.copy_within(start..behind, end);
            }
            run.at.offset = end as u64;
            end = end.saturating_add(run.bytes as usize);
        }
        self.bytes.truncate(end);
    }
}

impl TimeOrder {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            allowed: 0,
            until: 0,
            first: Run { time: 0, number: 0, at: Place { offset: 0, data_file: 0 }, bytes: 0 },
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
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes of the record that is copied here, and those behind it.
    #[inline]
    pub(super) fn copied(&self, at: u64) -> &[u8] {
        let start = usize::try_from(at).ok().and_then(|at| at.checked_add(COPY_HEADER));
        start.and_then(|start| self.copies.bytes.get(start..)).unwrap_or_default()
    }

    /// Holds back records that lie end to end at a place, none earlier than the one before it.
    fn push(&mut self, found: &Found, at: Place) {
        let &Found { records, bytes, time, last_time } = found;
        self.held = self.held.saturating_add(records);
        self.latest = self.latest.max(last_time);
        if let Some((run, last)) = &mut self.open {
            let end = run.at.offset.saturating_add(u64::from(run.bytes));
            let follows = at.offset == end && at.data_file == run.at.data_file && time >= *last;
            if let Some(together) = run.bytes.checked_add(bytes).filter(|_| follows) {
                (run.bytes, *last) = (together, last_time);
                return;
            }
        }
        self.close();
        self.open = Some((Run { time, number: self.begun, at, bytes }, last_time));
        self.begun = self.begun.wrapping_add(1);
    }

    /// Ends the run that is open.
    fn close(&mut self) {
        self.others.extend(self.open.take().map(|(run, _)| Reverse(run)));
    }

    /// Lets `allowed` records go, if they are not later than `until`.
    fn release(&mut self, until: u64, allowed: usize) {
        self.close();
        self.until = until;
        self.allowed = allowed.min(self.held);
        self.held = self.held.saturating_sub(self.allowed);
    }

    /// A round is over: nothing earlier than the end of the round before it is still to come.
    fn end_round(&mut self) {
        let until = core::mem::replace(&mut self.latest_of_last_round, self.latest);
        self.release(until, usize::MAX);
    }

    /// The capture is over.
    fn end(&mut self) {
        self.ended = true;
        self.release(u64::MAX, usize::MAX);
    }

    fn is_full(&self) -> bool {
        self.held >= self.limit || self.copies.bytes.len() >= COPIES_LIMIT
    }

    /// Whether a record may be given now: the one that `first` begins with.
    #[inline(always)]
    fn may_give(&mut self) -> bool {
        if self.allowed == 0 {
            return false;
        }
        (self.first.bytes > 0 && self.first.time <= self.turn) || self.select()
    }

    /// Makes `first` the earliest run; whether its first record may be given now.
    #[inline(never)]
    fn select(&mut self) -> bool {
        self.keep_first();
        let Some(Reverse(first)) = self.others.pop() else {
            self.settle();
            return false;
        };
        self.first = first;
        if first.time > self.until {
            self.settle();
            return false;
        }
        let turn = match self.others.peek() {
            // Of equal times the run that began before comes first.
            Some(Reverse(other)) if other.number < first.number => other.time.saturating_sub(1),
            Some(Reverse(other)) => other.time,
            None => u64::MAX,
        };
        self.turn = turn.min(self.until);
        true
    }

    /// Puts what is left of `first` back among the others.
    fn keep_first(&mut self) {
        if self.first.bytes > 0 {
            self.others.push(Reverse(self.first));
            self.first.bytes = 0;
        }
    }

    /// What was allowed to go has gone.
    fn settle(&mut self) {
        self.held = self.held.saturating_add(core::mem::take(&mut self.allowed));
        if !self.copies.bytes.is_empty() {
            self.keep_first();
            let mut runs = core::mem::take(&mut self.others).into_vec();
            self.copies.compact(&mut runs);
            self.others = runs.into();
        }
    }

    /// Takes the first record of `first`, which takes `size` bytes; the time of the one behind it.
    #[inline(always)]
    fn take(&mut self, size: usize, next: Option<u64>) {
        self.given = self.given.max(self.first.time);
        self.allowed = self.allowed.saturating_sub(1);
        let left = u32::try_from(size).ok().and_then(|size| self.first.bytes.checked_sub(size));
        self.first.at.offset = self.first.at.offset.saturating_add(size as u64);
        // What is left is always a record with a time, in bytes that stay as they are.
        (self.first.bytes, self.first.time) = left.zip(next).unwrap_or((0, u64::MAX));
    }

    /// Copies a record that was found.
    fn copy<O: Endian>(&mut self, current: &Current, raw: &RawRecord<'_, O>) -> (Place, u32) {
        let (offset, bytes) = self.copies.push(current, raw);
        (Place { offset, data_file: COPIES }, bytes)
    }
}

/// Records that were found to be held back.
struct Found {
    records: usize,
    bytes: u32,
    /// The times of the first and of the last.
    time: u64,
    last_time: u64,
}

/// Bytes that are looked at for one run at most.
const RUN_LIMIT: usize = 1 << 30;

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// The next record by time.
    #[inline(always)]
    pub(super) fn next_in_time(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        if !self.order.as_mut().is_some_and(TimeOrder::may_give) {
            if let Some(current) = self.gather()? {
                return self.view(current).map(Some);
            }
        }
        self.give()
    }

    /// Reads on until a record may be given, or to the end. The record that was found, if it has no time and so is not held
    /// back.
    #[inline(never)]
    fn gather(&mut self) -> Result<Option<Current>, FileError> {
        while self.order.as_ref().is_some_and(|order| !order.ended) {
            while self.hold_run() {}
            if !self.order.as_ref().is_some_and(TimeOrder::is_full) {
                match self.advance_any()? {
                    None => self.order.iter_mut().for_each(TimeOrder::end),
                    Some(current) if self.hold(&current) => {}
                    Some(current) => return Ok(Some(current)),
                }
            }
            let Some(order) = &mut self.order else { return Ok(None) };
            if order.is_full() {
                order.release(u64::MAX, order.held / 2);
            }
            if order.may_give() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Holds back the run at the front of the source, as far as that takes no more than a look at records in memory.
    /// Whether there was one.
    fn hold_run(&mut self) -> bool {
        self.pass_unwanted();
        let Self { order: Some(order), events, source, account, pending, only, .. } = self else { return false };
        let Ok(data_file) = u32::try_from(self.data_file) else { return false };
        let Ok(passed) = usize::try_from(pending.outer) else { return false };
        let Some(front) = source.front().get(passed..) else { return false };
        if !S::IN_MEMORY || self.inflate.is_some() || self.lost || data_file == COPIES {
            return false;
        }
        let at = Place { offset: source.offset().saturating_add(pending.outer), data_file };
        let front = front.get(..RUN_LIMIT).unwrap_or(front);
        let room = order.limit.saturating_sub(order.held);
        let (mut rest, mut last) = (front, 0_usize);
        let (mut records, mut first_time, mut last_time) = (0_usize, 0, 0);
        while records < room {
            let Some((raw, behind)) = whole_and_plain::<O>(rest) else { break };
            if only.as_ref().is_some_and(|only| !only.has(raw.kind())) {
                break;
            }
            let Some(time) = events.time_of(&raw).filter(|&time| time != 0 && time >= last_time) else {
                break;
            };
            if records == 0 {
                first_time = time;
            }
            if time < order.given {
                account.late = account.late.saturating_add(1);
            }
            (rest, last, last_time) = (behind, usize::from(raw.size()), time);
            records = records.wrapping_add(1);
            account.count(raw.kind(), last);
        }
        let bytes = front.len().saturating_sub(rest.len());
        if records > 0 {
            order.push(&Found { records, bytes: bytes as u32, time: first_time, last_time }, at);
            // The last one is passed over when more is asked for, as any record is.
            source.take(passed.saturating_add(bytes).saturating_sub(last));
            pending.outer = last as u64;
        }
        records > 0
    }

    /// Holds back the record that was found; whether it is to be, as one that has a time.
    fn hold(&mut self, current: &Current) -> bool {
        let Self { order: Some(order), events, source, inflate, more, account, .. } = self else {
            return false;
        };
        let front = match inflate {
            Some(inflate) if current.held == Held::Inflated => inflate.front(),
            _ => source.front(),
        };
        let Some((raw, _)) = RawRecord::<O>::whole(front) else { return false };
        let kind = raw.kind();
        if kind.is_user() {
            // Each file of a directory has all times: a round of one says nothing of those still to be read.
            if kind == RecordType::FINISHED_ROUND && current.data_file == 0 && more.is_empty() {
                order.end_round();
            }
            return false;
        }
        let Some(time) = events.time_of(&raw).filter(|&time| time != 0) else { return false };
        if time < order.given {
            account.late = account.late.saturating_add(1);
        }
        let data_file = u32::try_from(current.data_file).ok().filter(|&file| file != COPIES);
        let (at, bytes) = match data_file {
            Some(data_file) if S::IN_MEMORY && current.held == Held::Source => {
                (Place { offset: current.offset, data_file }, raw.size().into())
            }
            _ => order.copy(current, &raw),
        };
        order.push(&Found { records: 1, bytes, time, last_time: time }, at);
        true
    }

    /// Gives the record that may be given now; `None` if there is none.
    #[inline(always)]
    fn give(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        let Some(order) = self.order.as_mut().filter(|order| order.allowed > 0) else { return Ok(None) };
        let Place { offset, data_file } = order.first.at;
        let data_file = data_file as usize;
        if data_file != self.data_file {
            let current = self.take_any();
            return self.view(current).map(Some);
        }
        let bytes = self.source.at(offset).unwrap_or_default();
        let Some((raw, behind)) = RawRecord::<O>::whole(bytes) else {
            order.take(usize::MAX, None);
            return Err(boundary::<O>(bytes, offset));
        };
        let next = RawRecord::<O>::whole(behind).and_then(|(next, _)| self.events.time_of(&next));
        order.take(raw.size().into(), next);
        Ok(Some(self.record(raw, offset, data_file)))
    }

    /// Takes the record that may be given now out of a data file that was read before, or from among the copies.
    #[inline(never)]
    fn take_any(&mut self) -> Current {
        let Self { order: Some(order), events, done, .. } = self else {
            return Current::new(0, None, 0, Held::InPlace);
        };
        let Place { offset, data_file } = order.first.at;
        let in_place = Current::new(offset, None, data_file as usize, Held::InPlace);
        let (current, bytes, before) = if data_file == COPIES {
            (order.copies.found(offset).unwrap_or(in_place), order.copied(offset), COPY_HEADER)
        } else {
            let bytes = done.get(in_place.data_file).and_then(|source| source.at(offset));
            (in_place, bytes.unwrap_or_default(), 0)
        };
        let (size, time) = match RawRecord::<O>::whole(bytes) {
            Some((raw, behind)) => {
                let next = behind.get(before..).and_then(RawRecord::<O>::whole);
                let time = next.and_then(|(next, _)| events.time_of(&next));
                (usize::from(raw.size()).saturating_add(before), time)
            }
            None => (usize::MAX, None),
        };
        order.take(size, time);
        current
    }
}

//! Records in time order: they are held until no earlier record can come.

mod copies;
mod held;
mod place;
mod runs;

pub(super) use held::TimeOrder;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::events::Events;
use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use super::found::{Current, Held, Step, boundary};
use super::plain::whole_of;
use crate::error::FileError;
use crate::record::RawRecord;
use copies::COPY_HEADER;
use held::SHORT;
use place::{Found, Origin, Place};

/// Maximum number of bytes that are read for one run.
const RUN_LIMIT: usize = 1 << 30;

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Returns the next record in time order.
    #[inline(always)]
    pub(super) fn next_in_time(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        if !self.order.as_mut().is_some_and(TimeOrder::may_give) {
            let step = self.gather_step();
            if step != Step::Ended {
                return self.stepped(step);
            }
        }
        self.give()
    }

    #[inline(never)]
    fn gather_step(&mut self) -> Step {
        let found = self.gather();
        self.note_step(found)
    }

    /// Reads on until a record may be returned, or to the end. Returns a record that has no time, as it is not held.
    ///
    /// Each turn of the loop allows a record or reads one: see [`TimeOrder`].
    fn gather(&mut self) -> Result<Option<Current>, FileError> {
        while let Some(order) = self.order.as_mut().filter(|order| !order.ended) {
            order.settle();
            if order.is_full() {
                order.release_half();
            } else if !self.hold_run() {
                match self.advance_any()? {
                    None => self.order.iter_mut().for_each(TimeOrder::end),
                    Some(current) if self.hold(&current) => {}
                    Some(current) => return Ok(Some(current)),
                }
            }
            if self.order.as_mut().is_some_and(TimeOrder::may_give) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Holds the run of records of one type at the front of the source, if the records are in memory and the fast path
    /// can read them. Returns whether there was one.
    fn hold_run(&mut self) -> bool {
        self.pass_unwanted();
        let Self { order: Some(order), events, source, account, pending, plain, .. } = self else {
            return false;
        };
        let Some(front) = pending.ahead(source) else { return false };
        if !S::IN_MEMORY || self.inflate.is_some() || self.lost {
            return false;
        }
        let offset = source.offset().saturating_add(pending.outer);
        let Some(at) = Place::in_file(self.data_file, offset) else { return false };
        let Some((first, _)) = whole_of::<O>(front, *plain) else { return false };
        let room = order.limit.saturating_sub(order.held);
        let front = front.get(..RUN_LIMIT).unwrap_or(front);
        let run = rising::<O>(front, events, first.kind(), order.given, room);
        if run.records == 0 {
            return false;
        }
        account.count_type(first.kind(), run.records as u64);
        account.bytes = account.bytes.wrapping_add(run.bytes as u64);
        account.late = account.late.saturating_add(run.late);
        let from = Origin { data_file: self.data_file, is_inner: false, position: offset };
        let Rising { bytes, last, records, time, last_time, .. } = run;
        if records > SHORT {
            order.push(&Found { from, size: bytes, records, bytes, time, last_time }, at);
        } else {
            push_each::<O>(order, events, front.get(..bytes).unwrap_or_default(), from, at);
        }
        // The last record is skipped when the next one is requested, like any other.
        pending.pass_to(source, bytes.saturating_sub(last), last);
        true
    }

    /// Holds the record that was found, if it has a time. Returns whether it is held.
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
            // Each file of a directory covers the whole time: a round of one file has no meaning for the files that are
            // still to be read.
            if kind == RecordType::FINISHED_ROUND && current.data_file == 0 && more.is_empty() {
                order.end_round();
            }
            return false;
        }
        let Some(time) = events.time_of(&raw).filter(|&time| time != 0) else { return false };
        if time < order.given {
            account.late = account.late.saturating_add(1);
        }
        let (at, bytes) = match Place::in_file(current.data_file, current.offset) {
            Some(at) if S::IN_MEMORY && current.held == Held::Source => (at, raw.size().into()),
            _ => order.copy(current, &raw),
        };
        let (is_inner, position) = (current.inner.is_some(), current.inner.unwrap_or(current.offset));
        let from = Origin { data_file: current.data_file, is_inner, position };
        let size = usize::from(raw.size());
        order.push(&Found { from, size, records: 1, bytes, time, last_time: time }, at);
        true
    }

    /// Returns the record that may be returned now; `None` if there is none.
    #[inline(always)]
    fn give(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        let Some(order) = self.order.as_mut().filter(|order| order.allowed > 0) else { return Ok(None) };
        let Some(offset) = order.first.at.in_data_file(self.data_file) else {
            self.found = self.take_any();
            return self.stepped(Step::Found);
        };
        let bytes = self.source.at(offset).unwrap_or_default();
        let Some((raw, after)) = RawRecord::<O>::whole(bytes) else {
            order.take(usize::MAX, None);
            return Err(boundary::<O>(bytes, offset));
        };
        let next = RawRecord::<O>::whole(after);
        order.take(raw.size().into(), next.and_then(|(next, _)| self.events.time_of(&next)));
        Ok(Some(self.record(raw, offset, self.data_file)))
    }

    /// Takes the record that may be returned now from a data file that was read before, or from the copies.
    #[inline(never)]
    fn take_any(&mut self) -> Current {
        let Self { order: Some(order), events, done, .. } = self else {
            return Current::new(0, None, 0, Held::InPlace);
        };
        let at = order.first.at;
        let offset = at.offset();
        let in_place = Current::new(offset, None, at.data_file(), Held::InPlace);
        // Returns the size of a record and the `before` bytes in front of it, and the time of the next record.
        let first_of = |bytes, before: usize| match RawRecord::<O>::whole(bytes) {
            Some((raw, rest)) => {
                let next = rest.get(before..).and_then(RawRecord::<O>::whole);
                let time = next.and_then(|(next, _)| events.time_of(&next));
                (usize::from(raw.size()).saturating_add(before), time)
            }
            None => (usize::MAX, None),
        };
        if at.is_copy() {
            let current = order.copies.found(offset).unwrap_or(in_place);
            let (size, time) = first_of(order.copied(offset), COPY_HEADER);
            order.take_copy(size, time);
            return current;
        }
        let bytes = done.get(in_place.data_file).and_then(|source| source.at(offset));
        let (size, time) = first_of(bytes.unwrap_or_default(), 0);
        order.take(size, time);
        in_place
    }
}

/// Holds each of a few records that are adjacent.
fn push_each<O: Endian>(order: &mut TimeOrder, events: &Events, bytes: &[u8], from: Origin, at: Place) {
    let (mut rest, mut from, mut at) = (bytes, from, at);
    while let Some((raw, after)) = RawRecord::<O>::whole(rest) {
        let size = raw.size();
        let time = events.time_of(&raw).unwrap_or(0);
        let found = Found { from, size: size.into(), records: 1, bytes: size.into(), time, last_time: time };
        order.push(&found, at);
        from.position = from.position.saturating_add(size.into());
        at = at.after(size.into());
        rest = after;
    }
}

/// Adjacent records of one type, none earlier than the one before it.
struct Rising {
    records: usize,
    /// Number of bytes of all records, and of the last.
    bytes: usize,
    last: usize,
    /// The times of the first and of the last record.
    time: u64,
    last_time: u64,
    /// Number of records that are earlier than one that was returned.
    late: u64,
}

/// Returns the run at the start of `bytes`, of at most `room` records. A separate function, so that its variables stay
/// in registers.
#[inline(never)]
fn rising<O: Endian>(bytes: &[u8], events: &Events, kind: RecordType, given: u64, room: usize) -> Rising {
    let mut run = Rising { records: 0, bytes: 0, last: 0, time: 0, last_time: 1, late: 0 };
    let mut rest = bytes;
    while run.records < room {
        let Some((raw, after)) = RawRecord::<O>::whole(rest).filter(|(raw, _)| raw.kind() == kind) else {
            break;
        };
        // A time of 0 means that the record has none.
        let Some(time) = events.time_of(&raw).filter(|&time| time >= run.last_time) else { break };
        run.late = run.late.wrapping_add(u64::from(time < given));
        run.records = run.records.wrapping_add(1);
        (run.last, run.last_time) = (usize::from(raw.size()), time);
        rest = after;
    }
    run.bytes = bytes.len().saturating_sub(rest.len());
    run.time = RawRecord::<O>::whole(bytes).and_then(|(first, _)| events.time_of(&first)).unwrap_or(0);
    run
}

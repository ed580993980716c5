//! Records in time order: they are held until no earlier record can come.

#[cfg(feature = "std")]
mod ahead;
mod copies;
mod held;
#[cfg(not(feature = "std"))]
mod no_threads;
mod place;
mod runs;

#[cfg(feature = "std")]
pub(super) use ahead::OrderThread;
pub(super) use held::TimeOrder;
#[cfg(not(feature = "std"))]
use no_threads::NoOrderThread as OrderThread;

#[cfg(feature = "std")]
use std::thread::Scope;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::SourceWalk;
use super::framing::boundary;
use crate::bytes::RecordBytes;
use crate::error::FileError;
use crate::event::{EventRecord, Events, RecordPosition};
use crate::file::source::ByteSource;
#[cfg(feature = "std")]
use crate::file::source::Slice;
use crate::record::RawRecord;
use copies::COPY_HEADER;
use held::SHORT;
use place::{HeldAt, RecordOrigin, UnheldRecords};

/// Maximum number of bytes that are read for one run.
const RUN_LIMIT: usize = 1 << 30;

#[cfg(feature = "std")]
impl<'r, O: Endian> SourceWalk<'r, O, Slice<'r>> {
    /// Has the runs of the data files found by another thread.
    pub(in crate::file) fn order_ahead<'scope>(&mut self, scope: &'scope Scope<'scope, '_>)
    where
        'r: 'scope,
        O: 'scope,
    {
        let Self { order: Some(order), knowledge, framing, .. } = self else { return };
        // Of pieces, the rest is not read.
        if let Some(events) = knowledge.opened_events().filter(|_| !framing.is_of_pieces()) {
            let files = framing.sources().copied().collect();
            order.ahead = Some(OrderThread::new::<O>(scope, files, framing.data_file(), events));
        }
    }
}

impl<'r, O: Endian, S: ByteSource<'r>> SourceWalk<'r, O, S> {
    /// Returns the next record in time order.
    pub(super) fn next_in_time(&mut self) -> Option<Result<EventRecord<'r>, FileError>> {
        if !self.order.as_mut().is_some_and(TimeOrder::may_give) {
            if let Some(step) = self.gather().transpose() {
                return Some(step);
            }
        }
        match self.next_held() {
            Some(record) => Some(Ok(record)),
            None => self.give_any().transpose(),
        }
    }

    /// Returns the next record in time order, if it may be returned now and is in the data file that is being read.
    #[inline(always)]
    pub(super) fn next_held(&mut self) -> Option<EventRecord<'r>> {
        let Self { order: Some(order), knowledge, framing, .. } = self else { return None };
        if !S::IN_MEMORY || !order.may_give() {
            return None;
        }
        let data_file = framing.data_file();
        let offset = order.first.at.in_data_file(data_file)?;
        let (raw, after) = RawRecord::<O>::whole_of_kernel((), framing.source.at(offset)?)?;
        let time = match RawRecord::<O>::whole_of_kernel((), after) {
            Some((next, _)) => knowledge.events().time_of(&next),
            None => None,
        };
        order.take(raw.len(), time);
        let bytes = RecordBytes::record(raw);
        // Only kernel records have a time.
        let event = knowledge.event_of_kernel::<O>(&bytes);
        let place = RecordPosition { data_file, offset, decompressed: None };
        Some(EventRecord::new(bytes, place, event))
    }

    /// Reads records until one may be returned, or to the end. Returns a record without a time at once, because such a
    /// record is not held.
    ///
    /// Each turn of the loop allows a record or reads one: see [`TimeOrder`].
    #[inline(never)]
    fn gather(&mut self) -> Result<Option<EventRecord<'r>>, FileError> {
        while let Some(order) = self.order.as_mut().filter(|order| !order.ended) {
            order.settle();
            if order.is_full() {
                order.release_half();
            } else if !self.hold_run() && !self.hold_copy() {
                if let Some(record) = self.next_without_time() {
                    return Ok(Some(record));
                }
                match self.next_any()? {
                    None => self.order.iter_mut().for_each(TimeOrder::end),
                    Some(record) if self.hold(&record) => {}
                    Some(record) => return Ok(Some(record)),
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
        let Self { order: Some(order), knowledge, framing, account, types, .. } = self else {
            return false;
        };
        if !S::IN_MEMORY || self.decompressed.is_some() || !framing.is_at_boundary() {
            return false;
        }
        let place = framing.position();
        let front = framing.source.front();
        let Some(at) = HeldAt::in_file(place.data_file, place.offset) else { return false };
        let Some((first, _)) = RawRecord::<O>::of_types(front, types.fast()) else { return false };
        let room = order.limit.saturating_sub(order.held);
        let front = front.get(..RUN_LIMIT).unwrap_or(front);
        // What the thread found with other events may be wrong.
        order.ahead.take_if(|_| knowledge.opened_events().is_none());
        let given = order.given;
        let found = order.ahead.as_mut().and_then(|ahead| {
            let run = ahead.run_at(place.data_file, place.offset, first.kind())?;
            // As it is found here: within the room and the bytes, and without a late record.
            (run.records <= room && run.bytes <= front.len() && run.time >= given).then_some(run)
        });
        let find = || rising::<O>(front, knowledge.events(), first.kind(), given, room);
        let run = found.unwrap_or_else(find);
        if run.records == 0 {
            return false;
        }
        account.count_type(first.kind(), run.records as u64);
        account.bytes = account.bytes.wrapping_add(run.bytes as u64);
        account.late = account.late.saturating_add(run.late);
        let from = RecordOrigin { data_file: place.data_file, is_inner: false, position: place.offset };
        let Rising { bytes, records, time, last_time, .. } = run;
        if records > SHORT {
            order.push(&UnheldRecords { from, size: bytes, records, bytes, time, last_time }, at);
        } else {
            push_each::<O>(order, knowledge.events(), front.get(..bytes).unwrap_or_default(), from, at);
        }
        framing.source.take(bytes);
        true
    }

    /// Returns the record at the front of the source if the fast path can read it and it has no time.
    fn next_without_time(&mut self) -> Option<EventRecord<'r>> {
        if self.decompressed.is_some() || !self.framing.is_at_boundary() {
            return None;
        }
        let types = self.types.fast();
        let (raw, _) = RawRecord::<O>::of_types(self.framing.source.front(), types)?;
        match self.knowledge.events().time_of(&raw) {
            None | Some(0) => self.next_of_types(types),
            Some(_) => None,
        }
    }

    /// Holds a record, if it has a time. Returns whether it is held.
    pub(super) fn hold(&mut self, record: &EventRecord<'r>) -> bool {
        let Self { order: Some(order), knowledge, framing, account, .. } = self else { return false };
        let raw: RawRecord<'_, O> = record.raw().typed(());
        let (kind, place) = (raw.kind(), record.position());
        if kind.is_user() {
            // Each file of a folder covers the whole time span, so a round of one file has no meaning for the files
            // that are still to be read.
            if kind == RecordType::FINISHED_ROUND && place.data_file == 0 && framing.is_last() {
                order.end_round();
            }
            return false;
        }
        let Some(time) = knowledge.events().time_of(&raw).filter(|&time| time != 0) else { return false };
        account.late = account.late.saturating_add(u64::from(time < order.given));
        push_one::<O>(order, &raw, place, time, S::IN_MEMORY);
        true
    }

    /// Holds a copy of the record at the front of the decompressed stream, or of a source that is not in memory, if the
    /// fast path can read it. Returns whether there was one.
    fn hold_copy(&mut self) -> bool {
        let Self { order: Some(order), knowledge, framing, account, types, decompressed, .. } = self else {
            return false;
        };
        let found = match decompressed {
            Some(decompressed) => decompressed.front_of_types::<O>(types.fast(), framing.data_file()),
            None if S::IN_MEMORY || !framing.is_at_boundary() => None,
            None => {
                let found = RawRecord::<O>::of_types(framing.source.front(), types.fast());
                found.map(|(raw, _)| (raw, framing.position()))
            }
        };
        let Some((raw, place)) = found else { return false };
        let Some(time) = knowledge.events().time_of(&raw).filter(|&time| time != 0) else { return false };
        account.late = account.late.saturating_add(u64::from(time < order.given));
        push_one::<O>(order, &raw, place, time, false);
        let (kind, size) = (raw.kind(), raw.len());
        if let Some(decompressed) = decompressed {
            account.count(kind, 0);
            decompressed.skip(size);
        } else {
            account.count(kind, size);
            framing.source.take(size);
        }
        true
    }

    /// Returns the record that may be returned now, from any data file or from the copies; `None` if there is none.
    #[inline(never)]
    fn give_any(&mut self) -> Result<Option<EventRecord<'r>>, FileError> {
        let Self { order: Some(order), knowledge, framing, account, .. } = self else { return Ok(None) };
        if order.allowed == 0 {
            return Ok(None);
        }
        let at = order.first.at;
        let offset = at.offset();
        let events = knowledge.events();
        let (bytes, header) = if at.is_copy() {
            (order.copied(offset), COPY_HEADER)
        } else {
            let source = framing.begun(at.data_file());
            (source.and_then(|source| source.at(offset)).unwrap_or_default(), 0)
        };
        let found =
            RawRecord::<O>::whole_of_kernel((), bytes).ok_or_else(|| RawRecord::<O>::fault((), bytes));
        let found = found.map(|(raw, after)| {
            let next = after.get(header..).and_then(|after| RawRecord::<O>::whole_of_kernel((), after));
            let time = next.and_then(|(next, _)| events.time_of(&next));
            (raw.len(), time, knowledge.event_of(raw))
        });
        let (size, time, event) = match found {
            Ok(found) => found,
            Err(error) => {
                // This happens only if the bytes of the capture change while they are read.
                order.take(usize::MAX, None);
                return Err(boundary(account, error, offset));
            }
        };
        let (bytes, place) = if at.is_copy() {
            let copy = order.copies.take::<O>(offset, size);
            order.take_copy(header.saturating_add(size), time);
            copy
        } else {
            order.take(size, time);
            let source = framing.begun(at.data_file()).and_then(|source| source.at(offset));
            let bytes = source.and_then(|bytes| bytes.get(..size));
            let place = RecordPosition { data_file: at.data_file(), offset, decompressed: None };
            (RecordBytes::borrowed::<O>(bytes.unwrap_or_default()), place)
        };
        Ok(Some(EventRecord::new(bytes, place, event)))
    }
}

/// Holds a record: where it is if its data file is in memory, or else a copy.
fn push_one<O: Endian>(
    order: &mut TimeOrder,
    raw: &RawRecord<'_, O>,
    place: RecordPosition,
    time: u64,
    in_memory: bool,
) {
    let is_inner = place.decompressed.is_some();
    let (at, bytes) = match HeldAt::in_file(place.data_file, place.offset) {
        Some(at) if in_memory && !is_inner => (at, raw.len()),
        _ => order.copy(&place, raw),
    };
    let position = place.decompressed.unwrap_or(place.offset);
    let from = RecordOrigin { data_file: place.data_file, is_inner, position };
    let size = raw.len();
    order.push(&UnheldRecords { from, size, records: 1, bytes, time, last_time: time }, at);
}

/// Holds each of a few records that are adjacent.
fn push_each<O: Endian>(
    order: &mut TimeOrder,
    events: &Events,
    bytes: &[u8],
    from: RecordOrigin,
    at: HeldAt,
) {
    let (mut rest, mut from, mut at) = (bytes, from, at);
    while let Some((raw, after)) = RawRecord::<O>::whole_of_kernel((), rest) {
        let size = raw.len();
        let time = events.time_of(&raw).unwrap_or(0);
        let found = UnheldRecords { from, size, records: 1, bytes: size, time, last_time: time };
        order.push(&found, at);
        from.position = from.position.saturating_add(size as u64);
        at = at.after(u32::try_from(size).unwrap_or(u32::MAX));
        rest = after;
    }
}

/// Adjacent records of one type, none earlier than the one before it.
#[derive(Debug)]
struct Rising {
    records: usize,
    /// Number of bytes of all records.
    bytes: usize,
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
    let mut run = Rising { records: 0, bytes: 0, time: 0, last_time: 1, late: 0 };
    let mut rest = bytes;
    while run.records < room {
        let Some((raw, after)) =
            RawRecord::<O>::whole_of_kernel((), rest).filter(|(raw, _)| raw.kind() == kind)
        else {
            break;
        };
        // A time of 0 means that the record has none.
        let Some(time) = events.time_of(&raw).filter(|&time| time >= run.last_time) else { break };
        run.late = run.late.wrapping_add(u64::from(time < given));
        run.records = run.records.wrapping_add(1);
        run.last_time = time;
        rest = after;
    }
    run.bytes = bytes.len().saturating_sub(rest.len());
    run.time =
        RawRecord::<O>::whole_of_kernel((), bytes).and_then(|(first, _)| events.time_of(&first)).unwrap_or(0);
    run
}

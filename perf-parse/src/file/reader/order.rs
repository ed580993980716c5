//! Records by time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::error::FileError;
use super::super::records::FileRecord;
use super::super::source::Source;
use super::{Current, Reader};
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
    /// Those that may be given now, the earliest first.
    ready: VecDeque<Held>,
    /// Those that a later record may still come before; of equal times in the order of the capture.
    held: Vec<Held>,
    /// The latest time seen, and that at the end of the round before.
    latest: u64,
    latest_of_last_round: u64,
    /// The time of the record given last.
    given: u64,
    /// The capture is read to its end.
    ended: bool,
    copies: Copies,
}

/// A record that is held back: its time and where it is.
#[derive(Clone, Copy, Debug)]
struct Held {
    time: u64,
    place: u64,
}

/// Copies of records that cannot be gone back to, end to end, each behind its place in the capture.
#[derive(Debug, Default)]
struct Copies {
    bytes: Vec<u8>,
}

/// Bytes in front of a copied record: its offset, its offset in the decompressed stream, its data file.
const COPY_HEADER: usize = 24;

/// Marks a place among the copies; other places are offsets in the capture, the data file above bit 47.
const COPIED: u64 = 1 << 63;
const DATA_FILE_SHIFT: u32 = 48;

/// Stands for a record that was not compressed.
const NOT_INNER: u64 = u64::MAX;

impl Copies {
    /// Copies a record; its place.
    fn push<O: Endian>(&mut self, record: &FileRecord<'_, O>) -> u64 {
        let place = self.bytes.len() as u64 | COPIED;
        for word in [record.offset, record.inner.unwrap_or(NOT_INNER), record.data_file as u64] {
            self.bytes.extend_from_slice(&word.to_ne_bytes());
        }
        record.raw.write(&mut self.bytes);
        place
    }

    /// The copy at a place, and what follows it.
    fn get(&self, place: u64) -> Option<&[u8]> {
        self.bytes.get(usize::try_from(place & !COPIED).ok()?..)
    }

    /// Drops the copies that none of `held` is of, and moves the others.
    fn compact<O: Endian>(&mut self, held: &mut [Held]) {
        let mut kept = Vec::new();
        for held in held.iter_mut().filter(|held| held.place & COPIED != 0) {
            let Some((place, record)) =
                self.get(held.place).and_then(|copy| copy.split_at_checked(COPY_HEADER))
            else {
                continue;
            };
            let Ok((record, _)) = RawRecord::<O>::parse(record) else { continue };
            held.place = kept.len() as u64 | COPIED;
            kept.extend_from_slice(place);
            record.write(&mut kept);
        }
        self.bytes = kept;
    }
}

impl TimeOrder {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ready: VecDeque::new(),
            held: Vec::new(),
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

    /// Lets all go that is not later than `time`, in order.
    fn release<O: Endian>(&mut self, time: u64) {
        self.copies.compact::<O>(&mut self.held);
        let goes = |held: &Held| held.time <= time;
        let mut now = Vec::with_capacity(self.held.iter().filter(|held| goes(held)).count());
        self.held.retain(|held| {
            if goes(held) {
                now.push(*held);
            }
            !goes(held)
        });
        self.give(now);
    }

    /// Lets the earlier half of what is held go.
    fn release_half<O: Endian>(&mut self) {
        self.copies.compact::<O>(&mut self.held);
        let mut now = core::mem::take(&mut self.held);
        now.sort_by_key(|held| held.time);
        self.held = now.split_off(now.len() / 2);
        self.ready = now.into();
    }

    /// Lets records go, those of equal times as they are: a place among the copies tells nothing of one in the capture.
    fn give(&mut self, mut now: Vec<Held>) {
        now.sort_by_key(|held| held.time);
        self.ready = now.into();
    }

    /// A round is over: nothing earlier than the end of the round before it is still to come.
    fn end_round<O: Endian>(&mut self) {
        let until = core::mem::replace(&mut self.latest_of_last_round, self.latest);
        self.release::<O>(until);
    }

    fn is_full(&self) -> bool {
        self.held.len() >= self.limit || self.copies.bytes.len() >= COPIES_LIMIT
    }
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// The next record by time.
    pub(super) fn next_in_time_order(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        loop {
            let Some(order) = &mut self.order else { return Ok(None) };
            if let Some(held) = order.ready.pop_front() {
                order.given = order.given.max(held.time);
                return self.view_held(held).map(Some);
            }
            if order.ended {
                return Ok(None);
            }
            let Some(current) = self.advance()? else {
                if let Some(order) = &mut self.order {
                    order.ended = true;
                    order.release::<O>(u64::MAX);
                }
                continue;
            };
            let record = self.view(current)?;
            let kind = record.raw.kind();
            let time = record.time().unwrap_or(0);
            // Each file of a directory has all times: a round of one says nothing of those still to be read.
            if kind == RecordType::FINISHED_ROUND && self.data_file == 0 && self.more.is_empty() {
                if let Some(order) = &mut self.order {
                    order.end_round::<O>();
                }
            }
            if time == 0 {
                return self.view(current).map(Some);
            }
            self.hold(current, time)?;
        }
    }

    /// Holds the record that was found back.
    fn hold(&mut self, current: Current, time: u64) -> Result<(), FileError> {
        let Some(mut order) = self.order.take() else { return Ok(()) };
        let record = self.view(current);
        if let Ok(record) = &record {
            let place = if S::IN_MEMORY && record.inner.is_none() {
                record.offset | (record.data_file as u64) << DATA_FILE_SHIFT
            } else {
                order.copies.push(record)
            };
            order.held.push(Held { time, place });
        }
        let failed = record.err();
        if time < order.given {
            self.account.late = self.account.late.saturating_add(1);
        }
        order.latest = order.latest.max(time);
        if order.is_full() {
            order.release_half::<O>();
        }
        self.order = Some(order);
        failed.map_or(Ok(()), Err)
    }

    /// A record that was held back.
    fn view_held(&self, held: Held) -> Result<FileRecord<'_, O>, FileError> {
        if held.place & COPIED == 0 {
            let offset = held.place & ((1 << DATA_FILE_SHIFT) - 1);
            let data_file = usize::try_from(held.place >> DATA_FILE_SHIFT).unwrap_or(usize::MAX);
            let bytes = self.source_of(data_file).and_then(|source| source.at(offset)).unwrap_or_default();
            return self.record_at(bytes, Current::again(offset, None, data_file));
        }
        let copy = self.order.as_ref().and_then(|order| order.copies.get(held.place)).unwrap_or_default();
        let mut words = copy.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let mut word = || words.next().unwrap_or_default();
        let (offset, inner, data_file) = (word(), word(), word());
        let inner = Some(inner).filter(|&inner| inner != NOT_INNER);
        let data_file = usize::try_from(data_file).unwrap_or(usize::MAX);
        let bytes = copy.get(COPY_HEADER..).unwrap_or_default();
        self.record_at(bytes, Current::again(offset, inner, data_file))
    }
}

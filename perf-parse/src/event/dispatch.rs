//! Finds the event of a record.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::{ByteOrder, Endian};
use perf_abi::record::RecordType;

use super::Event;
use crate::layout::SampleLayout;
use crate::raw::word;
use crate::record::RawRecord;

/// Finds the event of a record by its id.
///
/// perf: `evlist__event2evsel`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispatch {
    /// Offset of the id in a sample's payload, in bytes from its start.
    sample: IdOffset,
    /// Distance of the id from the end of other records, in bytes.
    trailer: IdOffset,
    /// Offset of the time in a sample's payload, in bytes from its start.
    sample_time: IdOffset,
    /// Size of the trailer of other records in bytes, and the offset of the time in it.
    trailer_size: IdOffset,
    trailer_time: IdOffset,
    /// The event of each id from `first` on. Used if the ids are close together, as a kernel assigns them.
    table: Vec<u32>,
    first: u64,
    /// The event of each id, in ascending order of ids. Used if the ids are not close together.
    sorted: Vec<(u64, u32)>,
    /// The ids that were added after `table` or `sorted` was built. A stream of attrs would otherwise sort all ids
    /// again for each attr.
    recent: BTreeMap<u64, u32>,
    /// The layout of the first event, and whether the samples of all events have these leading fields and can be decoded.
    layout: Option<SampleLayout>,
    has_other_heads: bool,
    /// Whether the samples of an event have fields after the leading ones.
    has_tails: bool,
    /// Whether any of the ids that were indexed together belongs to several events.
    is_shared: bool,
}

/// The table entry of an id without an event. There is no table if an event has this index.
const NONE: u32 = u32::MAX;

/// Maximum number of table entries for each id, so that the table has at most twice the size of the ids.
const SPREAD: usize = 4;

/// The place of a field that is the same for all events, in bytes. It is beyond the end of every record if there are no
/// events yet, if an event does not have the field, or if two events have it at different places. A lookup then finds
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdOffset(u16);

impl IdOffset {
    /// There are no events yet.
    const UNSET: Self = Self(u16::MAX - 1);
    /// The place is not the same for all events.
    const UNKNOWN: Self = Self(u16::MAX);

    fn join(&mut self, place: Option<usize>) {
        let place = place.and_then(|at| u16::try_from(at).ok()).map_or(Self::UNKNOWN, Self);
        *self = if *self == Self::UNSET || *self == place { place } else { Self::UNKNOWN };
    }
}

impl Default for IdOffset {
    fn default() -> Self {
        Self::UNSET
    }
}

impl From<IdOffset> for usize {
    fn from(place: IdOffset) -> Self {
        place.0.into()
    }
}

impl Dispatch {
    /// Adds the places of an event's id and time.
    pub(super) fn place(&mut self, event: &Event) {
        self.sample.join(event.layout.sample_id_offset());
        self.trailer.join(event.layout.trailer_id_offset());
        self.sample_time.join(event.layout.sample_time_offset());
        self.trailer_size.join(Some(event.layout.sample_id_size()));
        self.trailer_time.join(event.layout.trailer_time_offset());
        let layout = self.layout.get_or_insert(event.layout);
        self.has_other_heads |= event.is_faulty || layout.head != event.layout.head;
        self.has_tails |= event.layout.has_tail;
    }

    /// Returns whether the samples of all events can be decoded, and have the same leading fields.
    pub(super) fn has_one_head(&self) -> bool {
        !self.has_other_heads
    }

    /// Returns whether the samples of an event have fields after the leading ones.
    pub(super) fn has_tails(&self) -> bool {
        self.has_tails
    }

    /// Adds the ids of the event at `index` of a stream. Removes the ids that an earlier event has, and returns the
    /// first of them.
    pub(super) fn add(&mut self, index: usize, ids: &mut Vec<u64>) -> Option<u64> {
        let index = u32::try_from(index).ok()?;
        keep_own(ids, |id| *self.recent.entry(id).or_insert(index) == index)
    }

    /// Indexes the ids of all events at once, in memory of at most twice their size.
    pub(super) fn index(&mut self, events: &[Arc<Event>]) {
        self.recent.clear();
        (self.table, self.sorted) = (Vec::new(), Vec::new());
        let ids = || events.iter().flat_map(|event| event.ids.iter().copied());
        let count = ids().count();
        let (Some(first), Some(last)) = (ids().min(), ids().max()) else { return };
        let span = last.checked_sub(first).and_then(|span| usize::try_from(span).ok()?.checked_add(1));
        let room = count.saturating_mul(SPREAD);
        if let Some(span) = span.filter(|&span| span <= room && events.len() < NONE as usize) {
            self.first = first;
            self.table = vec![NONE; span];
            for (index, event) in (0..).zip(events) {
                for id in &event.ids {
                    let place = usize::try_from(id.wrapping_sub(first)).ok();
                    // If events share an id, it belongs to the first of them.
                    match place.and_then(|place| self.table.get_mut(place)) {
                        Some(event) if *event == NONE => *event = index,
                        Some(event) => self.is_shared |= *event != index,
                        None => {}
                    }
                }
            }
            return;
        }
        let mut sorted: Vec<(u64, u32)> = Vec::with_capacity(count);
        for (index, event) in (0..).zip(events) {
            sorted.extend(event.ids.iter().map(|&id| (id, index)));
        }
        // Of equal ids, the one of the first event is sorted first, and is kept.
        sorted.sort_unstable();
        sorted.dedup_by(|(later, event), (id, first)| {
            let is_same = later == id;
            self.is_shared |= is_same && event != first;
            is_same
        });
        sorted.shrink_to_fit();
        self.sorted = sorted;
    }

    /// Removes from each event the ids that belong to another event. Returns the events that lose ids, each with the
    /// first id that it loses.
    pub(super) fn leave_own(&mut self, events: &mut [Arc<Event>]) -> Vec<(usize, u64)> {
        let mut losers = Vec::new();
        if core::mem::take(&mut self.is_shared) {
            for (index, event) in events.iter_mut().enumerate() {
                let lost = keep_own(&mut Arc::make_mut(event).ids, |id| self.find(id) == Some(index));
                losers.extend(lost.map(|id| (index, id)));
            }
        }
        losers
    }

    /// Returns the event of an id.
    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        let place = usize::try_from(id.wrapping_sub(self.first)).ok();
        match place.and_then(|place| self.table.get(place)) {
            Some(&event) if event != NONE => Some(event as usize),
            _ => self.find_sorted(id),
        }
    }

    #[inline(never)]
    fn find_sorted(&self, id: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|&(other, _)| other < id);
        let found = self.sorted.get(index).filter(|&&(other, _)| other == id).map(|&(_, event)| event);
        found.or_else(|| self.recent.get(&id).copied()).map(|event| event as usize)
    }

    /// Returns the index of the event of a kernel record; `None` if it is unknown.
    #[inline(always)]
    pub(super) fn event<O: ByteOrder>(
        &self,
        events: &[Arc<Event>],
        record: &RawRecord<'_, O>,
    ) -> Option<usize> {
        if record.kind() == RecordType::SAMPLE {
            return self.event_of_id(self.id_of_sample::<O>(record.order(), record.payload())?);
        }
        self.event_of_other(events, *record)
    }

    /// Returns the index of the event of a sample with this payload; `None` if it is unknown.
    #[inline(always)]
    pub(super) fn event_of_sample<O: Endian>(&self, payload: &[u8]) -> Option<usize> {
        self.event_of_id(self.id_of_sample::<O>((), payload)?)
    }

    /// Returns the index of the event of another record. A separate function, so that only the path of samples, which are
    /// nearly all records, is inlined.
    #[inline(never)]
    fn event_of_other<O: ByteOrder>(&self, events: &[Arc<Event>], record: RawRecord<'_, O>) -> Option<usize> {
        if !has_trailers(events.first()?) {
            return Some(0);
        }
        self.event_of_id(self.id_of_other(record)?)
    }

    #[inline(always)]
    fn event_of_id(&self, id: u64) -> Option<usize> {
        match self.find(id) {
            // perf leaves the id 0 in records that it synthesizes, and attributes them to the first event.
            None if id == 0 => Some(0),
            found => found,
        }
    }

    /// Returns the id of a record, if its event is found by an id.
    #[cold]
    pub(super) fn id<O: ByteOrder>(&self, events: &[Arc<Event>], record: &RawRecord<'_, O>) -> Option<u64> {
        if record.kind() == RecordType::SAMPLE {
            return self.id_of_sample::<O>(record.order(), record.payload());
        }
        if !has_trailers(events.first()?) {
            return None;
        }
        self.id_of_other(*record)
    }

    #[inline(always)]
    fn id_of_sample<O: ByteOrder>(&self, order: O::Value, payload: &[u8]) -> Option<u64> {
        word::<O>(order, payload, self.sample)
    }

    fn id_of_other<O: ByteOrder>(&self, record: RawRecord<'_, O>) -> Option<u64> {
        let payload = self.written(record);
        word::<O>(record.order(), payload, payload.len().checked_sub(self.trailer.into())?)
    }

    /// Returns the payload of a record other than a sample, without what the kernel did not write. Not inlined, as
    /// [`event_of_other`](Self::event_of_other).
    #[inline(never)]
    fn written<'r, O: ByteOrder>(&self, record: RawRecord<'r, O>) -> &'r [u8] {
        record.written(self.trailer_size.into())
    }

    /// Returns the time of a kernel record; `None` if it has no time, or if the place of the time is not the same for
    /// all events.
    #[inline(always)]
    pub(super) fn time<O: ByteOrder>(&self, record: &RawRecord<'_, O>) -> Option<u64> {
        let payload = record.payload();
        if record.kind() == RecordType::SAMPLE {
            return word::<O>(record.order(), payload, self.sample_time);
        }
        let payload = self.written(*record);
        let trailer = payload.len().checked_sub(self.trailer_size.into())?;
        word::<O>(record.order(), payload, trailer.checked_add(self.trailer_time.into())?)
    }
}

/// Removes the ids that are not the event's own, and returns the first of them.
fn keep_own(ids: &mut Vec<u64>, mut is_own: impl FnMut(u64) -> bool) -> Option<u64> {
    let mut lost = None;
    ids.retain(|&id| {
        let is_own = is_own(id);
        if !is_own {
            lost = lost.or(Some(id));
        }
        is_own
    });
    if lost.is_some() {
        ids.shrink_to_fit();
    }
    lost
}

/// Returns whether records other than samples have a trailer. Without one, they belong to the first event.
fn has_trailers(first: &Event) -> bool {
    first.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL)
}

//! Which event a record is of.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::Event;
use crate::record::RawRecord;
use crate::sample::word;

/// How records tell their event.
///
/// perf: `evlist__event2evsel`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispatch {
    /// Where the id is in a sample's payload, in bytes from its start.
    sample: Place,
    /// Where it is in other records, in bytes back from their end.
    trailer: Place,
    /// Where the time is in a sample's payload, in bytes from its start.
    sample_time: Place,
    /// Bytes of the trailer of other records, and where the time is in it.
    trailer_size: Place,
    trailer_time: Place,
    /// The event of each id from `first` on, where ids are close together, as a kernel gives them out.
    table: Vec<u16>,
    first: u64,
    /// The event of each id, by rising id, where they are not.
    sorted: Vec<(u64, u32)>,
    /// The ids that came since, so that a stream of attrs is not sorted again for each.
    recent: BTreeMap<u64, u32>,
    /// Whether events share ids, of those that were taken in at once.
    is_shared: bool,
}

/// Stands for no event, in a table; no event has this index where there is a table.
const NONE: u16 = u16::MAX;

/// Places of a table at most for each id, so that it is no larger than the ids are.
const SPREAD: usize = 4;

/// Where all events have a field, in bytes. Beyond every record where there are no events yet, one has none, or two have
/// it at different places: so nothing is found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u16);

impl Place {
    /// There are no events yet.
    const UNSET: Self = Self(u16::MAX - 1);
    /// It is not the same for all.
    const UNKNOWN: Self = Self(u16::MAX);

    fn join(&mut self, place: Option<usize>) {
        let place = place.and_then(|at| u16::try_from(at).ok()).map_or(Self::UNKNOWN, Self);
        *self = if *self == Self::UNSET || *self == place { place } else { Self::UNKNOWN };
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::UNSET
    }
}

impl From<Place> for usize {
    fn from(place: Place) -> Self {
        place.0.into()
    }
}

impl Dispatch {
    /// Takes in where an event has its id and its time.
    pub(super) fn place(&mut self, event: &Event) {
        self.sample.join(event.layout.sample_id_offset());
        self.trailer.join(event.layout.trailer_id_offset());
        self.sample_time.join(event.layout.sample_time_offset());
        self.trailer_size.join(Some(event.layout.sample_id_size()));
        self.trailer_time.join(event.layout.trailer_time_offset());
    }

    /// Takes in the ids of one event of a stream, that of index `index`. Those that an earlier event has are taken from it;
    /// the first of them.
    pub(super) fn add(&mut self, index: usize, ids: &mut Vec<u64>) -> Option<u64> {
        let index = u32::try_from(index).ok()?;
        keep_own(ids, |id| *self.recent.entry(id).or_insert(index) == index)
    }

    /// Takes in the ids of all events at once, into memory of at most twice their size.
    pub(super) fn index(&mut self, events: &[Event]) {
        self.recent.clear();
        (self.table, self.sorted) = (Vec::new(), Vec::new());
        let ids = || events.iter().flat_map(|event| event.ids.iter().copied());
        let count = ids().count();
        let (Some(first), Some(last)) = (ids().min(), ids().max()) else { return };
        let span = last.checked_sub(first).and_then(|span| usize::try_from(span).ok()?.checked_add(1));
        let room = count.saturating_mul(SPREAD);
        if let Some(span) = span.filter(|&span| span <= room && events.len() < usize::from(NONE)) {
            self.first = first;
            self.table = vec![NONE; span];
            for (index, event) in (0..).zip(events) {
                for id in &event.ids {
                    let place = usize::try_from(id.wrapping_sub(first)).ok();
                    // Of events that share an id, the first has it.
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
        // Of equal ids the one of the first event comes first, and stays.
        sorted.sort_unstable();
        sorted.dedup_by(|(later, event), (id, first)| {
            let is_same = later == id;
            self.is_shared |= is_same && event != first;
            is_same
        });
        sorted.shrink_to_fit();
        self.sorted = sorted;
    }

    /// Leaves each event only the ids that lead to it: which events lose some, and the first that each loses.
    pub(super) fn leave_own(&mut self, events: &mut [Event]) -> Vec<(usize, u64)> {
        let mut losers = Vec::new();
        if core::mem::take(&mut self.is_shared) {
            for (index, event) in events.iter_mut().enumerate() {
                let lost = keep_own(&mut event.ids, |id| self.find(id) == Some(index));
                losers.extend(lost.map(|id| (index, id)));
            }
        }
        losers
    }

    /// The event of an id.
    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        let place = usize::try_from(id.wrapping_sub(self.first)).ok();
        match place.and_then(|place| self.table.get(place)) {
            Some(&event) if event != NONE => Some(event.into()),
            _ => self.find_sorted(id),
        }
    }

    #[inline(never)]
    fn find_sorted(&self, id: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|&(other, _)| other < id);
        let found = self.sorted.get(index).filter(|&&(other, _)| other == id).map(|&(_, event)| event);
        found.or_else(|| self.recent.get(&id).copied()).map(|event| event as usize)
    }

    /// The index of the event of a record of the kernel's; `None` where it cannot be told.
    #[inline]
    pub(super) fn event<O: Endian>(&self, events: &[Event], record: &RawRecord<'_, O>) -> Option<usize> {
        match self.told(events, record)? {
            Told::First => Some(0),
            Told::Id(id) => match self.find(id) {
                // perf leaves the id zero in records that it makes up itself, and takes them for the first event's.
                None if id == 0 => Some(0),
                found => found,
            },
        }
    }

    /// The id that a record has, where it tells its event by one.
    #[cold]
    pub(super) fn id<O: Endian>(&self, events: &[Event], record: &RawRecord<'_, O>) -> Option<u64> {
        match self.told(events, record)? {
            Told::Id(id) => Some(id),
            Told::First => None,
        }
    }

    /// What a record of the kernel's says of its event.
    #[inline]
    fn told<O: Endian>(&self, events: &[Event], record: &RawRecord<'_, O>) -> Option<Told> {
        let first = events.first()?;
        let payload = record.payload();
        if record.kind() == RecordType::SAMPLE {
            word::<O>(payload, self.sample).map(Told::Id)
        } else if first.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            word::<O>(payload, payload.len().checked_sub(self.trailer.into())?).map(Told::Id)
        } else {
            Some(Told::First)
        }
    }

    /// When a record of the kernel's was made; `None` where it has no time, or not all events have it at one place.
    #[inline(always)]
    pub(super) fn time<O: Endian>(&self, record: &RawRecord<'_, O>) -> Option<u64> {
        let payload = record.payload();
        if record.kind() == RecordType::SAMPLE {
            return word::<O>(payload, self.sample_time);
        }
        let trailer = payload.len().checked_sub(self.trailer_size.into())?;
        word::<O>(payload, trailer.checked_add(self.trailer_time.into())?)
    }
}

/// Leaves an event the ids that are its own; the first that is not.
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

/// What a record says of its event.
enum Told {
    /// Nothing: it is taken for the first one's.
    First,
    /// Its id.
    Id(u64),
}

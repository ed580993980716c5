//! Which event a record is of.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::{Endian, U64};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::super::error::FileErrorKind;
use super::Event;
use crate::record::RawRecord;

/// How records tell their event.
///
/// perf: `evlist__event2evsel`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispatch {
    /// Where the id is in a sample's payload, in bytes from its start.
    sample: Place,
    /// Where it is in other records, in bytes back from their end.
    trailer: Place,
    /// The event of each id, by rising id.
    sorted: Vec<(u64, u32)>,
    /// The ids that came since, so that a stream of attrs is not sorted again for each.
    recent: BTreeMap<u64, u32>,
}

/// Where all events have their id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// There are no events yet.
    #[default]
    Unset,
    /// All have it here.
    At(usize),
    /// One has none, or two have it at different places.
    Unknown,
}

impl Place {
    fn join(&mut self, place: Option<usize>) {
        *self = match (*self, place) {
            (Self::Unset, Some(at)) => Self::At(at),
            (Self::At(all), Some(at)) if all == at => Self::At(at),
            _ => Self::Unknown,
        };
    }

    fn get(self) -> Option<usize> {
        match self {
            Self::At(at) => Some(at),
            Self::Unset | Self::Unknown => None,
        }
    }
}

impl Dispatch {
    /// Takes in where an event has its id.
    pub(super) fn place(&mut self, event: &Event) {
        self.sample.join(event.layout.sample_id_offset());
        self.trailer.join(event.layout.trailer_id_offset());
    }

    /// Takes in the ids of one event of a stream, that of index `index`.
    pub(super) fn add(&mut self, index: usize, ids: &[u64]) {
        let Ok(index) = u32::try_from(index) else { return };
        for &id in ids {
            // Of events that share an id, the first has it.
            self.recent.entry(id).or_insert(index);
        }
    }

    /// Takes in the ids of all events at once, into memory of just their size.
    pub(super) fn index(&mut self, events: &[Event]) {
        let mut sorted = Vec::with_capacity(events.iter().map(|event| event.ids.len()).sum());
        for (index, event) in (0..).zip(events) {
            sorted.extend(event.ids.iter().map(|&id| (id, index)));
        }
        // Of equal ids the one of the first event comes first, and is found.
        sorted.sort_unstable();
        self.sorted = sorted;
    }

    /// The event of an id.
    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|&(other, _)| other < id);
        let found = self.sorted.get(index).filter(|&&(other, _)| other == id).map(|&(_, event)| event);
        found.or_else(|| self.recent.get(&id).copied()).map(|event| event as usize)
    }

    /// The index of the record's event; `None` for the perf tool's own records, which have none.
    #[inline]
    pub(super) fn event<O: Endian>(
        &self,
        events: &[Event],
        record: &RawRecord<'_, O>,
    ) -> Result<Option<usize>, FileErrorKind> {
        let kind = record.kind();
        if kind.is_user() {
            return Ok(None);
        }
        match events {
            [] => Err(FileErrorKind::UnknownEvent { kind }),
            [first, ..] => self.by_id(first, record).map(Some),
        }
    }

    fn by_id<O: Endian>(&self, first: &Event, record: &RawRecord<'_, O>) -> Result<usize, FileErrorKind> {
        let kind = record.kind();
        let payload = record.payload();
        let at = if kind == RecordType::SAMPLE {
            self.sample.get()
        } else if first.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            self.trailer.get().and_then(|back| payload.len().checked_sub(back))
        } else {
            return Ok(0);
        };
        let id = at.and_then(|at| payload.get(at..)).and_then(|rest| U64::<O>::read_from_prefix(rest).ok());
        let Some((id, _)) = id else {
            return Err(FileErrorKind::UnknownEvent { kind });
        };
        match (self.find(id.get()), id.get()) {
            (Some(event), _) => Ok(event),
            // perf leaves the id zero in records that it makes up itself, and takes them for the first event's.
            (None, 0) => Ok(0),
            (None, id) => Err(FileErrorKind::UnknownId { kind, id }),
        }
    }
}

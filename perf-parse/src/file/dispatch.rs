//! Which event a record is of.

use alloc::vec::Vec;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::{Endian, U64};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::error::FileErrorKind;
use super::events::Event;
use crate::record::RawRecord;

/// How records tell their event; found once for all events of a file.
///
/// perf: `evlist__event2evsel`, `tools/perf/util/evlist.c`.
#[derive(Clone, Debug)]
pub(super) enum Dispatch {
    /// There are no events.
    None,
    /// There is one event: every record is of it.
    One,
    /// Records carry an id.
    ById {
        /// Where it is in a sample's payload, in bytes from its start; `None` if the events differ in that.
        sample: Option<usize>,
        /// Where it is in other records, in bytes back from their end; `None` if the events differ in that.
        trailer: Option<usize>,
        /// Whether the first event has trailers; if not, records other than samples are the first event's.
        has_trailer: bool,
        /// The index of the event of each id, by rising id.
        events: Vec<(u64, u32)>,
    },
}

impl Dispatch {
    pub(super) fn new<O: Endian>(events: &[Event<'_, O>]) -> Self {
        let first = match events {
            [] => return Self::None,
            [_] => return Self::One,
            [first, ..] => first,
        };
        let layouts = || events.iter().map(|event| event.layout);
        let mut by_id = Vec::new();
        for (index, event) in (0_u32..).zip(events) {
            by_id.extend(event.ids.iter().map(|id| (id.get(), index)));
        }
        by_id.sort_unstable();
        Self::ById {
            sample: common(layouts().map(|layout| layout.sample_id_offset())),
            trailer: common(layouts().map(|layout| layout.trailer_id_offset())),
            has_trailer: first.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL),
            events: by_id,
        }
    }

    /// The index of the record's event; `None` for the perf tool's own records, which have none.
    #[inline]
    pub(super) fn event<O: Endian>(&self, record: &RawRecord<'_, O>) -> Result<Option<usize>, FileErrorKind> {
        let kind = record.kind();
        if kind.is_user() {
            return Ok(None);
        }
        match self {
            Self::One => Ok(Some(0)),
            Self::None => Err(FileErrorKind::UnknownEvent { kind }),
            Self::ById { sample, trailer, has_trailer, events } => {
                let payload = record.payload();
                let at = if kind == RecordType::SAMPLE {
                    *sample
                } else if *has_trailer {
                    trailer.and_then(|back| payload.len().checked_sub(back))
                } else {
                    return Ok(Some(0));
                };
                let id = at
                    .and_then(|at| payload.get(at..))
                    .and_then(|rest| U64::<O>::read_from_prefix(rest).ok());
                let Some((id, _)) = id else {
                    return Err(FileErrorKind::UnknownEvent { kind });
                };
                match (find(events, id.get()), id.get()) {
                    (Some(event), _) => Ok(Some(event)),
                    // perf leaves the id zero in records that it makes up itself, and takes them for the first event's.
                    (None, 0) => Ok(Some(0)),
                    (None, id) => Err(FileErrorKind::UnknownId { kind, id }),
                }
            }
        }
    }
}

/// The event of an id; of several, the first in the file.
#[inline]
fn find(events: &[(u64, u32)], id: u64) -> Option<usize> {
    let index = events.partition_point(|&(other, _)| other < id);
    events.get(index).filter(|&&(other, _)| other == id).map(|&(_, event)| event as usize)
}

/// What all have in common.
fn common(mut places: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    let first = places.next()??;
    places.all(|place| place == Some(first)).then_some(first)
}

//! The events of a file: the attr section, ids and names.

use alloc::vec::Vec;

use perf_abi::attr::Attr;
use perf_abi::endian::{Endian, U64};
use perf_abi::feature::Feature;
use zerocopy::FromBytes;

use super::error::{FileError, FileErrorKind};
use super::features::FeatureSection;
use super::header::{FileHeader, Section};
use crate::error::Error;
use crate::layout::SampleLayout;

/// An event of a file.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a, O: Endian> {
    /// What it counts and records.
    pub attr: Attr,
    /// What a newer kernel's attr has behind the fields that this crate knows; empty for an attr of a known size.
    pub attr_tail: &'a [u8],
    /// Where everything is in its records.
    pub layout: SampleLayout,
    /// Why its samples cannot be decoded: the attr asks for what this crate does not know. Its other records can.
    pub fault: Option<Error>,
    /// The ids that records carry for it: one a cpu or task that it was opened for.
    pub ids: &'a [U64<O>],
    /// Its name, as the user gave it: from the feature `EVENT_DESC`, or the event types of old files. `None` where
    /// the file has neither.
    pub name: Option<&'a [u8]>,
}

/// Bytes of an entry behind its attr: the section of its ids.
const IDS: usize = 16;

pub(super) fn read<'a, O: Endian>(
    header: &FileHeader,
    bytes: &'a [u8],
    diagnostics: &mut Vec<FileError>,
) -> Result<Vec<Event<'a, O>>, FileError> {
    let entries =
        header.attrs.of(bytes, "header.attrs.size").map_err(|error| FileError { offset: 32, ..error })?;
    let stride = usize::try_from(header.attr_size).unwrap_or(usize::MAX);
    let chunks = entries.chunks_exact(stride);
    if !chunks.remainder().is_empty() {
        let must = "a multiple of attr_size";
        diagnostics.push(FileError::invalid("header.attrs.size", header.attrs.size, must, 32));
    }
    let mut events = Vec::with_capacity(chunks.len());
    // Ids of all events together can be no more than the file has words; more means that events share them.
    let mut ids_left = bytes.len() / 8;
    let mut offset = header.attrs.offset;
    for entry in chunks {
        let (attr, ids) = entry.split_at_checked(stride.saturating_sub(IDS)).unwrap_or((entry, &[]));
        let read =
            Attr::read::<O>(attr).map_err(|error| FileError::new(FileErrorKind::Attr(error), offset))?;
        let fault = SampleLayout::new(&read.attr).err();
        if let Some(error) = fault {
            let at = offset.saturating_add(u64::from(error.offset));
            diagnostics.push(FileError::new(FileErrorKind::Layout(error), at));
        }
        let ids_at = offset.saturating_add(attr.len() as u64);
        let ids = read_ids(ids, ids_at, bytes, ids_left).unwrap_or_else(|error| {
            diagnostics.push(error);
            &[]
        });
        ids_left = ids_left.saturating_sub(ids.len());
        let layout = SampleLayout::of_known(&read.attr);
        events.push(Event { attr: read.attr, attr_tail: read.tail, layout, fault, ids, name: None });
        offset = offset.saturating_add(header.attr_size);
    }
    Ok(events)
}

/// The ids that the section at the end of an entry points to.
fn read_ids<'a, O: Endian>(
    section: &[u8],
    at: u64,
    bytes: &'a [u8],
    most: usize,
) -> Result<&'a [U64<O>], FileError> {
    let truncated =
        FileErrorKind::Truncated { field: "attr.ids", needed: 16, available: section.len() as u64 };
    let Ok(([offset, size], _)) = <[U64<O>; 2]>::read_from_prefix(section) else {
        return Err(FileError::new(truncated, at));
    };
    let section = Section { offset: offset.get(), size: size.get() };
    let size_at = at.saturating_add(8);
    let ids = section.of(bytes, "attr.ids.size").map_err(|error| FileError { offset: size_at, ..error })?;
    let invalid = |must| FileError::invalid("attr.ids.size", section.size, must, size_at);
    let ids = <[U64<O>]>::ref_from_bytes(ids).map_err(|_| invalid("a multiple of 8"))?;
    if ids.len() > most {
        return Err(invalid("so small that the ids of all events fit into the file"));
    }
    Ok(ids)
}

/// Gives the events the names that the feature `EVENT_DESC` has for them.
pub(super) fn name<'a, O: Endian>(
    events: &mut [Event<'a, O>],
    features: &[FeatureSection<'a>],
    diagnostics: &mut Vec<FileError>,
) {
    let Some(section) = features.iter().find(|section| section.feature == Feature::EVENT_DESC) else {
        return;
    };
    let mut index = 0_usize;
    for described in section.event_desc::<O>() {
        match described {
            // perf writes the two in the same order; where a tool did not, the ids tell.
            Ok(described) => {
                let same = |event: &&mut Event<'a, O>| event.ids == described.ids;
                let event = match events.get_mut(index).filter(same) {
                    Some(event) => Some(event),
                    None => events.iter_mut().find(same),
                };
                if let Some(event) = event {
                    event.name = Some(described.name);
                }
            }
            Err(error) => diagnostics.push(error),
        }
        index = index.saturating_add(1);
    }
}

//! The attr section of a file.

use perf_abi::attr::Attr;
use perf_abi::endian::{Endian, U64};
use zerocopy::FromBytes;

use super::header::{FileHeader, SMALLEST_ENTRY, Section};
use super::image::FileImage;
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::event::{Events, shared_id};
use crate::limits::Limits;

/// Number of bytes of an entry after its attr: the section of its ids.
const IDS: usize = 16;

/// Reads the attrs of a file and their ids. An event whose ids cannot be read has none.
pub(super) fn read<O: Endian>(
    header: &FileHeader,
    image: FileImage<'_>,
    limits: &Limits,
    account: &mut Account,
) -> Result<Events, FileError> {
    if header.attrs.offset > image.len() {
        return Err(FileError::invalid("header.attrs.offset", header.attrs.offset, "inside the file", 24));
    }
    let entries = image
        .section(header.attrs, "header.attrs.size")
        .map_err(|error| FileError { offset: 32, ..error })?;
    let stride = usize::try_from(header.attr_size).unwrap_or(usize::MAX);
    let chunks = entries.chunks_exact(stride);
    if entries.len() < stride && entries.len() as u64 >= SMALLEST_ENTRY {
        let must = "at most the size of all attrs";
        account.note(FileError::invalid("header.attr_size", header.attr_size, must, 16));
    } else if !chunks.remainder().is_empty() {
        let must = "a multiple of attr_size";
        account.note(FileError::invalid("header.attrs.size", header.attrs.size, must, 32));
    }
    let mut events = Events::within(limits);
    events.reserve(chunks.len());
    // All events together have at most as many ids as the file has words. If there are more, events share them.
    let mut ids_left = usize::try_from(image.len() / 8).unwrap_or(usize::MAX);
    let mut offset = header.attrs.offset;
    for entry in chunks {
        let (attr, ids) = entry.split_at_checked(stride.saturating_sub(IDS)).unwrap_or((entry, &[]));
        let read =
            Attr::read::<O>(attr).map_err(|error| FileError::new(FileErrorKind::Attr(error), offset))?;
        let ids_at = offset.saturating_add(attr.len() as u64);
        let ids = read_ids::<O>(ids, ids_at, image, ids_left).unwrap_or_else(|error| {
            account.note(error);
            &[]
        });
        ids_left = ids_left.saturating_sub(ids.len());
        events.push(read, (ids.iter().map(|id| id.get()), ids_at), offset, account);
        offset = offset.saturating_add(header.attr_size);
    }
    events.index();
    Ok(events)
}

/// Removes from each event the ids that an earlier event has, and notes each such event. Call it after the events are
/// named: names are matched by all ids of an event.
pub(super) fn leave_shared_ids(header: &FileHeader, events: &mut Events, account: &mut Account) {
    for (index, id) in events.leave_own_ids() {
        // Offset of the entry's last part, which has the offset and size of its ids.
        let end = header.attr_size.saturating_mul((index as u64).saturating_add(1));
        let at = header.attrs.offset.saturating_add(end).saturating_sub(IDS as u64);
        account.note(shared_id(id, at));
    }
}

/// Reads the ids that the section at the end of an entry points to.
fn read_ids<'a, O: Endian>(
    section: &[u8],
    at: u64,
    image: FileImage<'a>,
    most: usize,
) -> Result<&'a [U64<O>], FileError> {
    let truncated =
        FileErrorKind::Truncated { field: "attr.ids", needed: 16, available: section.len() as u64 };
    let Ok(([offset, size], _)) = <[U64<O>; 2]>::read_from_prefix(section) else {
        return Err(FileError::new(truncated, at));
    };
    let section = Section { offset: offset.get(), size: size.get() };
    if section.offset > image.len() {
        return Err(FileError::invalid("attr.ids.offset", section.offset, "inside the file", at));
    }
    let size_at = at.saturating_add(8);
    let ids =
        image.section(section, "attr.ids.size").map_err(|error| FileError { offset: size_at, ..error })?;
    let invalid = |must| FileError::invalid("attr.ids.size", section.size, must, size_at);
    let ids = <[U64<O>]>::ref_from_bytes(ids).map_err(|_| invalid("a multiple of 8"))?;
    if ids.len() > most {
        return Err(invalid("so small that the ids of all events fit into the file"));
    }
    Ok(ids)
}

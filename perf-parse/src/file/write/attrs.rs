//! The size of the attrs of a capture, and their bytes.

use alloc::vec::Vec;

use perf_abi::attr::AttrVersion;
use perf_abi::endian::{Endian, U64};
use zerocopy::IntoBytes;

use super::error::WriteFileError;
use super::{EventFields, WriteOptions};
use crate::byte_str::ByteStr;
use crate::feature::Entries;
use crate::feature::codec::{put_count, put_number};
use crate::feature::event_desc::{put_named, put_sized};

/// Maximum number of bytes after the newest version: the kernel takes no attr larger than a page, and the largest page
/// has 64 KiB.
const MOST_TAIL: usize = 65536 - AttrVersion::NEWEST.size() as usize;

/// The size of all attrs of a capture. They have one size because perf finds the next attr of a file by the size of the
/// one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttrFormat {
    version: AttrVersion,
    /// Number of bytes after the newest version that this crate knows.
    tail: usize,
}

impl AttrFormat {
    pub(super) fn new(events: &[EventFields], options: &WriteOptions) -> Result<Self, WriteFileError> {
        let Some(version) = options.attr_version else {
            let version = events.iter().map(version).max().unwrap_or(AttrVersion::VER0);
            let tail = events.iter().map(|event| event.attr_tail.len()).max().unwrap_or_default();
            if tail > MOST_TAIL {
                let event = events.iter().position(|event| event.attr_tail.len() == tail);
                let (event, must) = (event.unwrap_or_default(), "at most 65392 bytes, as an attr has 65536");
                return Err(WriteFileError::Event { event, field: "attr_tail", must });
            }
            return Ok(Self { version, tail: tail.next_multiple_of(8) });
        };
        if !AttrVersion::ALL.contains(&version) {
            return Err(WriteFileError::Option { option: "attr_version", must: "one of AttrVersion::ALL" });
        }
        match events.iter().position(|event| event.attr_tail.iter().any(|&byte| byte != 0)) {
            Some(event) => Err(WriteFileError::Event {
                event,
                field: "attr_tail",
                must: "zeros, as the chosen attr_version has no room for it: leave attr_version out",
            }),
            None => Ok(Self { version, tail: 0 }),
        }
    }

    /// Returns the size of an attr in bytes.
    pub(super) fn size(self) -> u32 {
        self.version.size().saturating_add(u32::try_from(self.tail).unwrap_or(u32::MAX))
    }

    /// Appends the attr of the event at `index`.
    pub(super) fn put<O: Endian>(
        self,
        out: &mut Vec<u8>,
        index: usize,
        event: &EventFields,
    ) -> Result<(), WriteFileError> {
        let bytes = event.attr.write::<O>(self.version);
        let bytes = bytes.map_err(|error| WriteFileError::Attr { event: index, error })?;
        // The size includes the tail.
        put_sized::<O>(out, &bytes, self.size());
        if self.tail != 0 {
            out.extend_from_slice(&event.attr_tail);
            out.extend(core::iter::repeat_n(0, self.tail.saturating_sub(event.attr_tail.len())));
        }
        Ok(())
    }
}

/// Returns the oldest version that holds the attr and is not smaller than the attr was.
fn version(event: &EventFields) -> AttrVersion {
    if !event.attr_tail.is_empty() {
        return AttrVersion::NEWEST;
    }
    let as_read = |version: &AttrVersion| version.size() >= event.attr.size;
    let as_read = AttrVersion::ALL.iter().copied().find(as_read).unwrap_or(AttrVersion::NEWEST);
    as_read.max(event.attr.oldest_version())
}

/// Returns the payload of the feature `EVENT_DESC`; `None` without events, or if an event has no name.
///
/// perf: `write_event_desc`, `tools/perf/util/header.c`.
pub(super) fn event_desc<O: Endian>(
    events: &[EventFields],
    format: AttrFormat,
) -> Result<Option<Vec<u8>>, WriteFileError> {
    let in_event = |event| move |(field, must)| WriteFileError::Event { event, field, must };
    if events.is_empty() {
        return Ok(None);
    }
    let mut out = Vec::new();
    put_count::<O>(&mut out, events.len(), "index").map_err(in_event(0))?;
    put_number::<O>(&mut out, format.size());
    for (index, event) in events.iter().enumerate() {
        let Some(name) = &event.name else { return Ok(None) };
        format.put::<O>(&mut out, index, event)?;
        put_named::<O>(&mut out, ByteStr::new(name), Entries::from(&event.ids)).map_err(in_event(index))?;
    }
    Ok(Some(out))
}

/// Appends ids.
pub(super) fn ids<O: Endian>(out: &mut Vec<u8>, ids: &[u64]) {
    for &id in ids {
        out.extend_from_slice(U64::<O>::new(id).as_bytes());
    }
}

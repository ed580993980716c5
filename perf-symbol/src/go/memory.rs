//! The segments of a file by address.

use core::ops::Range;

use object::elf;

use crate::bytes::FileBytes;
use crate::image::ElfImage;

/// A segment with its bytes in the file.
#[derive(Clone, Debug)]
pub(super) struct LoadedSegment {
    pub(super) address: u64,
    pub(super) bytes: FileBytes,
    pub(super) is_executable: bool,
    pub(super) is_writable: bool,
}

impl LoadedSegment {
    /// Returns the addresses whose bytes are in the file.
    fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes.len() as u64)
    }
}

/// The segments of a file.
#[derive(Clone, Debug)]
pub(super) struct SegmentMemory(Vec<LoadedSegment>);

impl SegmentMemory {
    /// Returns the segments that have bytes in the file.
    pub(super) fn of(image: &ElfImage) -> Self {
        let segments = image.headers().iter().filter_map(|header| {
            let end = header.offset.checked_add(header.file_size)?;
            Some(LoadedSegment {
                address: header.address,
                bytes: image.bytes().slice(header.offset..end)?,
                is_executable: header.flags & elf::PF_X.0 != 0,
                is_writable: header.flags & elf::PF_W.0 != 0,
            })
        });
        Self(segments.collect())
    }

    pub(super) fn segments(&self) -> &[LoadedSegment] {
        &self.0
    }

    /// Returns the bytes from an address on, to the end of its segment.
    pub(super) fn from(&self, address: u64) -> Option<FileBytes> {
        let segment = self.0.iter().find(|it| it.range().contains(&address))?;
        segment.bytes.slice(address.checked_sub(segment.address)?..segment.bytes.len() as u64)
    }

    /// Returns whether one executable segment has all bytes of a range of addresses.
    pub(super) fn is_code(&self, addresses: &Range<u64>) -> bool {
        let has = |it: &LoadedSegment| it.range().start <= addresses.start && addresses.end <= it.range().end;
        self.0.iter().any(|it| it.is_executable && has(it))
    }
}

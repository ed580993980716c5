//! The parts of a file outside of its records.

use super::header::Section;
use crate::error::{FileError, FileErrorKind};

/// A file without the bytes between its head and its tail: those of the records, which are read later. A file in memory
/// is all head.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileImage<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    /// Size of the file in bytes.
    len: u64,
}

impl<'a> FileImage<'a> {
    /// Creates the image of a file in memory.
    pub(super) fn whole(bytes: &'a [u8]) -> Self {
        Self { head: bytes, tail: &[], len: bytes.len() as u64 }
    }

    /// Creates the image of a file of `len` bytes, whose first and last bytes are in memory.
    #[cfg(feature = "std")]
    pub(super) fn of_parts(head: &'a [u8], tail: &'a [u8], len: u64) -> Self {
        Self { head, tail, len }
    }

    /// Returns the size of the file in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bytes of a section.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Truncated`] if the section is not entirely in the file; its offset is the start of the section.
    pub(super) fn section(&self, section: Section, field: &'static str) -> Result<&'a [u8], FileError> {
        let find = || {
            let end = section.offset.checked_add(section.size)?;
            let tail = self.len.saturating_sub(self.tail.len() as u64);
            let (part, base) = if end <= self.head.len() as u64 { (self.head, 0) } else { (self.tail, tail) };
            let start = usize::try_from(section.offset.checked_sub(base)?).ok()?;
            part.get(start..usize::try_from(end.checked_sub(base)?).ok()?)
        };
        find().ok_or_else(|| {
            let available = self.len.saturating_sub(section.offset);
            FileError::new(
                FileErrorKind::Truncated { field, needed: section.size, available },
                section.offset,
            )
        })
    }
}

impl Section {
    /// Returns the bytes of the section in a file in memory.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Truncated`] if the section is not entirely in the file; its offset is the start of the section.
    pub fn of<'a>(&self, bytes: &'a [u8], field: &'static str) -> Result<&'a [u8], FileError> {
        FileImage::whole(bytes).section(*self, field)
    }
}

//! A file on disk that is read by windows, without mapping it.

use alloc::sync::Arc;
use core::ops::Range;
use std::fs::File;
use std::io::{self, Read};

/// A range of a file. Each has its own position, so that several walks can read one file.
#[derive(Clone, Debug)]
pub(in crate::file) struct Window {
    file: Arc<File>,
    range: Range<u64>,
}

impl Window {
    pub(in crate::file) fn new(file: &Arc<File>, range: Range<u64>) -> Self {
        Self { file: Arc::clone(file), range }
    }

    /// Returns the part of the window that is in a range of offsets of the file.
    pub(in crate::file) fn part(&self, range: &Range<u64>) -> Self {
        let (start, end) = (self.range.start.max(range.start), self.range.end.min(range.end));
        Self::new(&self.file, start.min(end)..end)
    }

    /// Returns the range of offsets of the file.
    pub(in crate::file) fn range(&self) -> Range<u64> {
        self.range.clone()
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// On other systems, files cannot be read by windows.
#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        let count = read_at(&self.file, buffer.get_mut(..most).unwrap_or_default(), self.range.start)?;
        self.range.start = self.range.start.saturating_add(count as u64);
        Ok(count)
    }
}

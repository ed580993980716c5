//! A range of storage that is read by windows, without having all of it in memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use std::io::{self, Read};

use super::random_access::RandomAccess;

/// A range of storage. Each has its own position, so that several walks can read the same storage.
#[derive(Clone)]
pub(in crate::file) struct Window<'a> {
    storage: Arc<dyn RandomAccess + 'a>,
    range: Range<u64>,
}

impl core::fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Window").field("range", &self.range).finish_non_exhaustive()
    }
}

impl<'a> Window<'a> {
    pub(in crate::file) fn new(storage: &Arc<dyn RandomAccess + 'a>, range: Range<u64>) -> Self {
        Self { storage: Arc::clone(storage), range }
    }

    /// Returns the part of the window that is in a range of offsets of the storage.
    pub(in crate::file) fn part(&self, range: &Range<u64>) -> Self {
        let (start, end) = (self.range.start.max(range.start), self.range.end.min(range.end));
        Self::new(&self.storage, start.min(end)..end)
    }

    /// Returns the range of offsets of the storage.
    pub(in crate::file) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Reads all of the window; fewer bytes if the storage ends before.
    pub(in crate::file) fn read_all(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        let count = self.storage.read_from(self.range.start, buffer.get_mut(..most).unwrap_or_default())?;
        self.range.start = self.range.start.saturating_add(count as u64);
        Ok(count)
    }
}

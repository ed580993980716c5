//! Storage that is read at any offset: an open file, bytes in memory, or anything that can seek.

use alloc::sync::Arc;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use super::{ByteSource, Slice};

/// Storage that several walks can read at once, each at an offset of its own.
pub(in crate::file) trait RandomAccess: Send + Sync {
    /// Reads bytes from `offset` on, as [`Read::read`] does: 0 bytes at the end.
    fn read_from(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

#[cfg(unix)]
impl RandomAccess for std::fs::File {
    fn read_from(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }
}

#[cfg(windows)]
impl RandomAccess for std::fs::File {
    fn read_from(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }
}

/// Returns the storage of an open file.
#[cfg(any(unix, windows))]
pub(in crate::file) fn of_file(file: std::fs::File) -> Arc<dyn RandomAccess> {
    Arc::new(file)
}

/// Returns the storage of an open file. Other systems have no read at an offset, so reads have to take turns.
#[cfg(not(any(unix, windows)))]
pub(in crate::file) fn of_file(file: std::fs::File) -> Arc<dyn RandomAccess> {
    Arc::new(Seekable(Mutex::new(file)))
}

/// A reader with one position, which each read sets.
pub(in crate::file) struct Seekable<R>(Mutex<R>);

impl<R: Read + Seek> Seekable<R> {
    /// Returns the storage of `reader`, and its size in bytes.
    pub(in crate::file) fn new(mut reader: R) -> io::Result<(Self, u64)> {
        let len = reader.seek(SeekFrom::End(0))?;
        Ok((Self(Mutex::new(reader)), len))
    }
}

impl<R: Read + Seek + Send> RandomAccess for Seekable<R> {
    fn read_from(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // A panic in an earlier read changed nothing but the position, which is set here.
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(offset))?;
        reader.read(buffer)
    }
}

impl RandomAccess for Slice<'_> {
    fn read_from(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.at(offset).unwrap_or_default().read(buffer)
    }
}

//! Captures that the program reads itself.

use core::ffi::{c_int, c_void};
use std::io::{self, Read, Seek, SeekFrom};

use crate::versioned::versioned;

/// Callbacks with which the library reads a capture. They are called by any thread that uses a handle of the capture, but never by
/// two at once. They may not throw, and may not call the library with a handle of the same capture.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_source {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The first argument of the callbacks.
    pub user: *mut c_void,
    /// Number of bytes of the capture.
    pub length: u64,
    /// Reads up to `size` bytes at `offset` into `buffer`. Returns how many it read, 0 at the end, or a negative number if it
    /// failed.
    pub read_at: Option<
        unsafe extern "C" fn(user: *mut c_void, offset: u64, buffer: *mut c_void, size: usize) -> isize,
    >,
    /// Called once, after the last read, when the last handle of the capture is freed or opening it failed; may be NULL.
    pub close: Option<unsafe extern "C" fn(user: *mut c_void)>,
}

versioned!(perfdata_source);

/// A function that takes a part of an export. Returns 0, or another number to cancel. It may not throw.
pub type perfdata_write_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void, size: usize) -> c_int>;

/// The bytes that callbacks read.
#[derive(Debug)]
pub(crate) struct CallbackSource {
    source: perfdata_source,
    position: u64,
}

// SAFETY: the program promises that any thread may call its callbacks, one at a time.
unsafe impl Send for CallbackSource {}

impl CallbackSource {
    pub(crate) fn new(source: perfdata_source) -> Self {
        Self { source, position: 0 }
    }

    pub(crate) fn can_read(&self) -> bool {
        self.source.read_at.is_some()
    }
}

impl Read for CallbackSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.length.saturating_sub(self.position);
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(read_at) = self.source.read_at.filter(|_| size > 0) else { return Ok(0) };
        // SAFETY: the buffer has room for `size` bytes, and `user` is what the program gave with the callback.
        let read = unsafe { read_at(self.source.user, self.position, buffer.as_mut_ptr().cast(), size) };
        let read = usize::try_from(read).map_err(|_| io::Error::other("the callback read_at failed"))?;
        if read > size {
            return Err(io::Error::other("the callback read_at returned more than it was asked for"));
        }
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for CallbackSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.source.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Drop for CallbackSource {
    fn drop(&mut self) {
        if let Some(close) = self.source.close {
            // SAFETY: it is called once, with what the program gave with it.
            unsafe { close(self.source.user) };
        }
    }
}

//! Maps files for reading: the one place that has the unsafe code for it.
//!
//! A [`FileMapping`] is the bytes of a file, without reading them: the kernel reads a page when it is touched, and drops it
//! when memory is short. `perf_parse::Reader::new` takes such bytes, and so do the file sources of `perf-symbol`.
//!
//! # When not to map
//!
//! - **Files that shrink.** If another process truncates the file while it is mapped, an access to a byte past the new end
//!   ends this process with SIGBUS (on Windows the truncation fails instead). A handler cannot repair this in safe code.
//!   Map files that are complete, such as a capture whose recorder has ended; read others, such as a capture that is still
//!   written to, uploads, or files of users that one does not trust, with `perf_parse::Reader::open` or
//!   `Reader::from_file`, which return an error.
//! - **Files on network or removable storage.** An error of the storage is SIGBUS, too.
//! - **Files that change.** If another process writes to the file, the mapped bytes change. A Rust program may assume that
//!   the bytes of a slice do not; what it does then is not defined by the language. The crates of this workspace check every
//!   length against the slice, whose size is fixed, and hold no reference to what a changed byte described before, so that
//!   they return other values or errors. Do not parse a mapped file with code that relies on a check of bytes that it
//!   reads again, such as `str::from_utf8_unchecked`.
//! - **Pipes, devices, files of `/proc`.** They cannot be mapped, or have no size. [`FileMapping::open`] refuses what is not a
//!   regular file, and a file of size 0 is mapped as no bytes.
//!
//! # Examples
//!
//! ```no_run
//! use std::thread;
//!
//! use perf_mmap::FileMapping;
//! use perf_parse::Reader;
//! use perf_parse::file::EventRecords;
//!
//! let file = FileMapping::open("perf.data")?;
//! let reader = Reader::new(&file)?;
//! let count = |block: EventRecords<'_>| block.flatten().filter(|record| record.sample().is_some()).count();
//! let samples: usize = thread::scope(|scope| {
//!     let threads: Vec<_> = reader.blocks(4).map(|block| scope.spawn(move || count(block))).collect();
//!     threads.into_iter().map(|thread| thread.join().unwrap()).sum()
//! });
//! println!("{samples} samples");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

use core::ops::Deref;
use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file that is mapped for reading: its bytes, as many as it had when it was mapped.
///
/// Costs address space and the kernel's tables, no memory for the content. It stays mapped when the file is closed, removed or
/// replaced, until it is dropped. See the [crate](self) for when not to map.
#[derive(Debug)]
pub struct FileMapping {
    /// `None` for a file without bytes, which cannot be mapped on every system.
    map: Option<Mmap>,
}

impl FileMapping {
    /// Maps the file at a path.
    ///
    /// # Errors
    ///
    /// Those of [`File::open`] and of [`new`](Self::new). Opening a FIFO waits for its writer; look at its metadata before.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::new(&File::open(path)?)
    }

    /// Maps an open file, from its start, whatever its position.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is not a regular file. Otherwise the error of the system: a file
    /// that may not be read, a file system that cannot map, no address space left.
    pub fn new(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "only regular files can be mapped"));
        }
        if metadata.len() == 0 {
            return Ok(Self { map: None });
        }
        map(file).map(|map| Self { map: Some(map) })
    }

    /// Releases the memory of the pages that were read. The bytes stay: the next access reads them again, usually from the
    /// kernel's cache. For programs that map many files and need most of them once. Has an effect on Linux; other systems
    /// release pages when they need them.
    pub fn release(&self) {
        self.map.iter().for_each(release);
    }
}

impl Deref for FileMapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl AsRef<[u8]> for FileMapping {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[allow(unsafe_code, reason = "mapping a file is unsafe")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and lives as long as the slices made from it. Its size is fixed, so that every access is
    // within it. What other processes can do to the file, and that SIGBUS or other bytes are the result, is in the crate's
    // documentation, which leaves the choice to the caller.
    unsafe { Mmap::map(file) }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "memmap2 marks every advice that may drop pages as unsafe")]
fn release(map: &Mmap) {
    // SAFETY: the mapping is read-only, so no page differs from the file: an access after this call gets what the file has, as
    // one before it does.
    let released = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    // Without it, the pages take memory until they are needed elsewhere.
    drop(released);
}

#[cfg(not(target_os = "linux"))]
fn release(_: &Mmap) {}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

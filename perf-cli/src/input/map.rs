//! The only unsafe code of this crate.

#![allow(unsafe_code, reason = "mapping a file is unsafe")]

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a file for reading.
pub(super) fn file(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is private and read-only, and lives as long as the slices made from it. If another process
    // writes to the file, bytes change under us. No code here relies on them staying the same: every length is checked
    // against the slice, whose size is fixed. If another process truncates the file, a later access ends this process
    // with SIGBUS. That loses the output and nothing else, and --no-mmap avoids it.
    unsafe { Mmap::map(file) }
}

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

/// Releases the pages of a mapped file. An access reads them again.
#[cfg(target_os = "linux")]
pub(super) fn release(map: &Mmap) {
    // SAFETY: the mapping is private and read-only, so no page differs from the file: an access after this call gets what the
    // file has, as one before it does.
    let released = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    // Without it, the pages take memory until they are needed elsewhere.
    drop(released);
}

/// Other systems release pages by themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn release(_: &Mmap) {}

//! The holes of sparse files.

use core::ops::Range;
use std::fs::{File, Metadata};
use std::os::linux::fs::MetadataExt;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Returns the ranges of zeros that are not stored: at most one more than there are stored ranges. Empty if the file
/// system does not report them, which costs only time.
pub(super) fn holes(file: &File, metadata: &Metadata) -> Vec<Range<u64>> {
    let len = metadata.len();
    let mut holes = Vec::new();
    // `st_blocks` counts blocks of 512 bytes.
    if metadata.st_blocks().saturating_mul(512) >= len {
        return holes;
    }
    let mut at = 0;
    while at < len {
        // There is always a hole after the last stored byte. A file system without support reports no other.
        let Ok(start) = seek(file, SeekFrom::Hole(at)) else { break };
        let end = match seek(file, SeekFrom::Data(start)) {
            Ok(end) => end,
            // Nothing is stored after the hole.
            Err(Errno::NXIO) => len,
            Err(_) => break,
        };
        if start < end {
            holes.push(start..end);
        }
        at = end;
    }
    holes
}

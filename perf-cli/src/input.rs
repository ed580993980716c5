//! The capture's bytes: the one place where a file is mapped.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::Failure;

/// The bytes of a capture.
#[derive(Debug)]
pub(crate) enum Input {
    /// A mapped file.
    Mapped(Mmap),
    /// What cannot be mapped, read whole: a pipe, a file of `/proc`, an empty file.
    Read(Vec<u8>),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let metadata = file.metadata().map_err(|error| format!("{name}: {error}"))?;
        if metadata.is_dir() {
            return Err(Failure(format!(
                "{name}: is a directory; the records of a directory capture start at {name}/data"
            )));
        }
        if !metadata.is_file() || metadata.len() == 0 {
            let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
            return Ok(Self::Read(bytes));
        }
        // SAFETY: the mapping is private and read-only, and lives as long as the slices made of it. Another process
        // that writes to the file meanwhile changes bytes under us, which no decision here relies on staying the
        // same: every length is checked against the slice, whose size is fixed. One that truncates the file makes
        // a later access end this process by SIGBUS, which loses the output and nothing else.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|error| format!("{name}: cannot be mapped: {error}"))?;
        Ok(Self::Mapped(map))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

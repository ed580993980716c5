//! The bytes of a capture.

use perf_parse::{FileError, Reader};

use crate::slices::SlicedFile;

/// Bytes that are in memory, or read when they are needed.
#[derive(Debug)]
pub(crate) enum CaptureSource {
    Bytes(Vec<u8>),
    Slices(SlicedFile),
}

impl CaptureSource {
    /// Opens the capture. Costs little: its records are not read.
    pub(crate) fn open(&self) -> Result<Reader<'_>, FileError> {
        match self {
            Self::Bytes(bytes) => Reader::new(bytes),
            Self::Slices(file) => Reader::from_seekable(file.open()),
        }
    }

    /// Returns the number of bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Slices(file) => file.size(),
        }
    }
}

//! Errors of jitdumps.

use std::{fmt, io};

/// The reason why a jitdump, or one of its records, cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum JitdumpError {
    /// The file does not begin with the header of a jitdump of version 1.
    Header {
        /// The field of the header.
        field: &'static str,
        /// What the field must be.
        must: &'static str,
    },
    /// A record has a field that contradicts its size. The next record can be read.
    Record {
        /// Offset of the record from the start of the file.
        offset: u64,
        /// The field, as the specification calls it.
        field: &'static str,
        /// What the field must be.
        must: &'static str,
    },
    /// A record is smaller than what each record begins with, so that the next one cannot be found.
    RecordSize {
        /// Offset of the record from the start of the file.
        offset: u64,
        /// Size of the record in bytes.
        size: u32,
    },
    /// A record is larger than [`JitdumpReader::with_max_record`](super::JitdumpReader::with_max_record) allows. The next
    /// record can be read.
    TooLarge {
        /// Offset of the record from the start of the file.
        offset: u64,
        /// Size of the record in bytes.
        size: u32,
    },
    /// The file cannot be read.
    Io(io::Error),
}

impl JitdumpError {
    pub(super) fn in_record(offset: u64, (field, must): (&'static str, &'static str)) -> Self {
        Self::Record { offset, field, must }
    }
}

impl fmt::Display for JitdumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { field, must } => write!(f, "header of the jitdump: {field}: must be {must}"),
            Self::Record { offset, field, must } => {
                write!(f, "{offset:#x}: record of a jitdump: {field}: must be {must}")
            }
            Self::RecordSize { offset, size } => {
                write!(f, "{offset:#x}: record of a jitdump: total_size: must be 16 or more, is {size}")
            }
            Self::TooLarge { offset, size } => {
                write!(f, "{offset:#x}: record of a jitdump: {size} bytes are more than the reader allows")
            }
            Self::Io(error) => write!(f, "the jitdump cannot be read: {error}"),
        }
    }
}

impl std::error::Error for JitdumpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

//! Errors of a merge.

use core::fmt::{Display, Formatter};

use crate::file::write::WriteFileError;

/// Why captures cannot be merged.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureMergeError {
    /// A capture does not fit to those before it.
    Differ {
        /// The number of the capture, from 0.
        capture: usize,
        /// What differs: a feature, a field of an attr, or a type of records.
        field: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// The result cannot be written.
    Write(WriteFileError),
}

impl Display for CaptureMergeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Differ { capture, field, must } => {
                write!(f, "capture {}: {field}: must be {must}", capture.saturating_add(1))
            }
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CaptureMergeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Differ { .. } => None,
            Self::Write(error) => Some(error),
        }
    }
}

impl From<WriteFileError> for CaptureMergeError {
    fn from(error: WriteFileError) -> Self {
        Self::Write(error)
    }
}

//! What can be wrong with tracing data, with a format, and with the raw data of a sample.

use core::fmt;

use perf_abi::feature::Feature;

use crate::error::{Error, ErrorKind};
use crate::file::{FeatureSection, FileError, FileErrorKind};

/// Why tracing data, or a format in it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracingError {
    /// What is wrong, and in which field.
    pub kind: TracingErrorKind,
    /// Where: bytes from the start of the tracing data; for a format parsed alone, from the start of its text.
    pub offset: u32,
}

/// What is wrong with tracing data or a format.
///
/// | kind | when | offset |
/// |---|---|---|
/// | [`Truncated`](Self::Truncated) | the data ends within a field | where the field begins |
/// | [`Unterminated`](Self::Unterminated) | a string has no NUL | where the string begins |
/// | [`OutOfRange`](Self::OutOfRange) | a format has more fields, or a longer name of one, than it may | the field's line |
/// | [`Invalid`](Self::Invalid) | something stands where something else must | where it stands |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TracingErrorKind {
    /// The data ends before the field does; the offset is where the field begins.
    Truncated {
        /// The field.
        field: &'static str,
        /// Bytes the field needs.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A string has no NUL; the offset is where the string begins.
    Unterminated {
        /// The field.
        field: &'static str,
    },
    /// A format has more fields, or a longer name of one, than it may; the offset is where the line of that field begins.
    OutOfRange {
        /// What there is more of.
        field: &'static str,
        /// How many there are.
        value: u64,
        /// The most there may be.
        max: u64,
    },
    /// Something stands where something else must.
    Invalid {
        /// The field.
        field: &'static str,
        /// The byte at the offset; `None` at the end of a format's text.
        found: Option<u8>,
        /// What must stand there.
        must: &'static str,
    },
}

impl TracingError {
    pub(super) const fn invalid(
        field: &'static str,
        found: Option<u8>,
        must: &'static str,
        offset: u32,
    ) -> Self {
        Self { kind: TracingErrorKind::Invalid { field, found, must }, offset }
    }

    /// The error with its place in the file that has the tracing data as a feature.
    #[must_use]
    pub fn in_file(&self, section: &FeatureSection<'_>) -> FileError {
        let of_feature = |kind| {
            let error = Error::new(kind, self.offset);
            FileErrorKind::Feature { feature: Feature::TRACING_DATA, error }
        };
        let kind = match self.kind {
            TracingErrorKind::Truncated { field, needed, available } => {
                of_feature(ErrorKind::Truncated { field, needed, available })
            }
            TracingErrorKind::Unterminated { field } => of_feature(ErrorKind::Unterminated { field }),
            TracingErrorKind::OutOfRange { field, value, max } => {
                of_feature(ErrorKind::OutOfRange { field, value, max })
            }
            TracingErrorKind::Invalid { field, found: None, .. } => {
                of_feature(ErrorKind::Truncated { field, needed: 1, available: 0 })
            }
            TracingErrorKind::Invalid { field, found: Some(byte), must } => {
                FileErrorKind::Invalid { field, value: u64::from(byte), must }
            }
        };
        FileError { offset: section.offset.saturating_add(u64::from(self.offset)), kind }
    }
}

impl TracingErrorKind {
    /// The field that is wrong.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match *self {
            Self::Truncated { field, .. }
            | Self::Unterminated { field }
            | Self::OutOfRange { field, .. }
            | Self::Invalid { field, .. } => field,
        }
    }
}

/// What the cursor says: it knows of no other faults.
impl From<Error> for TracingError {
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Truncated { field, needed, available } => {
                TracingErrorKind::Truncated { field, needed, available }
            }
            other => TracingErrorKind::Unterminated { field: other.field() },
        };
        Self { kind, offset: error.offset }
    }
}

impl fmt::Display for TracingErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, available, .. } => {
                write!(f, "needs {needed} bytes, the tracing data has {available} left")
            }
            Self::Unterminated { .. } => f.write_str("has no NUL before the tracing data ends"),
            Self::OutOfRange { value, max, .. } => {
                write!(f, "is {value}, but at most {max} fit")
            }
            Self::Invalid { found: Some(byte), must, .. } => {
                write!(f, "has byte {byte:#04x}, but must be {must}")
            }
            Self::Invalid { found: None, must, .. } => write!(f, "ends, but must be {must}"),
        }
    }
}

impl fmt::Display for TracingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}: {}", self.offset, self.kind.field(), self.kind)
    }
}

impl core::error::Error for TracingError {}

/// A field that is not in the raw data, or only in part; the other fields are not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError<'a> {
    /// The field's name.
    pub field: &'a [u8],
    /// Where it begins, in bytes from the start of the raw data; for a dynamic array, where its elements begin.
    pub offset: u64,
    /// Bytes it needs from there.
    pub needed: u64,
    /// Bytes of all the raw data.
    pub available: u64,
}

impl fmt::Display for FieldError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, offset, needed, available } = self;
        write!(f, "{}: needs {needed} bytes at {offset}, the raw data has {available}", field.escape_ascii())
    }
}

impl core::error::Error for FieldError<'_> {}

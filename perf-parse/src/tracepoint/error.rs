//! Errors of tracing data, of formats, and of the raw data of samples.

use core::fmt;

use perf_abi::feature::Feature;

use crate::error::{Error, ErrorKind, FileError, FileErrorKind};

/// The reason why tracing data, or a format in it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TracingError {
    /// The fault and its field.
    pub kind: TracingErrorKind,
    /// Offset of the fault: bytes from the start of the tracing data or, for a format parsed alone, from the start of
    /// its text.
    pub offset: u32,
}

/// A fault of tracing data or of a format.
///
/// | kind | fault | offset |
/// |---|---|---|
/// | [`Truncated`](Self::Truncated) | the data ends within a field | start of the field |
/// | [`Unterminated`](Self::Unterminated) | a string has no NUL | start of the string |
/// | [`OutOfRange`](Self::OutOfRange) | a format has too many fields, or a field with too long a name | start of the field's line |
/// | [`Invalid`](Self::Invalid) | the data at the offset is invalid | start of the invalid data |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TracingErrorKind {
    /// The data ends before the field does. The offset is the start of the field.
    Truncated {
        /// Name of the field.
        field: &'static str,
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
    /// A string has no NUL. The offset is the start of the string.
    Unterminated {
        /// Name of the field.
        field: &'static str,
    },
    /// A format has too many fields, or a field with too long a name. The offset is the start of the field's line.
    OutOfRange {
        /// Name of what exceeds its maximum.
        field: &'static str,
        /// Actual number.
        value: u64,
        /// Maximum number.
        max: u64,
    },
    /// The data at the offset is invalid.
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// The byte at the offset; `None` at the end of a format's text.
        found: Option<u8>,
        /// What must be at the offset.
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

    /// Returns the error with its offset in the capture. The tracing data begins `start` bytes into the capture.
    #[must_use]
    pub fn in_file(&self, start: u64) -> FileError {
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
        FileError { offset: start.saturating_add(u64::from(self.offset)), kind }
    }
}

impl TracingErrorKind {
    /// Returns the name of the faulty field.
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

/// Converts an error of the cursor, which finds no other kinds of faults.
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
            Self::Invalid { found: None, must, .. } => {
                write!(f, "is missing: the text ends, but needs {must}")
            }
        }
    }
}

impl fmt::Display for TracingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}: {}", self.offset, self.kind.field(), self.kind)
    }
}

impl core::error::Error for TracingError {}

/// A field that is missing from the raw data, entirely or in part. Other fields are not affected.
#[cfg(feature = "tracepoint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldError<'a> {
    /// Name of the field.
    pub field: &'a [u8],
    /// Start of the field, in bytes from the start of the raw data; for a dynamic array, start of its elements.
    pub offset: u64,
    /// Bytes that the field needs from there.
    pub needed: u64,
    /// Bytes of the raw data.
    pub available: u64,
}

#[cfg(feature = "tracepoint")]
impl fmt::Display for FieldError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, offset, needed, available } = self;
        write!(f, "{}: needs {needed} bytes at {offset}, the raw data has {available}", field.escape_ascii())
    }
}

#[cfg(feature = "tracepoint")]
impl core::error::Error for FieldError<'_> {}

//! Errors of records and attrs, and of captures, each with its offset.

#[cfg(feature = "alloc")]
mod file;

#[cfg(feature = "alloc")]
pub use file::{FileError, FileErrorKind, FilePart};

/// The reason why a record, or the attr that describes records, cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Error {
    /// The fault and its field.
    pub kind: ErrorKind,
    /// Offset of the fault: bytes from the start of the record's header or, for an attr, from the start of the attr.
    pub offset: u32,
}

/// A fault of a record or an attr. Fields have the kernel's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The record ends before the field does. The offset is the start of the field.
    Truncated {
        /// Name of the field.
        field: &'static str,
        /// Bytes that the field needs; saturated if a hostile count needs more than 64 bits.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
    /// Bytes are left after the last field. The offset is the start of these bytes.
    ///
    /// Either the attr does not belong to the record, or the record has a field that this crate does not know.
    Residue {
        /// Number of bytes left.
        bytes: u32,
    },
    /// The header's `size` is smaller than the header. The next record cannot be found.
    RecordSize {
        /// Value of the header's `size`.
        size: u32,
    },
    /// The `size` of an attr is not 0 and smaller than the first version of the attr. The offset is that of `size`.
    AttrSize {
        /// Value of the attr's `size`.
        size: u32,
    },
    /// A string has no NUL before the record ends. The offset is the start of the string.
    Unterminated {
        /// Name of the field.
        field: &'static str,
    },
    /// The value of a field is larger than its maximum.
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u64,
        /// Maximum value.
        max: u64,
    },
    /// The bytes of a field do not have the form that the field requires.
    Malformed {
        /// Name of the field.
        field: &'static str,
        /// The requirement that the bytes do not meet.
        must: &'static str,
    },
    /// The attr has bits that this crate does not know, so the offsets of later fields are unknown.
    UnknownBits {
        /// Name of the attr's field.
        field: &'static str,
        /// The unknown bits.
        bits: u64,
    },
    /// The value of a field belongs to an ABI that no released kernel has: see [`provisional`](perf_abi::provisional). The
    /// offset is that of the field. [`SampleLayout::with_provisional_abi`](crate::SampleLayout::with_provisional_abi) and
    /// [`Reader::with_provisional_abi`](crate::file::Reader::with_provisional_abi) decode the record.
    Provisional {
        /// Name of the field.
        field: &'static str,
        /// The bits of the provisional ABI.
        bits: u64,
    },
    /// The attr has both `PERF_SAMPLE_WEIGHT` and `PERF_SAMPLE_WEIGHT_STRUCT`, which use the same place in a sample.
    BothWeights,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: u32) -> Self {
        Self { kind, offset }
    }
}

impl ErrorKind {
    /// Returns the kernel's name of the faulty field; empty if the fault concerns the record as a whole.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match *self {
            Self::Truncated { field, .. }
            | Self::Unterminated { field }
            | Self::OutOfRange { field, .. }
            | Self::Malformed { field, .. }
            | Self::UnknownBits { field, .. }
            | Self::Provisional { field, .. } => field,
            Self::RecordSize { .. } => "header.size",
            Self::AttrSize { .. } => "attr.size",
            Self::BothWeights => "sample_type",
            Self::Residue { .. } => "",
        }
    }
}

impl core::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, available, .. } => {
                write!(f, "needs {needed} bytes, {available} are left")
            }
            Self::Residue { bytes } => {
                write!(f, "{bytes} bytes are left after the last known field")
            }
            Self::RecordSize { size } => write!(f, "is {size}, smaller than the 8 bytes of a header"),
            Self::AttrSize { size } => write!(f, "is {size}, smaller than the 64 bytes of the first version"),
            Self::Unterminated { .. } => f.write_str("has no NUL before the record ends"),
            Self::OutOfRange { value, max, .. } => write!(f, "is {value}, but at most {max} fit"),
            Self::Malformed { must, .. } => write!(f, "must be {must}"),
            Self::UnknownBits { bits, .. } => {
                write!(
                    f,
                    "has bits {bits:#x} of a newer kernel, so the positions of later fields are unknown"
                )
            }
            Self::Provisional { bits, .. } => {
                write!(
                    f,
                    "has bits {bits:#x} of an ABI that no released kernel has; the option provisional-abi decodes it"
                )
            }
            Self::BothWeights => f.write_str("has WEIGHT and WEIGHT_STRUCT, which exclude each other"),
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match self.kind.field() {
            "" => write!(f, "{}", self.kind),
            field => write!(f, "{field}: {}", self.kind),
        }
    }
}

impl core::error::Error for Error {}

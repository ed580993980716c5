//! What can be wrong with a record, and where.

/// Why a record, or an attr that should describe records, cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, and in which field.
    pub kind: ErrorKind,
    /// Where: bytes from the start of the record's header; for an attr, from the start of the attr.
    pub offset: u32,
}

/// What is wrong with a record. Fields go by the kernel's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The record ends before the field does; the offset is where the field begins.
    Truncated {
        /// The field.
        field: &'static str,
        /// Bytes the field needs; saturated where a hostile count asks for more than 64 bits can say.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// Bytes are left after the last field; the offset is where they begin.
    ///
    /// The attr is not the record's, or the record has a field that this crate does not know.
    Residue {
        /// How many.
        bytes: u32,
    },
    /// The header's `size` is smaller than the header: the next record cannot be found.
    RecordSize {
        /// What it says.
        size: u16,
    },
    /// The `size` of an attr is smaller than the first version's and not 0; the offset is where it stands.
    AttrSize {
        /// What it says.
        size: u32,
    },
    /// A string has no NUL in the record; the offset is where the string begins.
    Unterminated {
        /// The field.
        field: &'static str,
    },
    /// A field holds more than the field it counts in has room for.
    OutOfRange {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// The most it may hold.
        max: u64,
    },
    /// The attr asks for something that this crate does not know, so the place of later fields is unknown.
    UnknownBits {
        /// The field of the attr.
        field: &'static str,
        /// The bits of it that are not known.
        bits: u64,
    },
    /// The attr asks for both `PERF_SAMPLE_WEIGHT` and `PERF_SAMPLE_WEIGHT_STRUCT`, which share one place.
    BothWeights,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: u32) -> Self {
        Self { kind, offset }
    }
}

impl ErrorKind {
    /// The field that is wrong, by the kernel's name; empty where it is the record as a whole.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match *self {
            Self::Truncated { field, .. }
            | Self::Unterminated { field }
            | Self::OutOfRange { field, .. }
            | Self::UnknownBits { field, .. } => field,
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
            Self::RecordSize { size } => write!(f, "is {size}, smaller than the header's own 8 bytes"),
            Self::AttrSize { size } => write!(f, "is {size}, smaller than the first version's 64"),
            Self::Unterminated { .. } => f.write_str("has no NUL before the record ends"),
            Self::OutOfRange { value, max, .. } => write!(f, "is {value}, but at most {max} fit"),
            Self::UnknownBits { bits, .. } => {
                write!(f, "has bits {bits:#x} of a newer kernel; what follows them cannot be placed")
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

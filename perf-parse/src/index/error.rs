//! Errors of indexes, each with its offset.

/// A fault in an index, or in the records from which an index is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexError {
    /// Offset of the fault, in bytes from the start of the encoded index. For [`IndexErrorKind::Order`], it is the
    /// offset in the capture.
    pub offset: u64,
    /// The fault.
    pub kind: IndexErrorKind,
}

/// The kind of a fault in an index.
///
/// | kind | when | offset |
/// |---|---|---|
/// | [`Order`](Self::Order) | records, or parts of an index, are not in the order of the capture | the record that comes too late |
/// | [`NotAnIndex`](Self::NotAnIndex) | the bytes do not begin with the magic | 0 |
/// | [`Version`](Self::Version) | the version is unknown | 8 |
/// | [`OtherCapture`](Self::OtherCapture) | the index was made from another capture, or the capture has changed | the field |
/// | [`Truncated`](Self::Truncated) | the index ends within a field | the field |
/// | [`Residue`](Self::Residue) | bytes follow the last field of a chunk or of the index | these bytes |
/// | [`Checksum`](Self::Checksum) | the index is damaged | 72 |
/// | [`Invalid`](Self::Invalid) | a field has an impossible value | the field, or the bytes after it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexErrorKind {
    /// A record, or the first record of a part, does not come after the previous record in the capture.
    Order,
    /// The bytes do not begin with the magic of an index.
    NotAnIndex,
    /// The index has a version that this crate does not know.
    Version(u32),
    /// The index was made from another capture, or the capture has changed since.
    OtherCapture {
        /// Name of the field that differs.
        field: &'static str,
        /// Its value in the index.
        in_index: u64,
        /// Its value in the capture.
        in_capture: u64,
    },
    /// The index ends before the field ends.
    Truncated {
        /// The field.
        field: &'static str,
        /// Number of bytes that the field needs at least.
        needed: u64,
        /// Number of bytes that are left.
        available: u64,
    },
    /// Bytes are left after the last field.
    Residue {
        /// Number of bytes.
        bytes: u64,
    },
    /// The checksum does not match the bytes.
    Checksum,
    /// A field has an impossible value.
    Invalid {
        /// The field.
        field: &'static str,
        /// The requirement that the value does not meet.
        must: &'static str,
    },
}

impl IndexError {
    pub(super) const fn new(kind: IndexErrorKind, offset: u64) -> Self {
        Self { offset, kind }
    }

    pub(super) const fn invalid(field: &'static str, must: &'static str, offset: u64) -> Self {
        Self::new(IndexErrorKind::Invalid { field, must }, offset)
    }
}

/// Prints the fault, without its offset.
impl core::fmt::Display for IndexErrorKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Order => f.write_str(
                "the record does not come after the previous one; index the records in the order of the capture",
            ),
            Self::NotAnIndex => f.write_str("magic: is not PERFIDX1, so this is not an index"),
            Self::Version(version) => {
                write!(f, "version: is {version}, but must be 1; make the index again")
            }
            Self::OtherCapture { field, in_index, in_capture } => write!(
                f,
                "{field}: is {in_index} in the index and {in_capture} in the capture; make the index again"
            ),
            Self::Truncated { field, needed, available } => {
                write!(f, "{field}: needs {needed} bytes, the index has {available} left")
            }
            Self::Residue { bytes } => write!(f, "{bytes} bytes are left after the last field"),
            Self::Checksum => {
                f.write_str("checksum: does not match, so the index is damaged; make the index again")
            }
            Self::Invalid { field, must } => write!(f, "{field}: must be {must}"),
        }
    }
}

/// Prints `offset: field: fault`.
impl core::fmt::Display for IndexError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}: {}", self.offset, self.kind)
    }
}

impl core::error::Error for IndexError {}

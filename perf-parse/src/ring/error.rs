//! What can be wrong with a ring, and where.

/// Why a ring, or what is left of one, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingError {
    /// What is wrong, and in which field.
    pub kind: RingErrorKind,
    /// Where. For a record, its position in the ring: a byte count that never wraps, as `data_head`. For a field of
    /// the control page, its offset there, whether the page is at hand or not. For AUX data, the position in the AUX
    /// area.
    pub position: u64,
}

/// What is wrong with a ring. Fields go by the names of `struct perf_event_mmap_page` and `perf_event_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingErrorKind {
    /// What there is ends before the field does.
    Truncated {
        /// The field; for a record, `header.size`, which says more than is left.
        field: &'static str,
        /// Bytes the field needs.
        needed: u64,
        /// Bytes there are. For a record, they are not read: where the next one begins is not known.
        available: u64,
    },
    /// A record's `header.size` is below 8, or no multiple of 8 as all of the kernel's are.
    RecordSize {
        /// What it says.
        size: u16,
        /// Bytes from the record's header on, which are not read: where the next one begins is not known.
        unread: u64,
    },
    /// A field has a value that it cannot have.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        must: &'static str,
    },
    /// More has been written since the position than the area holds: what was there is gone, and where the oldest
    /// record begins that is left is not known.
    Overwritten {
        /// The field that gives the position.
        field: &'static str,
        /// The position.
        value: u64,
        /// Bytes written from there on.
        needed: u64,
        /// Bytes the area holds.
        available: u64,
    },
}

/// A field of the control page: its name and its offset.
#[derive(Clone, Copy)]
pub(super) struct Field(pub(super) &'static str, pub(super) u64);

impl Field {
    pub(super) const COMPAT_VERSION: Self = Self("compat_version", 4);
    pub(super) const DATA_HEAD: Self = Self("data_head", 1024);
    pub(super) const DATA_TAIL: Self = Self("data_tail", 1032);
    pub(super) const DATA_OFFSET: Self = Self("data_offset", 1040);
    pub(super) const DATA_SIZE: Self = Self("data_size", 1048);
    pub(super) const AUX_HEAD: Self = Self("aux_head", 1056);
    pub(super) const AUX_TAIL: Self = Self("aux_tail", 1064);
    pub(super) const AUX_OFFSET: Self = Self("aux_offset", 1072);
    pub(super) const AUX_SIZE: Self = Self("aux_size", 1080);

    /// An error of this field, which has `value`.
    pub(super) const fn invalid(self, value: u64, must: &'static str) -> RingError {
        RingError { kind: RingErrorKind::Invalid { field: self.0, value, must }, position: self.1 }
    }
}

impl RingErrorKind {
    /// The field that is wrong, by the kernel's name.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match *self {
            Self::Truncated { field, .. } | Self::Invalid { field, .. } | Self::Overwritten { field, .. } => {
                field
            }
            Self::RecordSize { .. } => "header.size",
        }
    }
}

impl core::fmt::Display for RingErrorKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated { needed, available, .. } => {
                write!(f, "needs {needed} bytes, {available} are left")
            }
            Self::RecordSize { size, unread } => {
                write!(f, "is {size}, but must be a multiple of 8 and not 0; {unread} bytes are not read")
            }
            Self::Invalid { value, must, .. } => write!(f, "is {value}, but must be {must}"),
            Self::Overwritten { value, needed, available, .. } => write!(
                f,
                "is {value}, from where {needed} bytes were written into the {available} there are: \
                 it is not known where the oldest record left begins"
            ),
        }
    }
}

impl core::fmt::Display for RingError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "position {}: {}: {}", self.position, self.kind.field(), self.kind)
    }
}

impl core::error::Error for RingError {}

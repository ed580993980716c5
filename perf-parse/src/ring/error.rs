//! Errors of rings, each with its position.

/// The reason why a ring, or the rest of one, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RingError {
    /// The fault and its field.
    pub kind: RingErrorKind,
    /// Place of the fault. For a record, its position in the ring: a byte count that never wraps, like `data_head`.
    /// For a field of the control page, the offset in the page, even if the page was not recorded. For AUX data, the
    /// position in the AUX area.
    pub position: u64,
}

/// A fault of a ring. Fields have the names of `struct perf_event_mmap_page` and `perf_event_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RingErrorKind {
    /// The available bytes end before the field does.
    Truncated {
        /// Name of the field; for a record `header.size`, which is larger than the rest of the ring.
        field: &'static str,
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes available. For a record they are not read, because the start of the next record is unknown.
        available: u64,
    },
    /// A record's `header.size` is below 8, or is not a multiple of 8 as in the kernel's records.
    RecordSize {
        /// Value of the record's `header.size`.
        size: u16,
        /// Bytes from the record's header on. They are not read, because the start of the next record is unknown.
        unread: u64,
    },
    /// A field has an invalid value.
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u64,
        /// The requirement that the value does not meet.
        must: &'static str,
    },
    /// More bytes than the area holds have been written since the position. The data at the position was overwritten,
    /// and the start of the oldest remaining record is unknown.
    Overwritten {
        /// Name of the field that has the position.
        field: &'static str,
        /// The position.
        value: u64,
        /// Bytes written since the position.
        needed: u64,
        /// Bytes of the area.
        available: u64,
    },
}

/// A field of the control page: its name and its offset.
#[derive(Clone, Copy)]
pub(super) struct PageField(pub(super) &'static str, pub(super) u64);

impl PageField {
    pub(super) const COMPAT_VERSION: Self = Self("compat_version", 4);
    pub(super) const DATA_HEAD: Self = Self("data_head", 1024);
    pub(super) const DATA_TAIL: Self = Self("data_tail", 1032);
    pub(super) const DATA_OFFSET: Self = Self("data_offset", 1040);
    pub(super) const DATA_SIZE: Self = Self("data_size", 1048);
    pub(super) const AUX_HEAD: Self = Self("aux_head", 1056);
    pub(super) const AUX_TAIL: Self = Self("aux_tail", 1064);
    pub(super) const AUX_OFFSET: Self = Self("aux_offset", 1072);
    pub(super) const AUX_SIZE: Self = Self("aux_size", 1080);

    /// Returns an error for this field, which has `value`.
    pub(super) const fn invalid(self, value: u64, must: &'static str) -> RingError {
        RingError { kind: RingErrorKind::Invalid { field: self.0, value, must }, position: self.1 }
    }
}

impl RingErrorKind {
    /// Returns the kernel's name of the faulty field.
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
                write!(
                    f,
                    "is {size}, but must be a multiple of 8 and not 0; the remaining {unread} bytes are not read"
                )
            }
            Self::Invalid { value, must, .. } => write!(f, "is {value}, but must be {must}"),
            Self::Overwritten { value, needed, available, .. } => write!(
                f,
                "is {value}, but {needed} bytes were written since, and the area holds only the last {available}: \
                 the start of the oldest remaining record is unknown"
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

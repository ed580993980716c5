//! Places of held records.

/// The place of a held record: an offset, and in the upper bits the data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeldAt(u64);

const FILE_SHIFT: u32 = 48;

/// The data file number of the copies.
const COPIES: u64 = 0xffff;

impl HeldAt {
    /// The start of the first data file: the place of a run without records.
    pub(super) const START: Self = Self(0);

    /// Returns a place in a data file; `None` if the number of the file or the offset is too large. Such records are
    /// copied.
    #[inline]
    pub(super) fn in_file(data_file: usize, offset: u64) -> Option<Self> {
        let file = data_file as u64;
        // The length of a run is added to the offset. It is far below the upper half of the range of offsets.
        (file < COPIES && offset < 1 << (FILE_SHIFT - 1)).then_some(Self(offset | file << FILE_SHIFT))
    }

    /// Returns a place among the copies.
    #[inline]
    pub(super) fn copied(offset: u64) -> Self {
        Self(offset | COPIES << FILE_SHIFT)
    }

    #[inline]
    pub(super) fn is_copy(self) -> bool {
        self.0 >> FILE_SHIFT == COPIES
    }

    /// Returns the offset, if the place is in this data file.
    #[inline]
    pub(super) fn in_data_file(self, data_file: usize) -> Option<u64> {
        (self.data_file() == data_file && !self.is_copy()).then(|| self.offset())
    }

    /// Returns the data file; meaningless for a copy.
    #[inline]
    pub(super) fn data_file(self) -> usize {
        // 16 bits.
        usize::try_from(self.0 >> FILE_SHIFT).unwrap_or(usize::MAX)
    }

    /// Returns the offset in the data file, or among the copies.
    #[inline]
    pub(super) fn offset(self) -> u64 {
        self.0 & ((1 << FILE_SHIFT) - 1)
    }

    /// Returns the place `bytes` bytes later.
    #[inline]
    pub(super) fn after(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes.into()))
    }
}

/// The position in the capture at which a record was found. Copied records, too, form a run only if they are adjacent
/// in the capture. So a stream has the same runs as the same capture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordOrigin {
    pub(super) data_file: usize,
    pub(super) is_inner: bool,
    /// Offset in the data file, or position in the decompressed stream.
    pub(super) position: u64,
}

impl RecordOrigin {
    /// The start of the first data file.
    pub(super) const START: Self = Self { data_file: 0, is_inner: false, position: 0 };
}

/// Records that were found and are to be held.
pub(super) struct UnheldRecords {
    pub(super) from: RecordOrigin,
    /// Number of bytes of the records in the capture, and of what is held for them: the same, or their copies.
    pub(super) size: usize,
    pub(super) bytes: usize,
    /// Number of records: one, or more than [`SHORT`](super::held::SHORT).
    pub(super) records: usize,
    /// The times of the first and of the last record.
    pub(super) time: u64,
    pub(super) last_time: u64,
}

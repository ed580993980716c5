//! Where records are that are held back.

/// Where a record is that is held back: an offset, and above that the data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64);

const FILE_SHIFT: u32 = 48;

/// Stands for the copies among the data files.
const COPIES: u64 = 0xffff;

impl Place {
    /// The start of the first data file: of a run without records.
    pub(super) const START: Self = Self(0);

    /// In a data file; `None` where there are too many of them, or it is too large: such records are copied.
    #[inline]
    pub(super) fn in_file(data_file: usize, offset: u64) -> Option<Self> {
        let file = data_file as u64;
        // What a run is long is added to an offset: far less than the upper half of what there is room for.
        (file < COPIES && offset < 1 << (FILE_SHIFT - 1)).then_some(Self(offset | file << FILE_SHIFT))
    }

    /// Among the copies.
    #[inline]
    pub(super) fn copied(offset: u64) -> Self {
        Self(offset | COPIES << FILE_SHIFT)
    }

    #[inline]
    pub(super) fn is_copy(self) -> bool {
        self.0 >> FILE_SHIFT == COPIES
    }

    /// Its offset, if it is in this data file.
    #[inline]
    pub(super) fn in_data_file(self, data_file: usize) -> Option<u64> {
        (self.data_file() == data_file && !self.is_copy()).then(|| self.offset())
    }

    /// The data file; nothing of one for a copy.
    #[inline]
    pub(super) fn data_file(self) -> usize {
        // 16 bits.
        usize::try_from(self.0 >> FILE_SHIFT).unwrap_or(usize::MAX)
    }

    /// In the data file, or among the copies.
    #[inline]
    pub(super) fn offset(self) -> u64 {
        self.0 & ((1 << FILE_SHIFT) - 1)
    }

    /// So many bytes further on.
    #[inline]
    pub(super) fn after(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes.into()))
    }
}

/// Where in the capture a record was found. Of what is copied, too, a run is only what lies end to end there: so the runs of
/// a stream are those of the same capture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) data_file: usize,
    pub(super) is_inner: bool,
    /// In the data file, or in the decompressed stream.
    pub(super) position: u64,
}

/// Records that were found to be held back.
pub(super) struct Found {
    pub(super) from: Origin,
    /// Bytes of the records in the capture, and of what is held of them: the same, or their copies.
    pub(super) size: usize,
    pub(super) bytes: usize,
    /// One, or more than [`SHORT`](super::held::SHORT).
    pub(super) records: usize,
    /// The times of the first and of the last.
    pub(super) time: u64,
    pub(super) last_time: u64,
}

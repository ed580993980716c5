//! The buffer that joins the pieces of a record that wraps.

use perf_abi::endian::Endian;

use super::error::{RingError, RingErrorKind};
use crate::record::RawRecord;

/// Bytes of the longest record, and one more.
const SIZE: usize = 1 << 16;

/// The buffer for a record that wraps at the end of the data area: 64 KiB, enough for any record.
///
/// The caller passes the same buffer to each `next`; it holds no state. A record that does not wrap is not copied.
pub struct Buffer {
    bytes: [u8; SIZE],
}

impl Buffer {
    /// Returns an empty buffer. It is large for the stack; a `static` or a `Box` may be the better place.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; SIZE] }
    }

    /// Returns the record with the bytes of `first` and then of `second`. `position` is its position in the ring.
    #[cold]
    pub(super) fn join<O: Endian>(
        &mut self,
        first: &[u8],
        second: &[u8],
        position: u64,
    ) -> Result<RawRecord<'_, O>, RingError> {
        let size = first.len().saturating_add(second.len());
        let truncated = |available: usize| RingError {
            kind: RingErrorKind::Truncated {
                field: "header.size",
                needed: size as u64,
                available: available as u64,
            },
            position,
        };
        let whole = self.bytes.get_mut(..size).ok_or(truncated(SIZE))?;
        let (front, back) = whole.split_at_mut_checked(first.len()).ok_or(truncated(0))?;
        front.copy_from_slice(first);
        back.copy_from_slice(second);
        // The size was read before the copy was made. In a live ring that is overwritten it may have changed since.
        RawRecord::whole_of_kernel((), whole).map(|(record, _)| record).ok_or(truncated(size))
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Buffer").finish_non_exhaustive()
    }
}

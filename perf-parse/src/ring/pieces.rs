//! The geometry of a data area: positions, and records in one or two pieces.

use perf_abi::endian::Endian;

use super::buffer::Buffer;
use super::error::{PageField, RingError};
use crate::record::RawRecord;

/// The alignment of records. The position and the size of every record are multiples of this number, so no header
/// wraps.
pub(super) const ALIGN: usize = 8;

/// A record in the data area.
#[derive(Clone, Copy, Debug)]
pub(super) enum RecordPieces<'a, O: Endian> {
    /// A record in one piece.
    Whole(RawRecord<'a, O>),
    /// A record in two pieces, because it wraps at the end of the data area, and its position.
    Wrapped { first: &'a [u8], second: &'a [u8], position: u64 },
}

impl<'a, O: Endian> RecordPieces<'a, O> {
    /// Returns the record in one piece. A record that wraps is copied to `buffer`.
    #[inline]
    pub(super) fn whole<'b>(self, buffer: &'b mut Buffer) -> Result<RawRecord<'b, O>, RingError>
    where
        'a: 'b,
    {
        match self {
            Self::Whole(record) => Ok(record),
            Self::Wrapped { first, second, position } => buffer.join(first, second, position),
        }
    }

    /// Returns the number of bytes of the record.
    #[cfg(feature = "alloc")]
    pub(super) fn size(&self) -> u16 {
        let size = match self {
            Self::Whole(record) => record.len(),
            // Together the two pieces have the length of the header's 16-bit `size`.
            Self::Wrapped { first, second, .. } => first.len().saturating_add(second.len()),
        };
        u16::try_from(size).unwrap_or(u16::MAX)
    }
}

/// Returns the size of the data area, which is the modulus of positions.
///
/// # Errors
///
/// `Invalid`, `data_size`, unless it is a power of two of at least 8.
pub(super) fn check_size(data: &[u8]) -> Result<u64, RingError> {
    let size = data.len() as u64;
    if data.len().is_power_of_two() && data.len() >= ALIGN {
        return Ok(size);
    }
    Err(PageField::DATA_SIZE.invalid(size, "a power of two of at least 8"))
}

/// Checks that a record may begin at the position.
///
/// # Errors
///
/// `Invalid` if the position is not a multiple of 8.
pub(super) fn check_aligned(field: PageField, position: u64) -> Result<(), RingError> {
    if position.checked_rem(ALIGN as u64) == Some(0) {
        return Ok(());
    }
    Err(field.invalid(position, "a multiple of 8"))
}

/// Returns the two pieces of `data` that hold `length` bytes from `position` on; `None` if `data` is shorter.
pub(super) fn pieces(data: &[u8], position: u64, length: usize) -> Option<(&[u8], &[u8])> {
    let size = data.len() as u64;
    let start = usize::try_from(position.checked_rem(size)?).ok()?;
    let (before, from) = data.split_at_checked(start)?;
    match from.get(..length) {
        Some(one) => Some((one, &[])),
        None => Some((from, before.get(..length.checked_sub(from.len())?)?)),
    }
}

//! A ring that is written backward (`attr.write_backward`) and keeps the newest records.

use perf_abi::endian::Endian;

use super::buffer::Buffer;
use super::error::{Field, RingError};
use super::walk::{Rest, Torn, Walk, check_aligned, check_size};
use crate::record::RawRecord;

/// The records of a ring that is written backward, newest first, in their order in memory.
///
/// The head counts down from 0, and the newest record begins at it. While no more was written than the area holds,
/// the head shows exactly where the records end. After that the oldest record is usually torn: the newest record has
/// overwritten its end. The torn record is left out; [`torn`](Self::torn) reports it.
///
/// A 32-bit kernel counts in 32 bits, so its head does not show how much was written. The records then end at bytes
/// that were never written, or with the torn record.
///
/// The ring must not change during the walk: pause it (`PERF_EVENT_IOC_PAUSE_OUTPUT`), disable its events, or copy
/// it. Borrows the data area; allocates nothing.
///
/// Kernel: `perf_output_begin_backward`, `kernel/events/ring_buffer.c`; since Linux 4.7.
#[derive(Clone, Debug)]
pub struct Backward<'a, O: Endian> {
    pub(super) walk: Walk<'a, O>,
    /// The data area, which `oldest_first` needs.
    #[cfg(feature = "alloc")]
    pub(super) data: &'a [u8],
}

impl<'a, O: Endian> Backward<'a, O> {
    /// Walks from `head`. `data` is the data area, whose length is a power of two.
    ///
    /// # Errors
    ///
    /// [`Invalid`](super::RingErrorKind::Invalid) for a length that is not a power of two of at least 8
    /// (`data_size`), and for a head that is not a multiple of 8 (`data_head`).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::ring::{Backward, Buffer, RingError, Torn};
    ///
    /// // The area is full: a record of 16 bytes, then 16 bytes of a torn record of 24.
    /// let data = *b"\x0e\0\0\0\0\0\x10\0........\x0d\0\0\0\0\0\x18\0........";
    /// let head = 0_u64.wrapping_sub(64);
    /// let mut buffer = Buffer::new();
    /// let mut ring = Backward::<LittleEndian>::new(&data, head)?;
    /// assert_eq!(ring.next(&mut buffer).transpose()?.map(|record| record.size()), Some(16));
    /// assert!(ring.next(&mut buffer).is_none());
    /// assert_eq!(ring.torn(), Some(Torn { position: head.wrapping_add(16), bytes: 16 }));
    /// # Ok::<(), RingError>(())
    /// ```
    pub fn new(data: &'a [u8], head: u64) -> Result<Self, RingError> {
        let size = check_size(data)?;
        check_aligned(Field::DATA_HEAD, head)?;
        let written = head.wrapping_neg();
        Ok(Self {
            walk: Walk::new(data, head, written.min(size), written > size),
            #[cfg(feature = "alloc")]
            data,
        })
    }

    /// Returns the next older record. It borrows the data area, or `buffer` if it wraps, but not this walker.
    ///
    /// Takes constant time. The exceptions are the one record that may wrap, which is copied, and the end of the
    /// walk.
    ///
    /// # Errors
    ///
    /// [`RecordSize`](super::RingErrorKind::RecordSize) or [`Truncated`](super::RingErrorKind::Truncated) if the next
    /// record cannot be found. The walk then ends with [`unread`](Self::unread) bytes left.
    /// [`RecordSize`](super::RingErrorKind::RecordSize) or [`Truncated`](super::RingErrorKind::Truncated) where the
    /// next record cannot be found; the walk has ended then, and [`unread`](Self::unread) bytes are left.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        self.walk.next(buffer)
    }

    /// Returns the position of the next older record; after the end, that of the torn record or of the end of the
    /// written bytes.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Returns the number of bytes not walked yet; after an error, of bytes that could not be walked. Excludes the
    /// torn record.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.walk.left().saturating_add(self.walk.given_up(Rest::Unread))
    }

    /// Returns the oldest record if its end was overwritten. Known after the walk has ended.
    #[must_use]
    pub fn torn(&self) -> Option<Torn> {
        self.walk.torn()
    }
}

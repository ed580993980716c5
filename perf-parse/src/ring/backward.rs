//! A ring that is written backward (`attr.write_backward`), which keeps the newest records.

use perf_abi::endian::Endian;

use super::buffer::Buffer;
use super::error::{Field, RingError};
use super::walk::{Rest, Torn, Walk, check_aligned, check_size};
use crate::record::RawRecord;

/// The records of a ring that is written backward, newest first, as they stand.
///
/// The head counts down from 0, and records begin at it. As long as no more was written than the area holds, it tells
/// exactly where they end. From then on the oldest record is usually torn: its end is where the newest begins. It is
/// left out and told by [`torn`](Self::torn).
///
/// A 32-bit kernel counts in 32 bits: its head does not tell how much was written, and the records end where the
/// area was never written, or with the torn one.
///
/// The ring must stand still, be it paused (`PERF_EVENT_IOC_PAUSE_OUTPUT`), its events disabled, or copied. Borrows
/// the data area; allocates nothing.
///
/// Kernel: `perf_output_begin_backward`, `kernel/events/ring_buffer.c`; since Linux 4.7.
#[derive(Clone, Debug)]
pub struct Backward<'a, O: Endian> {
    pub(super) walk: Walk<'a, O>,
    /// The data area, to turn it around.
    #[cfg(feature = "alloc")]
    pub(super) data: &'a [u8],
}

impl<'a, O: Endian> Backward<'a, O> {
    /// Walks from `head` on. `data` is the data area, whose length is a power of two.
    ///
    /// # Errors
    ///
    /// [`Invalid`](super::RingErrorKind::Invalid) for a length that is no power of two from 8 on (`data_size`) and a
    /// head that is no multiple of 8 (`data_head`).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::ring::{Backward, Buffer, RingError, Torn};
    ///
    /// // Full: a record of 16 bytes, and behind it one of 24 of which 16 are left.
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

    /// The next older record. It borrows the data area, or `buffer` if it wraps; not this walker.
    ///
    /// Takes constant time, but for the one record that may wrap, which is copied, and for the end.
    ///
    /// # Errors
    ///
    /// [`RecordSize`](super::RingErrorKind::RecordSize) or [`Truncated`](super::RingErrorKind::Truncated) where the
    /// next record cannot be found; the walk has ended then, and [`unread`](Self::unread) bytes are left.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        self.walk.next(buffer)
    }

    /// Where the next older record begins; after the end, the torn one or the end of what was written.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Bytes that are not walked; after an error, those that could not be. The torn record does not count.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.walk.left().saturating_add(self.walk.given_up(Rest::Unread))
    }

    /// The oldest record, if its end was overwritten; known once the walk has ended.
    #[must_use]
    pub fn torn(&self) -> Option<Torn> {
        self.walk.torn()
    }
}

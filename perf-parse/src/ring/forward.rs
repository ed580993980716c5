//! A ring that is written forward, which is the case unless the attr has `write_backward`.

use perf_abi::endian::Endian;

use super::buffer::Buffer;
use super::error::{Field, RingError, RingErrorKind};
use super::walk::{Rest, Walk, check_aligned, check_size};
use crate::record::RawRecord;

/// The records between `data_tail` and `data_head`, oldest first.
///
/// Borrows the data area; allocates nothing.
///
/// Kernel: `perf_output_begin`, `kernel/events/ring_buffer.c`.
#[derive(Clone, Debug)]
pub struct Forward<'a, O: Endian> {
    pub(super) walk: Walk<'a, O>,
}

impl<'a, O: Endian> Forward<'a, O> {
    /// Walks from `tail` to `head`. `data` is the data area, whose length is a power of two. Positions count bytes
    /// and do not wrap.
    ///
    /// In a mapping without `PROT_WRITE` the tail stays 0 and the kernel overwrites records. After the first
    /// overwrite this is an error. A reader of such a ring that knows the start of a record within the last
    /// `data.len()` bytes passes it as `tail`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) for a length that is not a power of two of at least 8 (`data_size`), for a
    /// tail beyond the head (`data_tail`), and for positions that are not multiples of 8;
    /// [`Overwritten`](RingErrorKind::Overwritten) if the head is more than `data.len()` beyond the tail.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::ring::{Buffer, Forward, RingError};
    ///
    /// // A record of 16 bytes at position 24 of a ring of 32: it wraps.
    /// let mut data = [0; 32];
    /// data[24..].copy_from_slice(b"\x0e\0\0\0\0\0\x10\0");
    /// let mut buffer = Buffer::new();
    /// let mut ring = Forward::<LittleEndian>::new(&data, 24, 40)?;
    /// while let Some(record) = ring.next(&mut buffer) {
    ///     assert_eq!(record?.kind(), RecordType::SWITCH);
    /// }
    /// assert_eq!(ring.position(), 40);
    /// # Ok::<(), RingError>(())
    /// ```
    pub fn new(data: &'a [u8], tail: u64, head: u64) -> Result<Self, RingError> {
        let available = check_size(data)?;
        check_aligned(Field::DATA_HEAD, head)?;
        check_aligned(Field::DATA_TAIL, tail)?;
        let Some(needed) = head.checked_sub(tail) else {
            return Err(Field::DATA_TAIL.invalid(tail, "at most data_head"));
        };
        if needed > available {
            let Field(field, position) = Field::DATA_TAIL;
            let kind = RingErrorKind::Overwritten { field, value: tail, needed, available };
            return Err(RingError { kind, position });
        }
        Ok(Self { walk: Walk::new(data, tail, needed, false) })
    }

    /// Walks over the unread part of a live ring. Only this part may be borrowed: `first` begins at `position` and
    /// ends at the end of the data area or at the head, and `second` begins at the start of the data area and ends at
    /// the head.
    ///
    /// If the page is not corrupt, the lengths of both are multiples of 8 bytes. Otherwise the last record is an
    /// error.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::ring::{Buffer, Forward};
    ///
    /// let mut buffer = Buffer::new();
    /// let mut ring = Forward::<LittleEndian>::of_pieces(b"\x0e\0\0\0\0\0\x10\0", &[0; 8], 24);
    /// assert_eq!(ring.next(&mut buffer).transpose()?.map(|record| record.kind()), Some(RecordType::SWITCH));
    /// assert_eq!(ring.position(), 40);
    /// # Ok::<(), perf_parse::ring::RingError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn of_pieces(first: &'a [u8], second: &'a [u8], position: u64) -> Self {
        Self { walk: Walk::of_pieces(first, second, position, false) }
    }

    /// Returns the next record. It borrows the data area, or `buffer` if it wraps, but not this walker.
    ///
    /// Takes constant time, except for the one record that may wrap, which is copied.
    ///
    /// # Errors
    ///
    /// [`RecordSize`](RingErrorKind::RecordSize) or [`Truncated`](RingErrorKind::Truncated) if the next record cannot
    /// be found. The walk then ends with [`unread`](Self::unread) bytes left.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        self.walk.next(buffer)
    }

    /// Returns the position of the next record; after an error, that of the faulty record. Store it in `data_tail`
    /// when the records before it are no longer needed.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Returns the number of bytes up to the head that are not walked yet; after an error, of bytes that could not be
    /// walked.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.walk.left().saturating_add(self.walk.given_up(Rest::Unread))
    }
}

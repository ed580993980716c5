//! The walk over the records of a data area.

use perf_abi::endian::{Endian, NativeEndian, U16};
use zerocopy::FromBytes;

use super::buffer::Buffer;
use super::error::{PageField, RingError, RingErrorKind};
use super::pieces::{ALIGN, RecordPieces, check_aligned, check_size, pieces};
use crate::record::RawRecord;

/// The oldest record of a ring that is written backward, whose end the newest record has overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TornRecord {
    /// Position of the record's header.
    pub position: u64,
    /// Remaining bytes of the record, including the header.
    pub bytes: u64,
}

/// The reason why bytes were given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossReason {
    /// They follow an error.
    Unread,
    /// They belong to the oldest record, whose end was overwritten.
    Torn,
    /// Presumably they were never written: all of them are 0.
    Unwritten,
}

/// The records of a ring in their order in memory, in which positions ascend. Borrows the data area; allocates
/// nothing.
#[derive(Clone, Debug)]
pub struct RingWalk<'a, O: Endian = NativeEndian> {
    /// Bytes not walked yet up to the end of the data area, or the last ones.
    first: &'a [u8],
    /// The bytes after them, from the start of the data area.
    second: &'a [u8],
    /// The position after both pieces.
    end: u64,
    /// Whether the last record may be torn, and the remaining bytes may never have been written.
    may_tear: bool,
    /// Bytes before `end` that were given up; `rest` has the reason.
    given_up: u64,
    rest: LossReason,
    /// Whether a record that wraps was found.
    wrapped: bool,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> RingWalk<'a, O> {
    /// Walks over a ring that is written forward, from `tail` to `head`, oldest record first. `data` is the data area,
    /// whose length is a power of two. Positions count bytes and do not wrap.
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
    /// use perf_parse::ring::{Buffer, RingError, RingWalk};
    ///
    /// // A record of 16 bytes at position 24 of a ring of 32: it wraps.
    /// let mut data = [0; 32];
    /// data[24..].copy_from_slice(b"\x0e\0\0\0\0\0\x10\0");
    /// let mut buffer = Buffer::new();
    /// let mut ring = RingWalk::<LittleEndian>::forward(&data, 24, 40)?;
    /// while let Some(record) = ring.next(&mut buffer) {
    ///     assert_eq!(record?.kind(), RecordType::SWITCH);
    /// }
    /// assert_eq!(ring.position(), 40);
    /// # Ok::<(), RingError>(())
    /// ```
    ///
    /// Kernel: `perf_output_begin`, `kernel/events/ring_buffer.c`.
    pub fn forward(data: &'a [u8], tail: u64, head: u64) -> Result<Self, RingError> {
        let available = check_size(data)?;
        check_aligned(PageField::DATA_HEAD, head)?;
        check_aligned(PageField::DATA_TAIL, tail)?;
        let Some(needed) = head.checked_sub(tail) else {
            return Err(PageField::DATA_TAIL.invalid(tail, "at most data_head"));
        };
        if needed > available {
            let PageField(field, position) = PageField::DATA_TAIL;
            let kind = RingErrorKind::Overwritten { field, value: tail, needed, available };
            return Err(RingError { kind, position });
        }
        Ok(Self::new(data, tail, needed, false))
    }

    /// Walks over the unread part of a live ring that is written forward. Only this part may be borrowed: `first`
    /// begins at `position` and ends at the end of the data area or at the head, and `second` begins at the start of
    /// the data area and ends at the head.
    ///
    /// If the page is not corrupt, the lengths of both are multiples of 8 bytes. Otherwise the last record is an
    /// error.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::ring::{Buffer, RingWalk};
    ///
    /// let mut buffer = Buffer::new();
    /// let mut ring = RingWalk::<LittleEndian>::from_pieces(b"\x0e\0\0\0\0\0\x10\0", &[0; 8], 24);
    /// assert_eq!(ring.next(&mut buffer).transpose()?.map(|record| record.kind()), Some(RecordType::SWITCH));
    /// assert_eq!(ring.position(), 40);
    /// # Ok::<(), perf_parse::ring::RingError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn from_pieces(first: &'a [u8], second: &'a [u8], position: u64) -> Self {
        Self::over(first, second, position, false)
    }

    /// Walks over a ring that is written backward (`attr.write_backward`), from `head`, newest record first, which is
    /// their order in memory. `data` is the data area, whose length is a power of two.
    /// [`OldestFirst`](super::OldestFirst) returns the same records in reverse.
    ///
    /// The head counts down from 0, and the newest record begins at it. While no more was written than the area holds,
    /// the head shows exactly where the records end. After that the oldest record is usually torn: the newest record
    /// has overwritten its end. The torn record is left out; [`torn`](Self::torn) reports it.
    ///
    /// A 32-bit kernel counts in 32 bits, so its head does not show how much was written. The records then end at
    /// bytes that were never written, or with the torn record.
    ///
    /// The ring must not change during the walk: pause it (`PERF_EVENT_IOC_PAUSE_OUTPUT`), disable its events, or copy
    /// it.
    ///
    /// # Errors
    ///
    /// [`Invalid`](RingErrorKind::Invalid) for a length that is not a power of two of at least 8 (`data_size`), and
    /// for a head that is not a multiple of 8 (`data_head`).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::ring::{Buffer, RingError, RingWalk, TornRecord};
    ///
    /// // The area is full: a record of 16 bytes, then 16 bytes of a torn record of 24.
    /// let data = *b"\x0e\0\0\0\0\0\x10\0........\x0d\0\0\0\0\0\x18\0........";
    /// let head = 0_u64.wrapping_sub(64);
    /// let mut buffer = Buffer::new();
    /// let mut ring = RingWalk::<LittleEndian>::backward(&data, head)?;
    /// assert_eq!(ring.next(&mut buffer).transpose()?.map(|record| record.size()), Some(16));
    /// assert!(ring.next(&mut buffer).is_none());
    /// assert_eq!(ring.torn(), Some(TornRecord { position: head.wrapping_add(16), bytes: 16 }));
    /// # Ok::<(), RingError>(())
    /// ```
    ///
    /// Kernel: `perf_output_begin_backward`, `kernel/events/ring_buffer.c`; since Linux 4.7.
    pub fn backward(data: &'a [u8], head: u64) -> Result<Self, RingError> {
        let size = check_size(data)?;
        check_aligned(PageField::DATA_HEAD, head)?;
        let written = head.wrapping_neg();
        Ok(Self::new(data, head, written.min(size), written > size))
    }

    /// Walks over the `length` bytes of `data` from `position` on. The caller has checked the size and the position.
    fn new(data: &'a [u8], position: u64, length: u64, may_tear: bool) -> Self {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (first, second) = pieces(data, position, length).unwrap_or_default();
        Self::over(first, second, position, may_tear)
    }

    /// Walks over `first`, which begins at `position`, and then over `second`.
    #[inline]
    fn over(first: &'a [u8], second: &'a [u8], position: u64, may_tear: bool) -> Self {
        let end = position.wrapping_add(first.len() as u64).wrapping_add(second.len() as u64);
        let order = core::marker::PhantomData;
        Self { first, second, end, may_tear, given_up: 0, rest: LossReason::Unread, wrapped: false, order }
    }

    /// Returns the position of the next record. After the end it is the position up to which records were returned:
    /// that of the faulty record, of the torn record, or of the end.
    ///
    /// A reader of a ring that is written forward stores it in `data_tail` when it no longer needs the records before
    /// it.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.end.wrapping_sub(self.left()).wrapping_sub(self.given_up)
    }

    /// Returns the number of bytes not walked yet.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        (self.first.len() as u64).saturating_add(self.second.len() as u64)
    }

    /// Returns the number of bytes given up for this reason.
    pub(super) fn given_up(&self, rest: LossReason) -> u64 {
        if self.rest == rest { self.given_up } else { 0 }
    }

    /// Returns the number of records found that wrap: at most one in an area.
    pub(super) fn wrapped(&self) -> u64 {
        u64::from(self.wrapped)
    }

    /// Returns the number of bytes not walked yet; after an error, of bytes that could not be walked. Excludes the
    /// torn record.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.left().saturating_add(self.given_up(LossReason::Unread))
    }

    /// Returns the oldest record of a ring that is written backward, if its end was overwritten. It is known after the
    /// walk has ended.
    #[must_use]
    pub fn torn(&self) -> Option<TornRecord> {
        let bytes = self.given_up(LossReason::Torn);
        (bytes != 0).then(|| TornRecord { position: self.position(), bytes })
    }

    /// Returns the next record; `None` after an error.
    #[inline]
    pub(super) fn step(&mut self) -> Option<Result<RecordPieces<'a, O>, RingError>> {
        match RawRecord::whole_of_kernel((), self.first) {
            Some((record, rest)) if rest.len() % ALIGN == 0 => {
                self.first = rest;
                Some(Ok(RecordPieces::Whole(record)))
            }
            _ => self.turn(),
        }
    }

    /// Returns the next record. It borrows the data area, or `buffer` if it wraps, but not this walker.
    ///
    /// Takes constant time. The exceptions are the one record that may wrap, which is copied, and the end of the walk.
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
        Some(self.step()?.and_then(|record| record.whole(buffer)))
    }

    /// Handles the case of no whole record at the front: continues at the start of the data area, ends, or returns an
    /// error.
    #[cold]
    fn turn(&mut self) -> Option<Result<RecordPieces<'a, O>, RingError>> {
        if self.first.is_empty() {
            if self.second.is_empty() {
                return None;
            }
            self.first = core::mem::take(&mut self.second);
            return self.step();
        }
        let left = self.left();
        // The header is complete, because pieces are multiples of its size.
        let size = self.first.get(6..).and_then(|from| U16::<O>::read_from_prefix(from).ok());
        let size = size.map_or(0, |(size, _)| size.get());
        let wraps = usize::from(size).checked_sub(self.first.len());
        let position = self.position();
        let mut fault = None;
        if size == 0 && self.may_tear {
            let is_unwritten = self.first.iter().chain(self.second).all(|&byte| byte == 0);
            self.rest = if is_unwritten { LossReason::Unwritten } else { LossReason::Torn };
        } else if usize::from(size) < ALIGN || usize::from(size) % ALIGN != 0 {
            fault = Some(RingErrorKind::RecordSize { size, unread: left });
        } else if let Some((second, rest)) = wraps.and_then(|wraps| self.second.split_at_checked(wraps)) {
            let first = core::mem::replace(&mut self.first, rest);
            self.second = &[];
            self.wrapped = true;
            return Some(Ok(RecordPieces::Wrapped { first, second, position }));
        } else if self.may_tear {
            self.rest = LossReason::Torn;
        } else {
            let (field, needed) = ("header.size", u64::from(size));
            fault = Some(RingErrorKind::Truncated { field, needed, available: left });
        }
        self.given_up = left;
        self.first = &[];
        self.second = &[];
        fault.map(|kind| Err(RingError { kind, position }))
    }
}

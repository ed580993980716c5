//! The walk over a part of a ring, which both directions share: positions of records ascend in it.

use perf_abi::endian::{Endian, U16};
use zerocopy::FromBytes;

use super::buffer::Buffer;
use super::error::{Field, RingError, RingErrorKind};
use crate::record::RawRecord;

/// Every record begins at a multiple of this and has a multiple of it in bytes, so no header wraps.
pub(super) const ALIGN: usize = 8;

/// The oldest record of a ring that is written backward, whose end the newest record has overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Position of the record's header.
    pub position: u64,
    /// Remaining bytes of the record, including the header.
    pub bytes: u64,
}

/// A record that the walk found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a, O: Endian> {
    /// A record in one piece.
    Whole(RawRecord<'a, O>),
    /// A record in two pieces, because it wraps at the end of the data area.
    Wrapped(&'a [u8], &'a [u8]),
}

#[cfg(feature = "alloc")]
impl<O: Endian> Found<'_, O> {
    /// Returns the number of bytes of the record.
    pub(super) fn size(&self) -> u16 {
        match self {
            Self::Whole(record) => record.size(),
            // Together the two pieces have the length of the header's 16-bit `size`.
            Self::Wrapped(first, second) => {
                u16::try_from(first.len().saturating_add(second.len())).unwrap_or(u16::MAX)
            }
        }
    }
}

/// The reason why bytes were given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// They follow an error.
    Unread,
    /// They belong to the oldest record, whose end was overwritten.
    Torn,
    /// Presumably they were never written: all of them are 0.
    Unwritten,
}

/// The bytes that are not walked yet: at most two pieces, each with a multiple of [`ALIGN`] bytes.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a, O: Endian> {
    /// Bytes up to the end of the data area.
    run: &'a [u8],
    /// Bytes from the start of the data area.
    behind: &'a [u8],
    /// The position after both pieces.
    end: u64,
    /// Whether the last record may be torn, and the remaining bytes may never have been written.
    may_tear: bool,
    /// Bytes before `end` that were given up; `rest` has the reason.
    given_up: u64,
    rest: Rest,
    /// Whether a record that wraps was found.
    wrapped: bool,
    order: core::marker::PhantomData<O>,
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
    Err(Field::DATA_SIZE.invalid(size, "a power of two"))
}

/// Checks that a record may begin at the position.
///
/// # Errors
///
/// `Invalid` if not.
pub(super) fn check_aligned(field: Field, position: u64) -> Result<(), RingError> {
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

impl<'a, O: Endian> Walk<'a, O> {
    /// Walks over the `length` bytes of `data` from `position` on. The caller has checked the size and the position.
    pub(super) fn new(data: &'a [u8], position: u64, length: u64, may_tear: bool) -> Self {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (run, behind) = pieces(data, position, length).unwrap_or_default();
        Self::of_pieces(run, behind, position, may_tear)
    }

    /// Walks over `run`, which begins at `position`, and then over `behind`.
    #[inline]
    pub(super) fn of_pieces(run: &'a [u8], behind: &'a [u8], position: u64, may_tear: bool) -> Self {
        let end = position.wrapping_add(run.len() as u64).wrapping_add(behind.len() as u64);
        Self {
            run,
            behind,
            end,
            may_tear,
            given_up: 0,
            rest: Rest::Unread,
            wrapped: false,
            order: core::marker::PhantomData,
        }
    }

    /// Returns the position of the next record; after the end, that of the bytes given up.
    #[inline]
    pub(super) fn position(&self) -> u64 {
        self.end.wrapping_sub(self.left()).wrapping_sub(self.given_up)
    }

    /// Returns the number of bytes not walked yet.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        (self.run.len() as u64).saturating_add(self.behind.len() as u64)
    }

    /// Returns the number of bytes given up for this reason.
    pub(super) fn given_up(&self, rest: Rest) -> u64 {
        if self.rest == rest { self.given_up } else { 0 }
    }

    /// Returns the number of records found that wrap: at most one in an area.
    pub(super) fn wrapped(&self) -> u64 {
        u64::from(self.wrapped)
    }

    pub(super) fn torn(&self) -> Option<Torn> {
        let bytes = self.given_up(Rest::Torn);
        (bytes != 0).then(|| Torn { position: self.position(), bytes })
    }

    /// Returns the next record; `None` after an error.
    #[inline]
    pub(super) fn step(&mut self) -> Option<Result<Found<'a, O>, RingError>> {
        match RawRecord::parse(self.run) {
            Ok((record, rest)) if rest.len() % ALIGN == 0 => {
                self.run = rest;
                Some(Ok(Found::Whole(record)))
            }
            _ => self.turn(),
        }
    }

    /// Does the same as [`step`](Self::step), and joins a record that wraps in `buffer`.
    #[inline]
    pub(super) fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        match self.step()? {
            Ok(Found::Whole(record)) => Some(Ok(record)),
            Ok(Found::Wrapped(first, second)) => Some(self.join(buffer, first, second)),
            Err(error) => Some(Err(error)),
        }
    }

    #[cold]
    fn join<'b>(
        &self,
        buffer: &'b mut Buffer,
        first: &[u8],
        second: &[u8],
    ) -> Result<RawRecord<'b, O>, RingError> {
        let size = (first.len() as u64).saturating_add(second.len() as u64);
        buffer.join(first, second, self.position().wrapping_sub(size))
    }

    /// Handles the case of no whole record at the front: continues at the start of the data area, ends, or returns an
    /// error.
    #[cold]
    fn turn(&mut self) -> Option<Result<Found<'a, O>, RingError>> {
        if self.run.is_empty() {
            if self.behind.is_empty() {
                return None;
            }
            self.run = core::mem::take(&mut self.behind);
            return self.step();
        }
        let left = self.left();
        // The header is complete, because pieces are multiples of its size.
        let size = self.run.get(6..).and_then(|from| U16::<O>::read_from_prefix(from).ok());
        let size = size.map_or(0, |(size, _)| size.get());
        let wraps = usize::from(size).checked_sub(self.run.len());
        let position = self.position();
        let mut fault = None;
        if size == 0 && self.may_tear {
            let is_unwritten = self.run.iter().chain(self.behind).all(|&byte| byte == 0);
            self.rest = if is_unwritten { Rest::Unwritten } else { Rest::Torn };
        } else if usize::from(size) < ALIGN || usize::from(size) % ALIGN != 0 {
            fault = Some(RingErrorKind::RecordSize { size, unread: left });
        } else if let Some((second, rest)) = wraps.and_then(|wraps| self.behind.split_at_checked(wraps)) {
            let first = core::mem::replace(&mut self.run, rest);
            self.behind = &[];
            self.wrapped = true;
            return Some(Ok(Found::Wrapped(first, second)));
        } else if self.may_tear {
            self.rest = Rest::Torn;
        } else {
            let (field, needed) = ("header.size", u64::from(size));
            fault = Some(RingErrorKind::Truncated { field, needed, available: left });
        }
        self.given_up = left;
        self.run = &[];
        self.behind = &[];
        fault.map(|kind| Err(RingError { kind, position }))
    }
}

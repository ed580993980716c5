//! The one way to take fields off the front of a record.

use perf_abi::endian::{Endian, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::error::{Error, ErrorKind};

/// The bytes of a record that are not yet decoded, and where in the record they begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    /// Offset in the record of the end of `rest`.
    end: u32,
}

impl<'a> Cursor<'a> {
    /// `rest` begins `offset` bytes into the record.
    pub(crate) fn new(rest: &'a [u8], offset: u32) -> Self {
        Self { rest, end: offset.saturating_add(saturate(rest.len())) }
    }

    /// `rest` ends `end` bytes into the record: what is known where records are walked by the million.
    #[inline]
    pub(crate) fn ending(rest: &'a [u8], end: u32) -> Self {
        Self { rest, end }
    }

    /// Where in the record the next field begins.
    #[inline]
    pub(crate) fn offset(&self) -> u32 {
        self.end.saturating_sub(saturate(self.rest.len()))
    }

    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes all that is left.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(self.rest.len()).unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    #[inline]
    pub(crate) fn truncated(&self, field: &'static str, needed: u64) -> Error {
        truncated(field, needed, self.rest.len(), self.end)
    }

    /// Takes a fixed part.
    #[inline]
    pub(crate) fn fixed<T>(&mut self, field: &'static str) -> Result<&'a T, Error>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        match T::ref_from_prefix(self.rest) {
            Ok((fixed, rest)) => {
                self.rest = rest;
                Ok(fixed)
            }
            Err(_) => Err(self.truncated(field, size_of::<T>() as u64)),
        }
    }

    /// Takes one 8-byte word.
    #[inline]
    pub(crate) fn word<O: Endian>(&mut self, field: &'static str) -> Result<u64, Error> {
        self.fixed::<U64<O>>(field).map(|word| word.get())
    }

    /// Takes `count` elements.
    #[inline]
    pub(crate) fn array<T>(&mut self, count: u64, field: &'static str) -> Result<&'a [T], Error>
    where
        T: FromBytes + Immutable + Unaligned,
    {
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| <[T]>::ref_from_prefix_with_elems(self.rest, count).ok());
        match taken {
            Some((array, rest)) => {
                self.rest = rest;
                Ok(array)
            }
            None => Err(self.truncated(field, count.saturating_mul(size_of::<T>() as u64))),
        }
    }

    /// Takes `count` bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, count: u64, field: &'static str) -> Result<&'a [u8], Error> {
        self.array::<u8>(count, field)
    }

    /// Takes all that is left as a string: what stands before its first NUL. The padding behind it means nothing.
    pub(crate) fn string(&mut self, field: &'static str) -> Result<&'a [u8], Error> {
        let offset = self.offset();
        let padded = self.take_rest();
        match padded.iter().position(|&byte| byte == 0).and_then(|nul| padded.get(..nul)) {
            Some(string) => Ok(string),
            None => Err(Error::new(ErrorKind::Unterminated { field }, offset)),
        }
    }

    /// Ends the decoding.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Residue`] if bytes are left.
    #[inline]
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.residue())
    }

    /// That bytes are left.
    #[cold]
    pub(crate) fn residue(&self) -> Error {
        Error::new(ErrorKind::Residue { bytes: saturate(self.rest.len()) }, self.offset())
    }
}

/// That a field is cut off, of which `available` bytes are there, up to the offset `end`. Apart, and by value, so that what
/// it takes is not worked out before there is a fault.
#[cold]
#[inline(never)]
fn truncated(field: &'static str, needed: u64, available: usize, end: u32) -> Error {
    let offset = end.saturating_sub(saturate(available));
    Error::new(ErrorKind::Truncated { field, needed, available: available as u64 }, offset)
}

/// A length as an offset; records and sections are far below the limit.
#[inline]
fn saturate(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

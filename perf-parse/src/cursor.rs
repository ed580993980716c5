//! The cursor that takes fields from the front of a record.

use perf_abi::endian::{ByteOrder, Endian, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::error::{Error, ErrorKind};
use crate::list::{List, ListItem};

/// The bytes of a record that are not decoded yet, with their offset in the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    /// Offset in the record of the end of `rest`.
    end: u32,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor over `rest`, which begins at `offset` in the record.
    pub(crate) fn new(rest: &'a [u8], offset: u32) -> Self {
        Self { rest, end: offset.saturating_add(saturate(rest.len())) }
    }

    /// Returns a cursor over `rest`, which ends at `end` in the record. Saves an addition in the walk over records,
    /// which knows the end.
    #[inline]
    pub(crate) fn ending(rest: &'a [u8], end: u32) -> Self {
        Self { rest, end }
    }

    /// Returns the offset in the record of the next field.
    #[inline]
    pub(crate) fn offset(&self) -> u32 {
        self.end.saturating_sub(saturate(self.rest.len()))
    }

    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes all remaining bytes.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(self.rest.len()).unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    #[inline]
    pub(crate) fn truncated(&self, field: &'static str, needed: u64) -> Error {
        truncated(field, needed, self.rest.len(), self.end)
    }

    /// Takes a value of fixed size.
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

    /// Takes one 8-byte word in a byte order that may be known only at run time.
    #[inline]
    pub(crate) fn word_in<O: ByteOrder>(
        &mut self,
        order: O::Value,
        field: &'static str,
    ) -> Result<u64, Error> {
        self.fixed::<[u8; 8]>(field).map(|&bytes| O::u64(order, bytes))
    }

    /// Takes an array of `count` values.
    #[inline]
    pub(crate) fn list<T: ListItem, O: ByteOrder>(
        &mut self,
        order: O::Value,
        count: u64,
        field: &'static str,
    ) -> Result<List<'a, T, O>, Error> {
        self.array(count, field).map(|values| List::of(order, values))
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

    /// Takes all remaining bytes and returns the string before the first NUL. The padding after the NUL has no
    /// meaning.
    pub(crate) fn string(&mut self, field: &'static str) -> Result<&'a [u8], Error> {
        let offset = self.offset();
        let padded = self.take_rest();
        match padded.iter().position(|&byte| byte == 0).and_then(|nul| padded.get(..nul)) {
            Some(string) => Ok(string),
            None => Err(Error::new(ErrorKind::Unterminated { field }, offset)),
        }
    }

    /// Takes a string and its NUL.
    #[cfg(feature = "alloc")]
    pub(crate) fn c_string(&mut self, field: &'static str) -> Result<&'a [u8], Error> {
        let nul = self.rest.iter().position(|&byte| byte == 0);
        let Some((string, [_, rest @ ..])) = nul.and_then(|nul| self.rest.split_at_checked(nul)) else {
            return Err(Error::new(ErrorKind::Unterminated { field }, self.offset()));
        };
        self.rest = rest;
        Ok(string)
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

    /// Returns the error for bytes that are left.
    #[cold]
    pub(crate) fn residue(&self) -> Error {
        Error::new(ErrorKind::Residue { bytes: saturate(self.rest.len()) }, self.offset())
    }
}

/// Returns the error for a field that is cut off: `available` bytes of it are present, up to the offset `end`. A
/// separate function that takes its arguments by value, so that the error is computed only after a fault.
#[cold]
#[inline(never)]
fn truncated(field: &'static str, needed: u64, available: usize, end: u32) -> Error {
    let offset = end.saturating_sub(saturate(available));
    Error::new(ErrorKind::Truncated { field, needed, available: available as u64 }, offset)
}

/// Converts a length to an offset. Records and sections are far shorter than the limit.
#[inline]
fn saturate(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

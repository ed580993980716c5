//! What all features are made of: numbers, strings, lists.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U32};

use crate::cursor::Cursor;
use crate::error::Error;

/// Takes a 32-bit number.
pub(super) fn number<O: Endian>(at: &mut Cursor<'_>, field: &'static str) -> Result<u32, Error> {
    at.fixed::<U32<O>>(field).map(|number| number.get())
}

/// Takes a string: its length, NUL and padding included, and its bytes.
pub(super) fn string<'a, O: Endian>(at: &mut Cursor<'a>, field: &'static str) -> Result<&'a [u8], Error> {
    let len = number::<O>(at, field)?;
    let offset = at.offset();
    let padded = at.bytes(u64::from(len), field)?;
    Cursor::new(padded, offset).string(field)
}

/// Takes a 32-bit count, and as many items.
pub(super) fn list<'a, O: Endian, T>(
    at: &mut Cursor<'a>,
    field: &'static str,
    item: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let nr = number::<O>(at, field)?;
    items(at, u64::from(nr), item)
}

/// Takes `nr` items.
pub(super) fn items<'a, T>(
    at: &mut Cursor<'a>,
    nr: u64,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    // Not reserved by the count, which may be anything: each item takes bytes of the section, or fails.
    let mut items = Vec::new();
    for _ in 0..nr {
        items.push(item(at)?);
    }
    Ok(items)
}

/// Takes a 32-bit count, and as many strings.
pub(super) fn strings<'a, O: Endian>(
    at: &mut Cursor<'a>,
    nr: &'static str,
    field: &'static str,
) -> Result<Vec<&'a [u8]>, Error> {
    list::<O, _>(at, nr, |at| string::<O>(at, field))
}

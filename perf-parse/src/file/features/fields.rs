//! The parts that features consist of: numbers, strings, lists.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, U32};

use crate::cursor::Cursor;
use crate::error::Error;

/// Size of the shortest string in bytes: its length and its NUL.
pub(super) const STRING: usize = 5;

/// Takes a 32-bit number.
pub(super) fn number<O: Endian>(at: &mut Cursor<'_>, field: &'static str) -> Result<u32, Error> {
    at.fixed::<U32<O>>(field).map(|number| number.get())
}

/// Takes a string: its length, which includes NUL and padding, and its bytes.
pub(super) fn string<'a, O: Endian>(at: &mut Cursor<'a>, field: &'static str) -> Result<&'a [u8], Error> {
    let len = number::<O>(at, field)?;
    let offset = at.offset();
    let padded = at.bytes(u64::from(len), field)?;
    Cursor::new(padded, offset).string(field)
}

/// Takes a 32-bit count, and that number of items of at least `least` bytes each.
pub(super) fn list<'a, O: Endian, T>(
    at: &mut Cursor<'a>,
    field: &'static str,
    least: usize,
    item: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let nr = number::<O>(at, field)?;
    items(at, u64::from(nr), least, item)
}

/// Takes `nr` items of at least `least` bytes each.
pub(super) fn items<'a, T>(
    at: &mut Cursor<'a>,
    nr: u64,
    least: usize,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    // The count may be wrong: reserve room for at most the items that fit into the rest of the bytes.
    let most = at.rest().len().checked_div(least).unwrap_or(0);
    let mut items = Vec::with_capacity(usize::try_from(nr).map_or(most, |nr| nr.min(most)));
    for _ in 0..nr {
        items.push(item(at)?);
    }
    Ok(items)
}

/// Takes a 32-bit count, and that number of strings.
pub(super) fn strings<'a, O: Endian>(
    at: &mut Cursor<'a>,
    nr: &'static str,
    field: &'static str,
) -> Result<Vec<&'a [u8]>, Error> {
    list::<O, _>(at, nr, STRING, |at| string::<O>(at, field))
}

//! Strings: to the program as a pointer and a length, from it with a NUL.

use core::ffi::{CStr, c_char};
use core::ptr;

use crate::error::perfdata_error;

/// Bytes of the library: a name, a path or a text, of any encoding, without a NUL at the end unless that is stated. `data` is NULL
/// if there is none, for example no name is known; an empty text has a `size` of 0 and a `data` that is not NULL.
///
/// They live until the next call on their handle that is not const, unless a function states more.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_string {
    /// The first byte.
    pub data: *const c_char,
    /// Number of bytes.
    pub size: usize,
}

impl perfdata_string {
    pub(crate) const NONE: Self = Self { data: ptr::null(), size: 0 };

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len() }
    }

    pub(crate) fn of_option(bytes: Option<&[u8]>) -> Self {
        bytes.map_or(Self::NONE, Self::of)
    }
}

/// Returns the bytes of a string of the program; `None` for NULL.
///
/// # Safety
///
/// `text` is NULL or ends with a NUL, and lives for `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller passes a string that ends with a NUL.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Returns a string of the program that must be UTF-8; `None` for NULL.
///
/// # Safety
///
/// As for [`bytes`].
///
/// # Errors
///
/// If it is not UTF-8.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>, perfdata_error> {
    // SAFETY: the caller passes NULL or a string.
    let bytes = unsafe { bytes(text) };
    let text = bytes.map(core::str::from_utf8).transpose();
    text.map_err(|_| perfdata_error::argument(format!("{name} is not UTF-8")))
}

/// Returns the strings of an array of the program.
///
/// # Safety
///
/// `list` has `count` strings, each as for [`bytes`].
///
/// # Errors
///
/// If one of them, or the array, is NULL.
pub(crate) unsafe fn list<'a>(
    list: *const *const c_char,
    count: usize,
    name: &str,
) -> Result<Vec<&'a [u8]>, perfdata_error> {
    // SAFETY: the caller passes an array of this length.
    let list = unsafe { array(list, count, name) }?;
    // SAFETY: the caller passes an array of strings.
    let bytes = list.iter().map(|&text| unsafe { bytes(text) });
    bytes
        .map(|it| it.ok_or_else(|| perfdata_error::argument(format!("a string of {name} is NULL"))))
        .collect()
}

/// Returns an array of the program; an empty one if `count` is 0.
///
/// # Safety
///
/// `list` has `count` values, which live for `'a`.
///
/// # Errors
///
/// If it is NULL, and `count` is not 0.
pub(crate) unsafe fn array<'a, T>(
    list: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], perfdata_error> {
    if count == 0 {
        return Ok(&[]);
    }
    if list.is_null() {
        return Err(perfdata_error::argument(format!("{name} is NULL, and its count is {count}")));
    }
    // SAFETY: the caller passes an array of this length.
    Ok(unsafe { core::slice::from_raw_parts(list, count) })
}

//! Errors: a code, a text and an offset.

use core::ffi::c_int;

use perf_annotate::NoAnnotation;
use perf_parse::FileError;
use perf_parse::error::FileErrorKind;
use perf_profile::ProfileError;

use crate::string::perfdata_string;

/// The call did what it should.
pub const PERFDATA_OK: c_int = 0;
/// An argument is invalid: a NULL pointer, an index out of range, a path that is not text.
pub const PERFDATA_ERROR_ARGUMENT: c_int = -1;
/// A file, or a callback of the program, could not be read or written.
pub const PERFDATA_ERROR_IO: c_int = -2;
/// The bytes are no capture, or a record of the capture cannot be decoded. The error has the offset.
pub const PERFDATA_ERROR_FORMAT: c_int = -3;
/// The capture does not have what is selected or asked for.
pub const PERFDATA_ERROR_SELECTION: c_int = -4;
/// The program cancelled the work.
pub const PERFDATA_ERROR_CANCELLED: c_int = -5;
/// The program was built for a newer library, and uses what this one does not have.
pub const PERFDATA_ERROR_UNSUPPORTED: c_int = -6;
/// The library failed: a bug. The handle can only be freed.
pub const PERFDATA_ERROR_INTERNAL: c_int = -7;
/// The code of a function was not found, or there is no disassembler for its machine. The text has the reason.
pub const PERFDATA_ERROR_NO_CODE: c_int = -8;

/// What went wrong in a call, and what to do. Free it with perfdata_error_free.
#[derive(Clone, Debug)]
pub struct perfdata_error {
    code: c_int,
    /// Ends with a NUL, which is no part of the text.
    text: Vec<u8>,
    offset: Option<u64>,
}

impl perfdata_error {
    pub(crate) fn new(code: c_int, text: impl Into<String>) -> Self {
        let mut text = text.into().into_bytes();
        text.retain(|&byte| byte != 0);
        text.push(0);
        Self { code, text, offset: None }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::new(PERFDATA_ERROR_ARGUMENT, text)
    }

    /// Returns the error with what it is about before its text.
    pub(crate) fn about(mut self, what: &str) -> Self {
        let mut text = what.replace('\0', "").into_bytes();
        text.extend_from_slice(b": ");
        text.append(&mut self.text);
        Self { text, ..self }
    }

    pub(crate) fn code(&self) -> c_int {
        self.code
    }

    /// Returns the text without its NUL.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.split_last().map_or(&[], |(_, text)| text)
    }

    pub(crate) fn offset(&self) -> Option<u64> {
        self.offset
    }

    pub(crate) fn into_raw(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }
}

impl From<FileError> for perfdata_error {
    fn from(error: FileError) -> Self {
        let is_io = matches!(error.kind, FileErrorKind::Io(_));
        let code = if is_io { PERFDATA_ERROR_IO } else { PERFDATA_ERROR_FORMAT };
        let offset = (!is_io).then_some(error.offset);
        Self { offset, ..Self::new(code, error.to_string()) }
    }
}

impl From<ProfileError> for perfdata_error {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::Record(error) => error.into(),
            ProfileError::Cancelled => Self::new(PERFDATA_ERROR_CANCELLED, error.to_string()),
            error => Self::new(PERFDATA_ERROR_SELECTION, error.to_string()),
        }
    }
}

impl From<NoAnnotation> for perfdata_error {
    fn from(why: NoAnnotation) -> Self {
        Self::new(PERFDATA_ERROR_NO_CODE, why.to_string())
    }
}

impl From<std::io::Error> for perfdata_error {
    fn from(error: std::io::Error) -> Self {
        Self::new(PERFDATA_ERROR_IO, error.to_string())
    }
}

/// Returns the code of an error; PERFDATA_OK for NULL.
///
/// # Safety
///
/// `error` is NULL or an error of this library that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_error_code(error: *const perfdata_error) -> c_int {
    // SAFETY: the caller passes NULL or a live error.
    unsafe { error.as_ref() }.map_or(PERFDATA_OK, perfdata_error::code)
}

/// Returns the text of an error, which also ends with a NUL; an empty one for NULL. It lives as long as the error.
///
/// # Safety
///
/// `error` is NULL or an error of this library that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_error_text(error: *const perfdata_error) -> perfdata_string {
    // SAFETY: the caller passes NULL or a live error.
    let text = unsafe { error.as_ref() }.map_or(&b"\0"[..0], perfdata_error::text);
    perfdata_string::of(text)
}

/// Returns whether an error has an offset, and writes it: the number of bytes of the capture before the record or field that
/// is wrong.
///
/// # Safety
///
/// `error` is NULL or an error of this library that was not freed. `offset` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_error_offset(error: *const perfdata_error, offset: *mut u64) -> bool {
    // SAFETY: the caller passes NULL or a live error.
    let Some(found) = (unsafe { error.as_ref() }).and_then(perfdata_error::offset) else { return false };
    if !offset.is_null() {
        // SAFETY: the caller passes what can be written.
        unsafe { offset.write(found) };
    }
    true
}

/// Frees an error. NULL has no effect.
///
/// # Safety
///
/// `error` is NULL or an error of this library that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_error_free(error: *mut perfdata_error) {
    if !error.is_null() {
        // SAFETY: it came from `into_raw`, and the caller frees it once.
        drop(unsafe { Box::from_raw(error) });
    }
}

//! Opening captures: a path, a file descriptor, bytes, callbacks.

use core::ffi::{c_char, c_int, c_void};
use std::fs;
use std::io::Cursor;
use std::path::Path;

use perf_parse::Reader;

use crate::boundary::{CallResult, call, give};
use crate::capture::perfdata_capture;
use crate::error::perfdata_error;
use crate::source::{CallbackSource, perfdata_source};
use crate::string;
use crate::versioned;

/// Opens a capture by its path: a file, a pipe, or the folder of `perf record --threads`. `-` is the standard input. It is read by
/// windows and not mapped, so that a file that another program cuts short is an error and not a signal.
///
/// # Safety
///
/// `path` ends with a NUL; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_open(
    path: *const c_char,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes NULL or a string.
        let name = unsafe { string::bytes(path) }.ok_or_else(|| perfdata_error::argument("path is NULL"))?;
        let path = path_of(name)?;
        let open = Reader::open(path)
            .map_err(|error| perfdata_error::from(error).about(&String::from_utf8_lossy(name)));
        let written = fs::metadata(path).and_then(|it| it.modified()).ok();
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_capture::new(open?, written)) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Opens the capture of a file descriptor: of a file from its start, or of a pipe or socket from where it is. The descriptor stays
/// the caller's, and is duplicated. The records of a pipe can be read once, by one handle.
///
/// # Safety
///
/// `fd` is an open descriptor; `out` and `error` can be written, `error` may be NULL.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_open_fd(
    fd: c_int,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    use std::os::fd::BorrowedFd;

    let act = || {
        if fd < 0 {
            return Err(perfdata_error::argument(format!("the file descriptor is {fd}")));
        }
        // SAFETY: it is not negative, and the caller keeps it open during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        let file = fs::File::from(fd.try_clone_to_owned()?);
        let written = file.metadata().ok().filter(fs::Metadata::is_file).and_then(|it| it.modified().ok());
        let reader = Reader::from_file(file)?;
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_capture::new(reader, written)) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Opens a capture in memory. The bytes are copied.
///
/// # Safety
///
/// `data` has `size` bytes; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_open_bytes(
    data: *const c_void,
    size: usize,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes that many bytes.
        let bytes = unsafe { string::array(data.cast::<u8>(), size, "data") }?.to_vec();
        // SAFETY: the caller passes what can be written.
        unsafe { opened(Reader::from_seekable(Cursor::new(bytes)), out) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Opens a capture in memory without copying the bytes. They must stay as they are until the capture and all handles that were
/// made from it are freed.
///
/// # Safety
///
/// `data` has `size` bytes, which nobody changes or frees until then; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_open_borrowed(
    data: *const c_void,
    size: usize,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes that many bytes, which live as long as all that reads them.
        let bytes: &'static [u8] = unsafe { string::array(data.cast::<u8>(), size, "data") }?;
        // SAFETY: the caller passes what can be written.
        unsafe { opened(Reader::new(bytes), out) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Opens a capture that the program reads. `source` is copied; its callbacks are called until `close`, which is also called if
/// the capture cannot be opened.
///
/// # Safety
///
/// `source` has its size, and callbacks as it demands them; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_open_source(
    source: *const perfdata_source,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        if source.is_null() {
            return Err(perfdata_error::argument("source is NULL"));
        }
        // SAFETY: the caller passes a structure with its size.
        let source = CallbackSource::new(unsafe { versioned::read(source, "perfdata_source") }?);
        if !source.can_read() {
            return Err(perfdata_error::argument("perfdata_source: read_at is NULL"));
        }
        // SAFETY: the caller passes what can be written.
        unsafe { opened(Reader::from_seekable(source), out) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Gives an opened capture, which has no file, to the program.
///
/// # Safety
///
/// `out` is NULL or can be written.
unsafe fn opened(
    reader: Result<Reader<'static>, perf_parse::FileError>,
    out: *mut *mut perfdata_capture,
) -> CallResult {
    // SAFETY: the caller passes what can be written.
    unsafe { give(out, perfdata_capture::new(reader?, None)) }
}

/// Returns a path of the program.
///
/// # Errors
///
/// If it cannot be one on this system.
#[cfg(unix)]
pub(crate) fn path_of(name: &[u8]) -> Result<&Path, perfdata_error> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(name)))
}

/// Returns a path of the program.
///
/// # Errors
///
/// If it cannot be one on this system.
#[cfg(not(unix))]
pub(crate) fn path_of(name: &[u8]) -> Result<&Path, perfdata_error> {
    let name = core::str::from_utf8(name);
    name.map(Path::new).map_err(|_| perfdata_error::argument("a path is not UTF-8"))
}

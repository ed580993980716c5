//! Tests of what C tests cannot reach: panics inside the library, and structures of other versions.

mod annotation;
mod header;
mod panics;
mod records;
mod trace_samples;
mod versions;

use std::path::PathBuf;

use crate::capture::perfdata_capture;
use crate::error::perfdata_error;

/// Returns the path of a capture of testdata.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures").join(name)
}

/// Returns an opened capture of testdata, which the test frees.
fn open(name: &str) -> *mut perfdata_capture {
    let name = std::ffi::CString::new(path(name).to_str().unwrap()).unwrap();
    let (mut capture, mut error) = (core::ptr::null_mut(), core::ptr::null_mut());
    // SAFETY: all arguments are valid.
    let code = unsafe { crate::open::perfdata_capture_open(name.as_ptr(), &raw mut capture, &raw mut error) };
    assert_eq!((code, text(error).as_str()), (0, ""));
    capture
}

/// Returns the text of an error, and frees it.
fn text(error: *mut perfdata_error) -> String {
    // SAFETY: the error is NULL or live.
    let text = unsafe { error.as_ref() }.map(|it| String::from_utf8(it.text().to_vec()).unwrap());
    // SAFETY: it is not used again.
    unsafe { crate::error::perfdata_error_free(error) };
    text.unwrap_or_default()
}

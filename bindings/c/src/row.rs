//! Rows of the tables of handles, each written by its index.

use core::ffi::c_int;

use crate::boundary::{call, shared};
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::versioned::{self, Versioned};

/// Writes a row of a table of a handle.
///
/// # Safety
///
/// `handle` is NULL or live; `out` is NULL or has its size; `error` is NULL or can be written.
pub(crate) unsafe fn row<H, T: Versioned>(
    handle: *const H,
    out: *mut T,
    error: *mut *mut perfdata_error,
    name: &str,
    make: impl FnOnce(&H) -> Result<T, perfdata_error>,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let row = make(unsafe { shared(handle) }?)?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, row, name) }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns the number of rows of a table.
pub(crate) fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

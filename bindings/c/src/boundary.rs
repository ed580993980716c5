//! The boundary of each call: panics become errors, handles and arguments are checked.

use core::any::Any;
use core::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{PERFDATA_ERROR_INTERNAL, PERFDATA_OK, perfdata_error};

/// The result of a call: a code that is not negative, or an error.
pub(crate) type CallResult = Result<c_int, perfdata_error>;

/// Runs a call. Returns its code, and writes its error.
///
/// # Safety
///
/// `error` is NULL or can be written.
pub(crate) unsafe fn call(error: *mut *mut perfdata_error, act: impl FnOnce() -> CallResult) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(of_panic(&*panic)));
    let (code, failed) = match result {
        Ok(code) => (code, None),
        Err(error) => (error.code(), Some(error)),
    };
    if !error.is_null() {
        let failed = failed.map_or(core::ptr::null_mut(), perfdata_error::into_raw);
        // SAFETY: the caller passes what can be written.
        unsafe { error.write(failed) };
    }
    code
}

/// Runs a call that returns a value, and not a code: `default` if it fails.
pub(crate) fn value<T>(default: T, act: impl FnOnce() -> Option<T>) -> T {
    catch_unwind(AssertUnwindSafe(act)).ok().flatten().unwrap_or(default)
}

/// Drops a handle of the program. NULL has no effect.
///
/// # Safety
///
/// `handle` is NULL or came from [`give`], and is dropped once.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    // SAFETY: it came from a box, and the caller frees it once.
    let handle = unsafe { Box::from_raw(handle) };
    // What a drop that panics does not free is leaked.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

/// Gives a new handle to the program.
///
/// # Safety
///
/// `out` is NULL or can be written.
///
/// # Errors
///
/// If it is NULL.
pub(crate) unsafe fn give<T>(out: *mut *mut T, handle: T) -> CallResult {
    if out.is_null() {
        return Err(perfdata_error::argument("the place of the new handle is NULL"));
    }
    let handle = Box::into_raw(Box::new(handle));
    // SAFETY: the caller passes what can be written.
    unsafe { out.write(handle) };
    Ok(PERFDATA_OK)
}

/// Returns a handle that threads may share.
///
/// # Safety
///
/// `handle` is NULL or live.
///
/// # Errors
///
/// If it is NULL.
pub(crate) unsafe fn shared<'a, T>(handle: *const T) -> Result<&'a T, perfdata_error> {
    // SAFETY: the caller passes NULL or a live handle.
    unsafe { handle.as_ref() }.ok_or_else(|| perfdata_error::argument("the handle is NULL"))
}

/// A handle that one thread uses at a time. A call that panicked may leave it inconsistent, so no further one uses it.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    handle: T,
    is_broken: bool,
}

impl<T> Exclusive<T> {
    pub(crate) fn new(handle: T) -> Self {
        Self { handle, is_broken: false }
    }

    /// Returns what the handle has, to read it.
    pub(crate) fn get(&self) -> Option<&T> {
        (!self.is_broken).then_some(&self.handle)
    }

    /// Returns what the handle has, to read it.
    ///
    /// # Errors
    ///
    /// If an earlier call panicked.
    pub(crate) fn read(&self) -> Result<&T, perfdata_error> {
        self.get().ok_or_else(broken)
    }

    /// Runs what changes the handle.
    ///
    /// # Errors
    ///
    /// Those of `act`, and if an earlier call panicked.
    pub(crate) fn run<R>(
        &mut self,
        act: impl FnOnce(&mut T) -> Result<R, perfdata_error>,
    ) -> Result<R, perfdata_error> {
        if self.is_broken {
            return Err(broken());
        }
        self.is_broken = true;
        let result = act(&mut self.handle);
        self.is_broken = false;
        result
    }
}

/// Returns a handle that one thread uses at a time.
///
/// # Safety
///
/// `handle` is NULL or live, and no other call uses it.
///
/// # Errors
///
/// If it is NULL.
pub(crate) unsafe fn exclusive<'a, T>(handle: *mut T) -> Result<&'a mut T, perfdata_error> {
    // SAFETY: the caller passes NULL or a live handle that no other call uses.
    unsafe { handle.as_mut() }.ok_or_else(|| perfdata_error::argument("the handle is NULL"))
}

fn broken() -> perfdata_error {
    let why = "an earlier call on this handle failed inside the library; free it";
    perfdata_error::new(PERFDATA_ERROR_INTERNAL, why)
}

fn of_panic(panic: &(dyn Any + Send)) -> perfdata_error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    let text = format!("the library failed: {text}; please report this, with the capture if you can");
    perfdata_error::new(PERFDATA_ERROR_INTERNAL, text)
}

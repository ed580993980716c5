//! No panic leaves the library.

use core::ptr;

use crate::boundary::{Exclusive, call, value};
use crate::error::{PERFDATA_ERROR_INTERNAL, PERFDATA_OK, perfdata_error};
use crate::tests::text;

#[test]
fn panics_become_an_error() {
    let mut error = ptr::null_mut();
    // SAFETY: the error can be written.
    let code = unsafe { call(&raw mut error, || panic!("index {} of 3", 7)) };
    assert_eq!(code, PERFDATA_ERROR_INTERNAL);
    let expected = "the library failed: index 7 of 3; please report this, with the capture if you can";
    assert_eq!(text(error), expected);
}

#[test]
fn panics_of_a_value_are_its_default() {
    assert_eq!(value(7, || panic!("no value")), 7);
    assert_eq!(value(7, || Some(8)), 8);
}

#[test]
fn errors_may_be_ignored_and_are_cleared() {
    // SAFETY: NULL is permitted.
    let code = unsafe { call(ptr::null_mut(), || Err(perfdata_error::argument("why"))) };
    assert_eq!(code, crate::error::PERFDATA_ERROR_ARGUMENT);
    let mut error = ptr::dangling_mut();
    // SAFETY: the error can be written.
    let code = unsafe { call(&raw mut error, || Ok(PERFDATA_OK)) };
    assert_eq!((code, error), (PERFDATA_OK, ptr::null_mut()));
}

#[test]
fn handles_are_not_used_after_a_panic() {
    let mut handle = Exclusive::new(1);
    let panicked = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        handle.run::<()>(|_| panic!("in the middle"))
    }));
    assert!(panicked.is_err());
    assert_eq!(handle.get(), None);
    let error = handle.run(|value| Ok(*value)).unwrap_err();
    assert_eq!(error.code(), PERFDATA_ERROR_INTERNAL);
    let mut handle = Exclusive::new(1);
    assert_eq!(handle.run(|value| Ok(*value)).ok(), Some(1));
    assert_eq!(handle.get(), Some(&1));
}

fn none<T>() -> *mut T {
    ptr::null_mut()
}

/// Every handle and every place to write to may be NULL by mistake.
#[test]
fn null_is_an_error() {
    let mut error = ptr::null_mut();
    let check = |code: i32, error: &mut *mut perfdata_error| {
        assert_eq!(code, crate::error::PERFDATA_ERROR_ARGUMENT);
        assert!(text(core::mem::replace(error, none())).contains("is NULL"));
    };
    // SAFETY: NULL is permitted.
    let code = unsafe { crate::open::perfdata_capture_open(ptr::null(), none(), &raw mut error) };
    check(code, &mut error);
    // SAFETY: as above.
    let code = unsafe { crate::samples::perfdata_samples_next(none(), none(), &raw mut error) };
    check(code, &mut error);
    // SAFETY: as above.
    let code = unsafe { crate::records::perfdata_records_decode(none(), none(), &raw mut error) };
    check(code, &mut error);
    // SAFETY: as above.
    let code = unsafe { crate::profile_tables::perfdata_profile_sample(none(), 0, none(), &raw mut error) };
    check(code, &mut error);
    // SAFETY: as above.
    let code = unsafe { crate::export::perfdata_profile_write_fd(none(), 1, none(), 1, &raw mut error) };
    check(code, &mut error);
    let capture = crate::tests::open("plain.data");
    // SAFETY: the capture is live.
    let code = unsafe { crate::capture::perfdata_capture_info(capture, none(), &raw mut error) };
    check(code, &mut error);
    // SAFETY: it is freed once, and NULL is permitted.
    unsafe { crate::capture::perfdata_capture_free(capture) };
    // SAFETY: as above.
    unsafe { crate::samples::perfdata_samples_free(none()) };
}

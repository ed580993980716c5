//! Samples of AUX data: as many as the account has, and errors.

use core::ffi::CStr;
use core::mem::size_of;

use testdata::arm_spe::{Capture, RandomPackets};

use crate::capture::{perfdata_capture, perfdata_capture_event_count, perfdata_capture_free};
use crate::error::{PERFDATA_ERROR_ARGUMENT, PERFDATA_ERROR_SELECTION};
use crate::open::perfdata_capture_open_bytes;
use crate::tests::{open, text};
use crate::trace_samples::{
    perfdata_capture_has_trace, perfdata_capture_trace_samples, perfdata_trace_account,
};

/// Returns a capture with a trace, which the test frees.
fn traced() -> *mut perfdata_capture {
    let data = RandomPackets::new(1).records(100).out;
    let bytes = Capture { data, time_conv: Some([1, 2, 0]), ..Capture::default() }.build();
    let (mut capture, mut error) = (core::ptr::null_mut(), core::ptr::null_mut());
    // SAFETY: all arguments are valid.
    let code = unsafe {
        perfdata_capture_open_bytes(bytes.as_ptr().cast(), bytes.len(), &raw mut capture, &raw mut error)
    };
    assert_eq!((code, text(error).as_str()), (0, ""));
    capture
}

/// Makes the samples of a capture, and returns the code, the text of the error, the number of events and the account.
fn made(
    capture: *const perfdata_capture,
    letters: Option<&CStr>,
) -> (i32, String, usize, perfdata_trace_account) {
    let letters = letters.map_or(core::ptr::null(), CStr::as_ptr);
    let (mut out, mut error) = (core::ptr::null_mut(), core::ptr::null_mut());
    let size = size_of::<perfdata_trace_account>();
    let mut account = perfdata_trace_account { size, ..perf_profile::edit::TraceAccount::default().into() };
    // SAFETY: all arguments are valid.
    let code = unsafe {
        perfdata_capture_trace_samples(capture, letters, &raw mut account, &raw mut out, &raw mut error)
    };
    // SAFETY: it is NULL or live.
    let events = unsafe { perfdata_capture_event_count(out) };
    // SAFETY: it is NULL, or freed once.
    unsafe { perfdata_capture_free(out) };
    (code, text(error), events, account)
}

#[test]
fn samples_of_a_trace() {
    let capture = traced();
    // SAFETY: the handle is live.
    assert!(unsafe { perfdata_capture_has_trace(capture) });
    let (code, error, events, account) = made(capture, None);
    assert_eq!((code, error.as_str(), events), (0, "", 11));
    assert!(account.samples > 0 && account.records >= 100, "{account:?}");
    let (code, _, events, some) = made(capture, Some(c"i1iM"));
    assert_eq!((code, events), (0, 3));
    assert!(some.samples < account.samples && some.records == account.records);
    let (code, error, ..) = made(capture, Some(c"i1x"));
    assert_eq!(
        (code, error.as_str()),
        (PERFDATA_ERROR_ARGUMENT, "letters: at \"x\": must be a unit: i, t, ns, us or ms")
    );
    // SAFETY: it is freed once.
    unsafe { perfdata_capture_free(capture) };
}

#[test]
fn a_capture_without_a_trace() {
    let capture = open("plain.data");
    // SAFETY: the handle is live.
    assert!(!unsafe { perfdata_capture_has_trace(capture) });
    let (code, error, ..) = made(capture, None);
    assert_eq!(
        (code, error.as_str()),
        (PERFDATA_ERROR_SELECTION, "the capture has no AUX data of which samples are made")
    );
    // SAFETY: it is freed once.
    unsafe { perfdata_capture_free(capture) };
}

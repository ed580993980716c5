//! Samples of AUX data.

use core::ffi::{c_char, c_int};
use perf_parse::Reader;
use perf_profile::edit::{ItraceOptions, ItraceOptionsError, TraceAccount, TraceSamples};

use crate::boundary::{CallResult, call, give, shared, value};
use crate::capture::perfdata_capture;
use crate::error::{PERFDATA_ERROR_SELECTION, perfdata_error};
use crate::string;
use crate::versioned::{self, versioned};

/// What was decoded of AUX data, and what was not.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_trace_account {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Number of samples that were made.
    pub samples: u64,
    /// Number of records of the trace, including damaged ones.
    pub records: u64,
    /// Number of records of the trace that a fault ended.
    pub damaged: u64,
    /// Number of bytes at which there is no packet.
    pub bad_bytes: u64,
    /// Number of buffers whose data cannot be read.
    pub unreadable: u64,
    /// Number of bytes that the capture announces and does not have.
    pub cut_off: u64,
    /// Number of places at which data is missing between buffers.
    pub gaps: u64,
    /// Number of times that the kernel reported lost data.
    pub lost: u64,
    /// Whether all data was decoded.
    pub is_clean: bool,
}

versioned!(perfdata_trace_account);

impl From<TraceAccount> for perfdata_trace_account {
    fn from(account: TraceAccount) -> Self {
        Self {
            size: 0,
            samples: account.samples,
            records: account.records,
            damaged: account.damaged,
            bad_bytes: account.bad_bytes,
            unreadable: account.unreadable,
            cut_off: account.cut_off,
            gaps: account.gaps,
            lost: account.lost,
            is_clean: account.is_clean(),
        }
    }
}

/// Returns whether a capture has a trace of which the program `perfdata`, and perf, make samples without being asked: one of Arm SPE.
///
/// # Safety
///
/// `capture` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_has_trace(capture: *const perfdata_capture) -> bool {
    // SAFETY: the caller passes NULL or a live handle.
    value(false, || unsafe { capture.as_ref() }.map(|it| TraceSamples::are_in(it.reader())))
}

/// Makes the samples of the AUX data of a capture, and gives a capture that has them in place of the data. `letters` selects which, as
/// the option `--itrace` of `perfdata` does; NULL is all kinds, of each operation. A sample counts 1 without a period in the letters.
/// The new capture is in a temporary file without a name, which is gone with it. `account` may be NULL.
///
/// The code is PERFDATA_ERROR_SELECTION if the capture has no AUX data of which samples are made.
///
/// # Safety
///
/// `capture` is a live handle; `letters` is NULL or ends with a NUL; `account` is NULL, or `account->size` is set; `out` can be
/// written; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_trace_samples(
    capture: *const perfdata_capture,
    letters: *const c_char,
    account: *mut perfdata_trace_account,
    out: *mut *mut perfdata_capture,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || -> CallResult {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes NULL or a string.
        let options = options(unsafe { string::bytes(letters) })?;
        let (made, of_trace) = made(capture.reader(), &options)?;
        if !account.is_null() {
            // SAFETY: the caller passes a structure with its size.
            unsafe { versioned::write(account, of_trace.into(), "perfdata_trace_account") }?;
        }
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_capture::new(made, capture.written())) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns which samples are made.
///
/// # Errors
///
/// If the letters cannot be read.
fn options(letters: Option<&[u8]>) -> Result<ItraceOptions, perfdata_error> {
    let Some(letters) = letters else { return Ok(ItraceOptions::default()) };
    let options = String::from_utf8_lossy(letters).parse::<ItraceOptions>();
    let options = options
        .map_err(|error: ItraceOptionsError| perfdata_error::argument(error.to_string()).about("letters"))?;
    Ok(options.counted())
}

/// Returns the capture with the samples.
///
/// # Errors
///
/// If none can be made, or there is no room for them.
fn made(
    reader: &Reader<'_>,
    options: &ItraceOptions,
) -> Result<(Reader<'static>, TraceAccount), perfdata_error> {
    let none = |why: &dyn core::fmt::Display| perfdata_error::new(PERFDATA_ERROR_SELECTION, why.to_string());
    let samples = TraceSamples::of(reader, options).map_err(|error| none(&error))?;
    let samples = samples.ok_or_else(|| none(&"the capture has no AUX data of which samples are made"))?;
    let traced = samples.into_file(reader, tempfile::tempfile()?, |_| {});
    let traced = traced.map_err(std::io::Error::other)?;
    Ok((traced.reader, traced.account))
}

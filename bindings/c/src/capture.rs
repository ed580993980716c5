//! An opened capture.

use core::ffi::c_int;
use std::sync::Arc;
use std::time::SystemTime;

use perf_abi::endian::Endianness;
use perf_parse::Reader;
use perf_profile::CaptureOrigin;

use crate::account::perfdata_account;
use crate::boundary::{call, free, shared, value};
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::event::{NamedEvent, perfdata_event};
use crate::string::perfdata_string;
use crate::versioned::{self, versioned};

/// An opened capture. It does not change: any number of threads may use it at the same time, and it may be freed before the handles
/// that were made from it. Strings that it returns live as long as it does.
#[derive(Debug)]
pub struct perfdata_capture {
    reader: Arc<Reader<'static>>,
    events: Vec<NamedEvent>,
    origin: CaptureOrigin,
    /// When its file was written; `None` if it has none.
    written: Option<SystemTime>,
}

/// What is known of a capture before its records are read. In a pipe, what comes after its first sample is not there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_info {
    /// Size of this structure in bytes.
    pub size: usize,
    /// How the capture stores its records: `file` or `pipe`.
    pub mode: perfdata_string,
    /// The name of the machine that recorded it.
    pub hostname: perfdata_string,
    /// Its architecture, as in `uname -m`.
    pub arch: perfdata_string,
    /// The release of its kernel, as in `uname -r`.
    pub release: perfdata_string,
    /// The name of its processor.
    pub processor: perfdata_string,
    /// Nanoseconds from a time of the samples to the wall clock's, modulo 2^64, if `has_wall_clock`.
    pub to_wall_clock: u64,
    /// The number of its CPUs that were online; 0 if it was not recorded.
    pub cpus: u32,
    /// Whether times of samples can be converted to the wall clock.
    pub has_wall_clock: bool,
    /// Whether the capture is big-endian.
    pub is_big_endian: bool,
}

versioned!(perfdata_info);

impl perfdata_capture {
    pub(crate) fn new(reader: Reader<'static>, written: Option<SystemTime>) -> Self {
        let events = reader.events().iter().map(NamedEvent::new).collect();
        let origin = CaptureOrigin::of(reader.features());
        Self { reader: Arc::new(reader), events, origin, written }
    }

    pub(crate) fn reader(&self) -> &Arc<Reader<'static>> {
        &self.reader
    }

    pub(crate) fn written(&self) -> Option<SystemTime> {
        self.written
    }

    fn info(&self) -> perfdata_info {
        let Self { reader, origin, .. } = self;
        let text = |text: &Option<Vec<u8>>| perfdata_string::of_option(text.as_deref());
        perfdata_info {
            size: 0,
            mode: perfdata_string::of(reader.mode().name().as_bytes()),
            hostname: text(&origin.hostname),
            arch: text(&origin.arch),
            release: text(&origin.release),
            processor: text(&origin.processor),
            to_wall_clock: origin.to_wall_clock.unwrap_or(0),
            cpus: origin.cpus.unwrap_or(0),
            has_wall_clock: origin.to_wall_clock.is_some(),
            is_big_endian: reader.endianness() == Endianness::Big,
        }
    }
}

/// Writes what is known of a capture. Strings live as long as the capture.
///
/// # Safety
///
/// `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_info(
    capture: *const perfdata_capture,
    out: *mut perfdata_info,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, capture.info(), "perfdata_info") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns the number of events that are known before the records are read: of a file, all; of a pipe, those before its first
/// sample.
///
/// # Safety
///
/// `capture` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_event_count(capture: *const perfdata_capture) -> usize {
    // SAFETY: the caller passes NULL or a live handle.
    value(0, || unsafe { capture.as_ref() }.map(|it| it.events.len()))
}

/// Writes an event by its index. The name lives as long as the capture.
///
/// # Safety
///
/// `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_event(
    capture: *const perfdata_capture,
    index: usize,
    out: *mut perfdata_event,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        let event =
            capture.events.get(index).ok_or_else(|| out_of_range("event", index, capture.events.len()))?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, event.to_c(), "perfdata_event") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes the account of opening a capture: the faults of its header, attrs and features.
///
/// # Safety
///
/// `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_account(
    capture: *const perfdata_capture,
    out: *mut perfdata_account,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, capture.reader.account().into(), "perfdata_account") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns the error of an index.
pub(crate) fn out_of_range(what: &str, index: usize, count: usize) -> perfdata_error {
    perfdata_error::argument(format!("there is no {what} {index}; there are {count}, from 0 on"))
}

/// Frees a capture. Handles that were made from it stay valid. NULL has no effect.
///
/// # Safety
///
/// `capture` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_capture_free(capture: *mut perfdata_capture) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(capture) };
}

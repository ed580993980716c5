//! The samples of an event at an instruction, a source line or a function of an annotation.

use core::ffi::c_int;

use perf_profile::SampleTotal;

use crate::annotation::perfdata_annotation;
use crate::capture::out_of_range;
use crate::error::perfdata_error;
use crate::row::row;
use crate::versioned::versioned;

/// Samples of an event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_total {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Number of samples.
    pub samples: u64,
    /// The sum of their periods.
    pub period: u64,
}

versioned!(perfdata_total);

/// Returns the total of an event, given by its index.
///
/// # Errors
///
/// If there are not as many events.
pub(crate) fn total(totals: &[SampleTotal], event: usize) -> Result<perfdata_total, perfdata_error> {
    let it = totals.get(event).ok_or_else(|| out_of_range("event", event, totals.len()))?;
    Ok(perfdata_total { size: 0, samples: it.samples, period: it.period })
}

/// Writes the samples of an event at an instruction. Both are given by their indexes in the annotation.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_instruction_total(
    annotation: *const perfdata_annotation,
    instruction: u32,
    event: u32,
    out: *mut perfdata_total,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        total(&at("instruction", &it.annotation.instructions, instruction)?.totals, event as usize)
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_total", make) }
}

/// Writes the samples of an event at the instructions of a source line. Both are given by their indexes in the annotation.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_line_total(
    annotation: *const perfdata_annotation,
    line: u32,
    event: u32,
    out: *mut perfdata_total,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make =
        |it: &perfdata_annotation| total(&at("line", &it.annotation.lines, line)?.totals, event as usize);
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_total", make) }
}

/// Writes the samples of an event at the instructions of a function, without those of functions that are inlined into it. Both are
/// given by their indexes in the annotation.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_function_total(
    annotation: *const perfdata_annotation,
    function: u32,
    event: u32,
    out: *mut perfdata_total,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        total(&at("function", &it.annotation.functions, function)?.totals, event as usize)
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_total", make) }
}

/// Returns a row of a table by its index.
///
/// # Errors
///
/// If there are not as many.
pub(crate) fn at<'a, T>(what: &str, rows: &'a [T], index: u32) -> Result<&'a T, perfdata_error> {
    rows.get(index as usize).ok_or_else(|| out_of_range(what, index as usize, rows.len()))
}

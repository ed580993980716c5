//! The events and functions of an annotator, with their samples.

use core::ffi::{c_char, c_int};

use perf_annotate::{Annotator, SampledFunction};
use perf_profile::SampleTotal;

use crate::annotation_totals::{perfdata_total, total};
use crate::annotator::perfdata_annotator;
use crate::boundary::{call, shared, value};
use crate::capture::out_of_range;
use crate::error::perfdata_error;
use crate::event::perfdata_event;
use crate::row::row;
use crate::string::{self, perfdata_string};
use crate::versioned::versioned;

/// A function that has samples.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_sampled_function {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its name.
    pub name: perfdata_string,
    /// Its name as it is in the file.
    pub raw_name: perfdata_string,
    /// The path of its file, or a name as `[kernel.kallsyms]`.
    pub dso: perfdata_string,
    /// Why the name is a guess, in a word; NULL if it is not one.
    pub guess: perfdata_string,
    /// The offset of its start in the file; its address if it is in none.
    pub start: u64,
    /// Number of its bytes; UINT64_MAX if only DWARF has the function.
    pub length: u64,
}

/// Samples of an event in a capture.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_sampled_event {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Number of samples that were selected.
    pub samples: u64,
    /// The sum of their periods.
    pub period: u64,
    /// Number of those at addresses without a symbol, which are in no function.
    pub unnamed_samples: u64,
    /// The sum of the periods of these.
    pub unnamed_period: u64,
    /// Number of those that are in no function because there were too many different addresses before.
    pub beyond_samples: u64,
    /// The sum of the periods of these.
    pub beyond_period: u64,
}

versioned!(perfdata_sampled_function, perfdata_sampled_event);

/// Returns the number of events that have samples; 0 for NULL.
///
/// # Safety
///
/// `annotator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_event_count(annotator: *const perfdata_annotator) -> usize {
    // SAFETY: the caller passes NULL or a live handle.
    value(0, || unsafe { annotator.as_ref() }.map(|it| it.events.len()))
}

/// Writes an event that has samples by its index, which is not that in the capture.
///
/// # Safety
///
/// `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_event(
    annotator: *const perfdata_annotator,
    event: usize,
    out: *mut perfdata_event,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotator| {
        let found = it.events.get(event);
        Ok(found.ok_or_else(|| out_of_range("event", event, it.events.len()))?.to_c())
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotator, out, error, "perfdata_event", make) }
}

/// Writes the samples of an event, given by its index: all, and those that are in no function.
///
/// # Safety
///
/// `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_event_totals(
    annotator: *const perfdata_annotator,
    event: usize,
    out: *mut perfdata_sampled_event,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotator| {
        let it = it.annotator.read()?;
        let all = it.totals().get(event).ok_or_else(|| out_of_range("event", event, it.totals().len()))?;
        let of = |totals: &[SampleTotal]| totals.get(event).copied().unwrap_or_default();
        let (unnamed, beyond) = (of(it.unnamed()), of(it.beyond()));
        Ok(perfdata_sampled_event {
            size: 0,
            samples: all.samples,
            period: all.period,
            unnamed_samples: unnamed.samples,
            unnamed_period: unnamed.period,
            beyond_samples: beyond.samples,
            beyond_period: beyond.period,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotator, out, error, "perfdata_sampled_event", make) }
}

/// Returns the number of functions that have samples; 0 for NULL.
///
/// # Safety
///
/// `annotator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_function_count(annotator: *const perfdata_annotator) -> usize {
    // SAFETY: the caller passes NULL or a live handle.
    value(0, || unsafe { annotator.as_ref() }.and_then(|it| Some(it.annotator.get()?.functions().len())))
}

/// Writes a function by its index: those come first that the first event counted most in.
///
/// # Safety
///
/// `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_function(
    annotator: *const perfdata_annotator,
    function: usize,
    out: *mut perfdata_sampled_function,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotator| {
        let it = function_at(it.annotator.read()?, function)?;
        Ok(perfdata_sampled_function {
            size: 0,
            name: perfdata_string::of(&it.name),
            raw_name: perfdata_string::of(&it.raw_name),
            dso: perfdata_string::of(&it.dso),
            guess: perfdata_string::of_option(it.guess.map(|guess| guess.name().as_bytes())),
            start: it.start,
            length: it.size.unwrap_or(u64::MAX),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotator, out, error, "perfdata_sampled_function", make) }
}

/// Writes the samples of an event in a function, both given by their indexes in the annotator.
///
/// # Safety
///
/// `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_function_total(
    annotator: *const perfdata_annotator,
    function: usize,
    event: usize,
    out: *mut perfdata_total,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotator| total(&function_at(it.annotator.read()?, function)?.totals, event);
    // SAFETY: as the caller promises.
    unsafe { row(annotator, out, error, "perfdata_total", make) }
}

/// Finds a function by its name, as people read it or as it is in the file: the first one whose index is at least `first`. Returns 1
/// and writes its index, or returns 0 if there is none. Functions of several files may have one name.
///
/// # Safety
///
/// `annotator` is a live handle; `name` ends with a NUL; `out` can be written; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_find(
    annotator: *const perfdata_annotator,
    name: *const c_char,
    first: usize,
    out: *mut usize,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let annotator = unsafe { shared(annotator) }?.annotator.read()?;
        // SAFETY: the caller passes NULL or a string.
        let name = unsafe { string::bytes(name) }.ok_or_else(|| perfdata_error::argument("name is NULL"))?;
        if out.is_null() {
            return Err(perfdata_error::argument("the place of the index is NULL"));
        }
        let found = annotator.find(name).into_iter().find(|&index| index >= first);
        let Some(found) = found else { return Ok(0) };
        // SAFETY: the caller passes what can be written.
        unsafe { out.write(found) };
        Ok(1)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns a function by its index.
///
/// # Errors
///
/// If there are not as many.
pub(crate) fn function_at(annotator: &Annotator, index: usize) -> Result<&SampledFunction, perfdata_error> {
    let functions = annotator.functions();
    functions.get(index).ok_or_else(|| out_of_range("function", index, functions.len()))
}

//! The functions of a capture that have samples, ready to be annotated.

use core::ffi::c_int;

use perf_annotate::Annotator;
use perf_profile::Samples;

use crate::account::perfdata_account;
use crate::annotate_options::{self, perfdata_annotate_options};
use crate::annotation::perfdata_annotation;
use crate::annotator_tables::function_at;
use crate::boundary::{Exclusive, call, exclusive, free, give, shared};
use crate::capture::perfdata_capture;
use crate::error::perfdata_error;
use crate::event::NamedEvent;
use crate::profile::Progress;
use crate::row::row;
use crate::versioned;
use crate::{selection, symbols};

/// The functions of a capture that have samples. One thread uses it at a time; it may move to another one. Strings that it returns
/// live as long as it does.
#[derive(Debug)]
pub struct perfdata_annotator {
    pub(crate) annotator: Exclusive<Annotator>,
    pub(crate) events: Vec<NamedEvent>,
}

/// Counts the selected samples of a capture by their addresses, and finds the functions of these. `options` may be NULL. A sample
/// counts at its own address, and not at those of its callers. What could not be decoded is in the account.
///
/// # Safety
///
/// `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_new(
    capture: *const perfdata_capture,
    options: *const perfdata_annotate_options,
    out: *mut *mut perfdata_annotator,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let given = unsafe { versioned::read(options, "perfdata_annotate_options") }?;
        // SAFETY: the caller passes options.
        let options = unsafe { annotate_options::options(&given) }?;
        // SAFETY: the caller passes NULL or a selection.
        let selection = unsafe { selection::read(given.selection) }?;
        // SAFETY: the caller passes NULL or options.
        let symbols = unsafe { symbols::symbols(capture, given.names) }?;
        let mut progress = Progress::new(given.progress, given.user);
        let samples = Samples::of(capture.reader()).select(selection).threads(given.threads as usize);
        let annotator = Annotator::of(samples, &symbols, options, &mut progress)?;
        let events = annotator.events().iter().map(NamedEvent::new).collect();
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_annotator { annotator: Exclusive::new(annotator), events }) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Disassembles a function, given by its index, and finds its source lines. Takes time and memory in proportion to the size of the
/// function. The annotation does not need the annotator any more. PERFDATA_ERROR_NO_CODE if the code of the function is not found, or
/// there is no disassembler for its machine.
///
/// # Safety
///
/// `annotator` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_annotate(
    annotator: *mut perfdata_annotator,
    function: usize,
    out: *mut *mut perfdata_annotation,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let annotator = unsafe { exclusive(annotator) }?;
        let annotation = annotator.annotator.run(|annotator| {
            function_at(annotator, function)?;
            Ok(annotator.annotate(function)?)
        })?;
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_annotation::new(annotation)) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes what was read of the capture, and what could not be.
///
/// # Safety
///
/// `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_account(
    annotator: *const perfdata_annotator,
    out: *mut perfdata_account,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotator| Ok(it.annotator.read()?.account().into());
    // SAFETY: as the caller promises.
    unsafe { row(annotator, out, error, "perfdata_account", make) }
}

/// Frees an annotator. Annotations that it made stay valid. NULL has no effect.
///
/// # Safety
///
/// `annotator` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotator_free(annotator: *mut perfdata_annotator) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(annotator) };
}

//! The events, functions, source files, source lines and branches of an annotation.

use core::ffi::c_int;

use crate::annotation::perfdata_annotation;
use crate::annotation_totals::at;
use crate::boundary::value;
use crate::error::perfdata_error;
use crate::profile_tables::PERFDATA_NONE;
use crate::row::{count, row};
use crate::string::perfdata_string;
use crate::versioned::versioned;

/// An event that has samples in an annotated function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_event_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its name.
    pub name: perfdata_string,
    /// Number of its samples in the function.
    pub samples: u64,
    /// The sum of their periods.
    pub period: u64,
    /// Number of its selected samples in the capture.
    pub all_samples: u64,
    /// The sum of their periods.
    pub all_period: u64,
    /// How exact the addresses are: `attr.precise_ip`. With 0, a sample may be at an instruction after the one that caused it.
    pub precise_ip: u32,
}

/// A function, or a function that is inlined into it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_function_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its name; empty if it has none.
    pub name: perfdata_string,
    /// The index of the function that it is inlined into; PERFDATA_NONE for the first.
    pub caller: u32,
}

/// A file of source lines.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_source_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The path that the compiler recorded.
    pub path: perfdata_string,
    /// The number of the first line that has a text, from 1 on.
    pub first: u32,
    /// Number of lines that have a text; 0 if the file was not found.
    pub count: u32,
    /// Whether the file was modified after the recording, so that its lines may be others.
    pub is_newer: bool,
}

/// A source line that has instructions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_line_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The index of its file.
    pub source: u32,
    /// Its number, from 1 on.
    pub line: u32,
}

/// Branches that were recorded from one address to another.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_branch_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The address of the branch, if `has_from`.
    pub from: u64,
    /// The address that it went to, if `has_to`.
    pub to: u64,
    /// How often it was recorded.
    pub count: u64,
    /// How often it was mispredicted.
    pub mispredicted: u64,
    /// The sum of the cycles since the branch before it, of the branches that have them.
    pub cycles: u64,
    /// How many branches have cycles.
    pub timed: u64,
    /// Whether the branch is in the function, and not in another one.
    pub has_from: bool,
    /// Whether it went to an address of the function, and not to another one.
    pub has_to: bool,
}

versioned!(
    perfdata_annotation_event_row,
    perfdata_annotation_function_row,
    perfdata_annotation_source_row,
    perfdata_annotation_line_row,
    perfdata_annotation_branch_row,
);

/// Writes an event of an annotation by its index: the one with most samples in the capture comes first.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_event(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_event_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        let it = at("event", &it.annotation.events, index)?;
        Ok(perfdata_annotation_event_row {
            size: 0,
            name: perfdata_string::of(it.name.as_bytes()),
            samples: it.total.samples,
            period: it.total.period,
            all_samples: it.of_capture.samples,
            all_period: it.of_capture.period,
            precise_ip: it.precise_ip.into(),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_event_row", make) }
}

/// Writes a function of an annotation by its index: the annotated function comes first, then those that are inlined into it.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_function(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_function_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        let it = at("function", &it.annotation.functions, index)?;
        Ok(perfdata_annotation_function_row {
            size: 0,
            name: perfdata_string::of(&it.name),
            caller: it.caller.unwrap_or(PERFDATA_NONE),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_function_row", make) }
}

/// Writes a source file of an annotation by its index, which lines have.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_source(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_source_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        let it = at("source", &it.annotation.sources, index)?;
        Ok(perfdata_annotation_source_row {
            size: 0,
            path: perfdata_string::of(&it.path),
            first: it.first,
            count: count(it.text.len()),
            is_newer: it.is_newer,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_source_row", make) }
}

/// Returns the text of a line, from 1 on, of a source file, given by its index; NULL if it is unknown. It has no line end.
///
/// # Safety
///
/// `annotation` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_source_text(
    annotation: *const perfdata_annotation,
    source: u32,
    line: u32,
) -> perfdata_string {
    value(perfdata_string::NONE, || {
        // SAFETY: the caller passes NULL or a live handle.
        let it = unsafe { annotation.as_ref() }?;
        Some(perfdata_string::of(it.annotation.sources.get(source as usize)?.line(line)?))
    })
}

/// Writes a source line of an annotation by its index. Lines are in the order of their first instructions.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_line(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_line_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        let it = at("line", &it.annotation.lines, index)?;
        Ok(perfdata_annotation_line_row { size: 0, source: it.source, line: it.line })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_line_row", make) }
}

/// Writes a recorded branch of an annotation by its index. Branches are in the order of their addresses.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_branch(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_branch_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| {
        let it = at("branch", &it.annotation.branches, index)?;
        Ok(perfdata_annotation_branch_row {
            size: 0,
            from: it.from.unwrap_or(0),
            to: it.to.unwrap_or(0),
            count: it.count,
            mispredicted: it.mispredicted,
            cycles: it.cycles,
            timed: it.timed,
            has_from: it.from.is_some(),
            has_to: it.to.is_some(),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_branch_row", make) }
}

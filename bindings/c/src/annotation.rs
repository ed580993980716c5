//! A function with its instructions, source lines and samples.

use core::ffi::c_int;

use perf_profile::annotation::Annotation;

use crate::boundary::free;
use crate::error::perfdata_error;
use crate::row::{count, row};
use crate::string::perfdata_string;
use crate::versioned::versioned;

/// A function with its instructions, source lines and samples. It does not change: any number of threads may use it at the same
/// time. Strings that it returns live as long as it does.
#[derive(Debug)]
pub struct perfdata_annotation {
    pub(crate) annotation: Annotation,
    build_id: Option<String>,
}

impl perfdata_annotation {
    pub(crate) fn new(annotation: Annotation) -> Self {
        let build_id = annotation.build_id.map(|id| id.to_string());
        Self { annotation, build_id }
    }
}

/// What an annotation is of, and the number of rows of each of its tables. Indexes begin with 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_head {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The name of the function.
    pub symbol: perfdata_string,
    /// Why the name is a guess, in a word; NULL if it is not one.
    pub guess: perfdata_string,
    /// The path of its file, or the name of what else has the code.
    pub dso: perfdata_string,
    /// The recorded build id of the file, in hexadecimal; NULL if none was recorded.
    pub build_id: perfdata_string,
    /// Where the bytes are from: `file`, `kcore`, `jitdump`, `bpf_prog_info` or `text_poke`.
    pub code: perfdata_string,
    /// Address of the first instruction: in the memory of the file, or of the process if the code is in no file.
    pub start: u64,
    /// The address after the last byte.
    pub end: u64,
    /// Number of events, for perfdata_annotation_event.
    pub events: u32,
    /// Number of functions, for perfdata_annotation_function: the function itself, and each that is inlined into it.
    pub functions: u32,
    /// Number of source files, for perfdata_annotation_source.
    pub sources: u32,
    /// Number of source lines, for perfdata_annotation_line.
    pub lines: u32,
    /// Number of instructions, for perfdata_annotation_instruction.
    pub instructions: u32,
    /// Number of branches, for perfdata_annotation_branch.
    pub branches: u32,
}

versioned!(perfdata_annotation_head);

/// Writes what an annotation is of, and the number of rows of each table.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_info(
    annotation: *const perfdata_annotation,
    out: *mut perfdata_annotation_head,
    error: *mut *mut perfdata_error,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_head", |it| Ok(info(it))) }
}

fn info(handle: &perfdata_annotation) -> perfdata_annotation_head {
    let it = &handle.annotation;
    perfdata_annotation_head {
        size: 0,
        symbol: perfdata_string::of(&it.symbol),
        guess: perfdata_string::of_option(it.guess.map(|guess| guess.name().as_bytes())),
        dso: perfdata_string::of(&it.dso),
        build_id: perfdata_string::of_option(handle.build_id.as_deref().map(str::as_bytes)),
        code: perfdata_string::of(it.origin.name().as_bytes()),
        start: it.start,
        end: it.end,
        events: count(it.events.len()),
        functions: count(it.functions.len()),
        sources: count(it.sources.len()),
        lines: count(it.lines.len()),
        instructions: count(it.instructions.len()),
        branches: count(it.branches.len()),
    }
}

/// Frees an annotation. NULL has no effect.
///
/// # Safety
///
/// `annotation` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_free(annotation: *mut perfdata_annotation) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(annotation) };
}

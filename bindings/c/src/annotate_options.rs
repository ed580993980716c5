//! Options of annotated functions.

use core::ffi::{c_char, c_int, c_void};

use perf_annotate::AnnotateOptions;
use perf_annotate::disassembly::Syntax;

use crate::error::perfdata_error;
use crate::names::{check_flags, perfdata_name_options};
use crate::open::path_of;
use crate::selection::perfdata_selection;
use crate::string;
use crate::versioned::versioned;

/// Write instructions of x86 in the syntax of Intel, and not in that of AT&T.
pub const PERFDATA_ANNOTATE_INTEL: u32 = 1;
/// Find no texts of source lines. Their files and numbers stay.
pub const PERFDATA_ANNOTATE_NO_SOURCE: u32 = 1 << 1;

const ALL: u32 = PERFDATA_ANNOTATE_INTEL | PERFDATA_ANNOTATE_NO_SOURCE;

/// Options of an annotator. A field that is 0 or NULL is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotate_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The samples that are wanted.
    pub selection: *const perfdata_selection,
    /// Where code and names come from.
    pub names: *const perfdata_name_options,
    /// Folders with sources. Of each, the longest end of the recorded path that exists below it is used.
    pub source_dirs: *const *const c_char,
    /// Number of folders with sources.
    pub source_dir_count: usize,
    /// A folder in front of absolute recorded paths of sources.
    pub source_prefix: *const c_char,
    /// Number of leading folders of the recorded path that are dropped before `source_prefix` is added. The name of the file stays.
    pub source_strip: u32,
    /// PERFDATA_ANNOTATE_* bits.
    pub flags: u32,
    /// Number of threads that find names; 0 is one for each processor.
    pub threads: u32,
    /// None yet; 0.
    pub reserved: u32,
    /// Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
    /// thread of the call, and may not throw. May be NULL.
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, bytes: u64) -> c_int>,
    /// The first argument of `progress`.
    pub user: *mut c_void,
}

versioned!(perfdata_annotate_options);

/// Returns what options of the program ask for.
///
/// # Safety
///
/// `given` has strings that end with a NUL, and arrays of the counts.
///
/// # Errors
///
/// If a flag is unknown, or a path is impossible.
pub(crate) unsafe fn options(given: &perfdata_annotate_options) -> Result<AnnotateOptions, perfdata_error> {
    check_flags(given.flags, ALL, "perfdata_annotate_options")?;
    let mut options = AnnotateOptions::default();
    if given.flags & PERFDATA_ANNOTATE_INTEL != 0 {
        options.syntax = Syntax::Intel;
    }
    let source = &mut options.source;
    source.enabled = given.flags & PERFDATA_ANNOTATE_NO_SOURCE == 0;
    // SAFETY: the caller passes an array of this length.
    for dir in unsafe { string::list(given.source_dirs, given.source_dir_count, "source_dirs") }? {
        source.dirs.push(path_of(dir)?.into());
    }
    // SAFETY: the caller passes NULL or a string.
    let prefix = unsafe { string::bytes(given.source_prefix) };
    source.prefix = prefix.map(|it| path_of(it).map(Into::into)).transpose()?;
    source.strip = given.source_strip;
    Ok(options)
}

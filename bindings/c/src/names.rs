//! Where names come from, and how functions are named.

use core::ffi::{c_char, c_int};
use std::path::PathBuf;

use perf_symbol::{Demangle, SymbolOptions};

use crate::error::perfdata_error;
use crate::open::path_of;
use crate::string;
use crate::versioned::{self, versioned};

/// Find no names: addresses and files only.
pub const PERFDATA_NAMES_NONE: u32 = 1;
/// Leave inlined functions out.
pub const PERFDATA_NAMES_NO_INLINES: u32 = 1 << 1;
/// Find no source files and lines.
pub const PERFDATA_NAMES_NO_LINES: u32 = 1 << 2;
/// Name functions as perf 6.1 does: without parameters, also where two functions of a file then have one name.
pub const PERFDATA_NAMES_AS_PERF: u32 = 1 << 3;
/// Keep the names of C++ and Rust as they are in the file.
pub const PERFDATA_NAMES_MANGLED: u32 = 1 << 4;

const ALL: u32 = PERFDATA_NAMES_NONE
    | PERFDATA_NAMES_NO_INLINES
    | PERFDATA_NAMES_NO_LINES
    | PERFDATA_NAMES_AS_PERF
    | PERFDATA_NAMES_MANGLED;

/// Where names come from, and how functions are named. A field that is 0 or NULL is the default: the files of this machine.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_name_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// PERFDATA_NAMES_* bits.
    pub flags: u32,
    /// A folder that all paths are looked for in: the root of another machine.
    pub symfs: *const c_char,
    /// Folders with debug files.
    pub debug_dirs: *const *const c_char,
    /// Number of folders with debug files.
    pub debug_dir_count: usize,
    /// The kernel with its symbols.
    pub vmlinux: *const c_char,
    /// A copy of /proc/kallsyms.
    pub kallsyms: *const c_char,
}

versioned!(perfdata_name_options);

/// Reads options of names. Returns them, and whether names are wanted.
///
/// # Safety
///
/// `options` is NULL, or has its size, strings that end with a NUL, and arrays of the counts.
///
/// # Errors
///
/// If a flag is unknown, or a path is impossible.
pub(crate) unsafe fn read(
    options: *const perfdata_name_options,
) -> Result<(SymbolOptions, bool), perfdata_error> {
    // SAFETY: the caller passes NULL or a structure with its size.
    let given = unsafe { versioned::read(options, "perfdata_name_options") }?;
    check_flags(given.flags, ALL, "perfdata_name_options")?;
    let has = |flag| given.flags & flag != 0;
    // SAFETY: the caller passes NULL or a string.
    let path = |text| unsafe { string::bytes(text) }.map(|it| path_of(it).map(PathBuf::from)).transpose();
    // SAFETY: the caller passes an array of this length.
    let dirs = unsafe { string::list(given.debug_dirs, given.debug_dir_count, "debug_dirs") }?;
    let mut options = SymbolOptions::default();
    options.symfs = path(given.symfs)?;
    options.vmlinux = path(given.vmlinux)?;
    options.kallsyms = path(given.kallsyms)?;
    for dir in dirs {
        options.debug_dirs.push(path_of(dir)?.to_owned());
    }
    options.inlines = !has(PERFDATA_NAMES_NO_INLINES);
    options.lines = !has(PERFDATA_NAMES_NO_LINES);
    options.qualified = !has(PERFDATA_NAMES_AS_PERF);
    options.demangle = match () {
        () if has(PERFDATA_NAMES_MANGLED) => Demangle::Never,
        () if has(PERFDATA_NAMES_AS_PERF) => Demangle::Short,
        () => Demangle::Distinct,
    };
    Ok((options, !has(PERFDATA_NAMES_NONE)))
}

/// Refuses flags that the library does not have.
///
/// # Errors
///
/// If there is one.
pub(crate) fn check_flags(flags: u32, all: u32, name: &str) -> Result<c_int, perfdata_error> {
    let unknown = flags & !all;
    if unknown == 0 {
        return Ok(0);
    }
    let text = format!(
        "{name}: flags {unknown:#x} are unknown to this library; install a newer libperfdata, or leave them out"
    );
    Err(perfdata_error::new(crate::error::PERFDATA_ERROR_UNSUPPORTED, text))
}

//! Branch stacks (LBR) in the formats of compilers and optimizers of programs.

use core::ffi::{c_char, c_int, c_void};
use std::io::Write;

use perf_export::branches::{autofdo, brstack, preagg};
use perf_profile::Samples;
use perf_profile::branches::{BranchFile, BranchProfile, Branches, FileAddresses, NoBranches};

use crate::boundary::{call, shared};
use crate::capture::perfdata_capture;
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::export::into_callback;
use crate::names::{check_flags, perfdata_name_options};
use crate::profile::Progress;
use crate::selection::{self, perfdata_selection};
use crate::source::perfdata_write_fn;
use crate::versioned::{self, versioned};
use crate::{string, symbols};

/// Branch stacks for `llvm-profgen --perfscript`: the samples one by one.
pub const PERFDATA_BRANCHES_BRSTACK: u32 = 1;
/// Branch stacks for `perf2bolt -pa`: counts.
pub const PERFDATA_BRANCHES_PREAGG: u32 = 2;
/// Branch stacks for `create_llvm_prof --profiler=text`: counts.
pub const PERFDATA_BRANCHES_AUTOFDO: u32 = 3;

/// Options of branches. A field that is 0 or NULL is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_branch_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The samples that are wanted.
    pub selection: *const perfdata_selection,
    /// Where the file and its names come from.
    pub names: *const perfdata_name_options,
    /// The file whose branches are wanted, by its path, or by its name without folders; by default the one with the most branches.
    pub binary: *const c_char,
    /// None yet; 0.
    pub flags: u32,
    /// None yet; 0.
    pub reserved: u32,
    /// Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
    /// thread of the call, and may not throw. May be NULL.
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, bytes: u64) -> c_int>,
    /// The first argument of `progress`.
    pub user: *mut c_void,
}

versioned!(perfdata_branch_options);

/// Writes the branches of a file in a format, PERFDATA_BRANCHES_*, into a callback, which gets it part by part on the thread of the
/// call. `options` may be NULL. The file must be there: its segments tell the addresses. A result of the callback that is not 0 ends
/// the export with PERFDATA_ERROR_CANCELLED. What cannot be decoded is left out.
///
/// # Safety
///
/// `capture` is a live handle; `options` is NULL or has its size; `write` may be called with `user`; `error` is NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_branches_write(
    capture: *const perfdata_capture,
    format: u32,
    options: *const perfdata_branch_options,
    write: perfdata_write_fn,
    user: *mut c_void,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let given = unsafe { versioned::read(options, "perfdata_branch_options") }?;
        check_flags(given.flags, 0, "perfdata_branch_options")?;
        if !(PERFDATA_BRANCHES_BRSTACK..=PERFDATA_BRANCHES_AUTOFDO).contains(&format) {
            let text = format!("format {format} is unknown to this library; use one of PERFDATA_BRANCHES_*");
            return Err(perfdata_error::argument(text));
        }
        // SAFETY: the caller passes NULL or a selection.
        let selection = unsafe { selection::read(given.selection) }?;
        // SAFETY: the caller passes NULL or a string.
        let binary = unsafe { string::bytes(given.binary) };
        // SAFETY: the caller passes NULL or options.
        let symbols = unsafe { symbols::symbols(capture, given.names) }?;
        let samples = || Samples::of(capture.reader()).select(selection.clone());
        let mut progress = Progress::new(given.progress, given.user);
        let is_counted = format != PERFDATA_BRANCHES_BRSTACK;
        // To choose the file, the numbers of branches are enough.
        let branches = if is_counted { Branches::default() } else { Branches::new(0) };
        let counted = samples().branches(&symbols, branches, &mut progress)?;
        let file = counted.branches().choose(binary).map_err(|error| {
            let option = if error == NoBranches::InOtherFiles { "binary: " } else { "" };
            perfdata_error::argument(format!("{option}{error}"))
        })?;
        let segments = counted.segments(file).map_err(|why| not_found(file, &why))?;
        let profile = is_counted.then(|| counted.profile(file, format == PERFDATA_BRANCHES_PREAGG));
        let profile = profile.transpose().map_err(|why| not_found(file, &why))?;
        // SAFETY: the caller gave the callback and its argument.
        unsafe {
            into_callback(write, user, |out: &mut dyn Write| match &profile {
                Some(profile) => write_counts(core::slice::from_ref(profile), format, out),
                None => {
                    let addresses = FileAddresses::new(&segments);
                    match brstack::write(samples(), &symbols, file, addresses, &mut progress, out) {
                        Ok(_) => Ok(()),
                        Err(brstack::WriteError::Profile(error)) => Err(error.into()),
                        Err(brstack::WriteError::Io(error)) => Err(error.into()),
                    }
                }
            })
        }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

fn write_counts(profiles: &[BranchProfile], format: u32, out: &mut dyn Write) -> Result<(), perfdata_error> {
    match format {
        PERFDATA_BRANCHES_PREAGG => preagg::write(profiles, &preagg::Options::default(), out)?,
        _ => autofdo::write(profiles, &autofdo::Options::default(), out)?,
    }
    Ok(())
}

fn not_found(file: &BranchFile, why: &perf_symbol::NoSymbols) -> perfdata_error {
    let path = String::from_utf8_lossy(file.dso.path());
    let what = "its addresses cannot be told without the file; name its folder in perfdata_name_options";
    perfdata_error::argument(format!("{path}: {why}; {what}"))
}

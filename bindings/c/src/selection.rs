//! The samples that are selected.

use core::ffi::c_char;

use perf_profile::Selection;

use crate::error::perfdata_error;
use crate::string;
use crate::versioned::{self, versioned};

/// The samples that are wanted: those that each field selects. A field that is 0 or NULL selects all.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_selection {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Spans of time, as `perfdata --time` has them: `10%-20%`, or seconds `12.5,13`.
    pub time: *const c_char,
    /// CPUs: `0,2-3`.
    pub cpus: *const c_char,
    /// The name of an event, or its index in the capture.
    pub event: *const c_char,
    /// Names of threads.
    pub comms: *const *const c_char,
    /// Number of names of threads.
    pub comm_count: usize,
    /// Ids of processes.
    pub pids: *const i32,
    /// Number of ids of processes.
    pub pid_count: usize,
    /// Ids of threads.
    pub tids: *const i32,
    /// Number of ids of threads.
    pub tid_count: usize,
    /// Files that have the address of the sample, each by its path or file name.
    pub dsos: *const *const c_char,
    /// Number of files.
    pub dso_count: usize,
    /// Functions that have the address of the sample.
    pub symbols: *const *const c_char,
    /// Number of functions.
    pub symbol_count: usize,
}

versioned!(perfdata_selection);

/// Reads a selection of the program.
///
/// # Safety
///
/// `selection` is NULL, or has its size, strings that end with a NUL, and arrays of the counts.
///
/// # Errors
///
/// If a part cannot be parsed.
pub(crate) unsafe fn read(selection: *const perfdata_selection) -> Result<Selection, perfdata_error> {
    // SAFETY: the caller passes NULL or a structure with its size.
    let given = unsafe { versioned::read(selection, "perfdata_selection") }?;
    // SAFETY: the caller passes NULL or a string, also below.
    let time = unsafe { string::text(given.time, "time") }?;
    // SAFETY: as above.
    let cpus = unsafe { string::text(given.cpus, "cpus") }?;
    // SAFETY: as above.
    let event = unsafe { string::text(given.event, "event") }?;
    // SAFETY: the caller passes arrays of these lengths, also below.
    let comms = unsafe { string::list(given.comms, given.comm_count, "comms") }?;
    // SAFETY: as above.
    let dsos = unsafe { string::list(given.dsos, given.dso_count, "dsos") }?;
    // SAFETY: as above.
    let symbols = unsafe { string::list(given.symbols, given.symbol_count, "symbols") }?;
    // SAFETY: as above.
    let pids = unsafe { string::array(given.pids, given.pid_count, "pids") }?;
    // SAFETY: as above.
    let tids = unsafe { string::array(given.tids, given.tid_count, "tids") }?;
    let owned = |list: Vec<&[u8]>| list.into_iter().map(<[u8]>::to_vec).collect();
    Ok(Selection {
        comms: owned(comms),
        pids: pids.to_vec(),
        tids: tids.to_vec(),
        cpus: cpus.map(str::parse).transpose()?.unwrap_or_default(),
        time: time.map(str::parse).transpose()?.unwrap_or_default(),
        event: event.map(str::to_owned),
        dsos: owned(dsos),
        symbols: owned(symbols),
        no_idle: false,
    })
}

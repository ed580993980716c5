//! The threads and mappings of a capture after its last record.

use core::ffi::c_int;

use perf_profile::WalkEnd;

use crate::boundary::{call, exclusive};
use crate::error::perfdata_error;
use crate::samples::{SamplesState, perfdata_samples};
use crate::string::perfdata_string;
use crate::versioned::{self, versioned};

/// A thread of a capture, as it was after the last record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_thread {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its name.
    pub comm: perfdata_string,
    /// Id of its process.
    pub pid: i32,
    /// Its id.
    pub tid: i32,
    /// Whether it has exited.
    pub has_exited: bool,
}

/// A mapping of a process, as it was after the last record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_mapping {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// The offset of `start` in the file.
    pub offset: u64,
    /// The path of the file.
    pub dso: perfdata_string,
    /// Its build id; NULL if none was recorded.
    pub build_id: perfdata_string,
    /// PROT_* bits; 0 if they were not recorded.
    pub prot: u32,
}

versioned!(perfdata_thread, perfdata_mapping);

fn end_of(state: &SamplesState) -> Result<&WalkEnd<'static>, perfdata_error> {
    let end = state.end.as_ref().map(|(_, end)| end);
    end.ok_or_else(|| {
        perfdata_error::argument("read all samples first, until perfdata_samples_next returns 0")
    })
}

/// Writes a thread by its id, as it was after the last record. Returns 1, or 0 if the capture has no such thread. All samples must
/// have been read.
///
/// # Safety
///
/// `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_thread(
    samples: *mut perfdata_samples,
    tid: i32,
    out: *mut perfdata_thread,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let samples = unsafe { exclusive(samples) }?;
        let found = samples.0.run(|state| {
            Ok(end_of(state)?.session().thread(tid).map(|thread| perfdata_thread {
                size: 0,
                comm: perfdata_string::of(thread.comm()),
                pid: thread.pid(),
                tid: thread.tid(),
                has_exited: thread.has_exited(),
            }))
        })?;
        let Some(found) = found else { return Ok(0) };
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, found, "perfdata_thread") }?;
        Ok(1)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes the mapping that a thread had at an address after the last record. Returns 1, or 0 if there is none. All samples must have
/// been read. The build id lives until the next call on the handle.
///
/// # Safety
///
/// `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_mapping(
    samples: *mut perfdata_samples,
    tid: i32,
    address: u64,
    out: *mut perfdata_mapping,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let samples = unsafe { exclusive(samples) }?;
        let found = samples.0.run(|state| {
            let session = end_of(state)?.session();
            let maps = session.thread(tid).and_then(|thread| session.maps(thread));
            let Some(mapping) = maps.and_then(|maps| maps.find(address)) else { return Ok(None) };
            let (dso, range) = (mapping.dso(), mapping.range());
            let build_id = session.build_id(dso).map(|id| id.as_bytes().to_vec());
            let mut found = perfdata_mapping {
                size: 0,
                start: range.start,
                end: range.end,
                offset: mapping.pgoff(),
                dso: perfdata_string::of(dso.path()),
                build_id: perfdata_string::NONE,
                prot: mapping.prot(),
            };
            if let Some(id) = build_id {
                state.build_id = id;
                found.build_id = perfdata_string::of(&state.build_id);
            }
            Ok(Some(found))
        })?;
        let Some(found) = found else { return Ok(0) };
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, found, "perfdata_mapping") }?;
        Ok(1)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

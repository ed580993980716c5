//! `prctl(2)`: requests on all events that the calling thread opened.

use std::io;

/// Enables or disables every event that the calling thread opened.
pub(crate) fn task_perf_events(enable: bool) -> io::Result<()> {
    let operation = if enable { libc::PR_TASK_PERF_EVENTS_ENABLE } else { libc::PR_TASK_PERF_EVENTS_DISABLE };
    // SAFETY: neither operation takes an argument, so no memory is read or written.
    let result = unsafe { libc::prctl(operation) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

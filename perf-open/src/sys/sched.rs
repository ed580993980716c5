//! `sched_setscheduler(2)`.

use core::ffi::c_int;
use std::io;

/// Schedules the calling thread by `SCHED_FIFO` at this priority.
pub(crate) fn fifo(priority: c_int) -> io::Result<()> {
    // SAFETY: all fields of the struct are integers, for which zero is a value.
    let mut param: libc::sched_param = unsafe { core::mem::zeroed() };
    param.sched_priority = priority;
    // SAFETY: the pointer is that of a live struct, which the kernel only reads; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

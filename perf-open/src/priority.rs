//! The priority of a thread that reads rings.

use core::ffi::c_int;

use crate::error::Error;
use crate::sys::sched;

/// Schedules the calling thread by `SCHED_FIFO`, before all ordinary threads, so that rings are read in time on a busy
/// machine. `priority` is 1 (lowest) to 99.
///
/// Commands that this thread starts later inherit it.
///
/// # Errors
///
/// The errno of `sched_setscheduler`: `EPERM` without `CAP_SYS_NICE` and above `RLIMIT_RTPRIO`; `EINVAL` for another
/// priority.
pub fn realtime(priority: u32) -> Result<(), Error> {
    let priority = c_int::try_from(priority).unwrap_or(c_int::MAX);
    sched::fifo(priority).map_err(|error| {
        let advice = match error.raw_os_error() {
            Some(libc::EPERM) => {
                "needs CAP_SYS_NICE, or a limit of real-time priorities (ulimit -r) that is as high"
            }
            Some(libc::EINVAL) => "the priority must be 1 to 99",
            _ => "",
        };
        Error::failed("sched_setscheduler", error, advice)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn priorities_that_do_not_exist() {
        let error = super::realtime(100).unwrap_err();
        assert!(error.to_string().contains("1 to 99"), "{error}");
    }
}

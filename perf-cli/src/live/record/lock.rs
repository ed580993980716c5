//! The events of `--lock`: when threads wait for locks of the kernel and for futexes.

use perf_open::EventSpec;

use super::sched::available;
use crate::args::live::record::RecordArgs;
use crate::outcome::Failure;
use crate::output::say;

/// The tracepoints. One of the kernel's locks or of futexes is needed; system calls may be missing, as `futex_wait` is before Linux
/// 6.7.
const TRACEPOINTS: [&str; 8] = [
    "lock:contention_begin",
    "lock:contention_end",
    "syscalls:sys_enter_futex",
    "syscalls:sys_exit_futex",
    "syscalls:sys_enter_futex_wait",
    "syscalls:sys_exit_futex_wait",
    "syscalls:sys_enter_futex_waitv",
    "syscalls:sys_exit_futex_waitv",
];

/// Returns the events that the command line asks for and that can be opened here.
///
/// # Errors
///
/// If none can be used.
pub(super) fn events(args: &RecordArgs) -> Result<Vec<EventSpec>, Failure> {
    if !args.lock {
        return Ok(Vec::new());
    }
    let (events, missing) = available(&TRACEPOINTS);
    if events.is_empty() {
        return Err(Failure(
            "--lock: lock:contention_begin cannot be used here; it needs Linux 5.19, root and a mounted tracefs (mount -t tracefs \
             nodev /sys/kernel/tracing)"
                .to_owned(),
        ));
    }
    let of_locks = |name: &&&str| name.starts_with("lock:") || name.ends_with("_futex");
    let missing: Vec<_> = missing.iter().filter(of_locks).copied().collect();
    if !args.quiet && !missing.is_empty() {
        say!("perfdata: not recorded, because they cannot be used here: {}", missing.join(", "));
    }
    Ok(events)
}

//! `membarrier(2)`: waiting until the kernel has finished the records that it is writing.

/// Waits until every RCU read-side section that has begun has ended. Does nothing if the kernel does not support it.
///
/// A writer of a ring holds `rcu_read_lock` from before it checks whether the ring is paused until the record is
/// published (`__perf_output_begin`, `perf_output_end`). `MEMBARRIER_CMD_GLOBAL` is a `synchronize_rcu` on a machine
/// with several cpus. On one cpu, no writer runs at the same time as this function.
pub(crate) fn grace_period() {
    // SAFETY: membarrier takes numbers and accesses no memory of this process.
    let _ = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

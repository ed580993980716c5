//! `membarrier(2)`: waiting until the kernel has finished what it is at.

/// Waits until all that the kernel does under RCU now is done; as good as it can be where the kernel does not offer it.
///
/// Whoever writes to a ring does so under `rcu_read_lock`, from before it looks whether the ring is paused until the
/// record is published (`__perf_output_begin`, `perf_output_end`). `MEMBARRIER_CMD_GLOBAL` is a `synchronize_rcu` on a
/// machine of several cpus; on one cpu nothing runs beside us.
pub(crate) fn grace_period() {
    // SAFETY: membarrier takes numbers and touches no memory of ours.
    let _ = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

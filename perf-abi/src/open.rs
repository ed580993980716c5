//! The flags of the `perf_event_open` system call.

flags! {
    /// The last argument of `perf_event_open(2)`.
    ///
    /// Kernel: `PERF_FLAG_*`.
    pub struct OpenFlags(u64) {
        /// Ignores `group_fd`, except for `FD_OUTPUT`. Since Linux 2.6.32.
        FD_NO_GROUP = 1 << 0, "PERF_FLAG_FD_NO_GROUP";
        /// Redirects the records to the ring of the event `group_fd`. Broken since 2.6.35: use the
        /// [`SET_OUTPUT`](crate::ioctl::Request::SET_OUTPUT) request. Since Linux 2.6.32.
        FD_OUTPUT = 1 << 1, "PERF_FLAG_FD_OUTPUT";
        /// `pid` is a file descriptor of a cgroup's directory; `cpu` must not be -1. Since Linux 2.6.39.
        PID_CGROUP = 1 << 2, "PERF_FLAG_PID_CGROUP";
        /// Closes the event's file descriptor at exec. Since Linux 3.14.
        FD_CLOEXEC = 1 << 3, "PERF_FLAG_FD_CLOEXEC";
    }
}

//! The setters: one for each field of the attr, with the kernel's name.

mod fields;
mod switches;
#[cfg(test)]
mod tests;

use perf_abi::open::OpenFlags;

use super::Builder;

/// The setters of how the event is opened.
impl Builder {
    /// Sets whether an exec closes the file descriptor. The default is `true`. Since Linux 3.14.
    ///
    /// Set `false` on older kernels, and to pass the descriptor to another program.
    #[doc(alias = "PERF_FLAG_FD_CLOEXEC")]
    #[must_use]
    pub fn cloexec(mut self, set: bool) -> Self {
        let flag = OpenFlags::FD_CLOEXEC;
        self.flags = if set { self.flags | flag } else { self.flags.without(flag) };
        self
    }

    /// Adds flags of the system call. Both flags of the kernel are since Linux 2.6.32.
    ///
    /// `FD_NO_GROUP` opens the event outside the leader's group; with `FD_OUTPUT` it writes to the leader's ring.
    /// `FD_OUTPUT` is broken since 2.6.35; use [`Counter::set_output`](crate::Counter::set_output).
    #[doc(alias("PERF_FLAG_FD_NO_GROUP", "PERF_FLAG_FD_OUTPUT"))]
    #[must_use]
    pub fn open_flags(mut self, flags: OpenFlags) -> Self {
        self.flags |= flags;
        self
    }
}

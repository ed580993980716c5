//! Limits of what a session keeps.

/// The limits of what a session keeps. What is beyond them is dropped and counted.
///
/// Everything else that a session keeps is at most a small multiple of the records that are still in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Number of threads that are kept after their exit. The default is 4,096. The thread that exited first is dropped
    /// first. A later sample of a dropped thread has a thread without a name.
    pub exited: usize,
    /// Number of bytes of the paths of all cgroups, each counted with 64 bytes more. The default is 16 MiB. The paths of
    /// further cgroups are dropped: see [`Session::dropped_cgroups`](crate::Session::dropped_cgroups).
    pub cgroups: usize,
    /// Number of bytes of the build ids and paths of the feature `BUILD_ID` and of BUILD_ID records, each counted with
    /// 64 bytes more. The default is 64 MiB. Further build ids are dropped: see
    /// [`Session::dropped_build_ids`](crate::Session::dropped_build_ids).
    pub build_ids: usize,
    /// Number of bytes of the symbols that a capture has, each counted with 64 bytes more, and of its copy of `/proc/kallsyms`. The
    /// default is 256 MiB. Further symbols are dropped: see
    /// [`Session::dropped_symbols`](crate::Session::dropped_symbols).
    pub symbols: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { exited: 4096, cgroups: 16 << 20, build_ids: 64 << 20, symbols: 256 << 20 }
    }
}

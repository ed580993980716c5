//! A thread.

use alloc::format;
use alloc::sync::Arc;

/// A thread of a process.
///
/// perf: `struct thread`, `tools/perf/util/thread.h`.
#[derive(Clone, Debug)]
pub struct Thread {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) ppid: Option<i32>,
    pub(crate) comm: Arc<[u8]>,
    /// Whether a record named the thread or the one that it was forked from.
    pub(crate) is_named: bool,
    pub(crate) key: u64,
    /// The place of its process in the list of processes.
    pub(crate) process: usize,
    pub(crate) process_key: u64,
    pub(crate) has_exited: bool,
    /// The process id of the virtual machine; [`HOST`] for a thread of the host.
    // Not an option, so that a thread fits in a cache line.
    pub(crate) guest: i32,
}

/// What a thread of the host has in the place of a virtual machine's process id, which is never negative.
pub(crate) const HOST: i32 = -1;

impl Thread {
    /// Returns the process id; -1 if no record had it.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns the thread id; -1 for samples of threads that the kernel could not tell, such as exiting ones.
    #[must_use]
    pub fn tid(&self) -> i32 {
        self.tid
    }

    /// Returns the process id of the parent; `None` if the capture has no FORK record of the thread.
    #[must_use]
    pub fn ppid(&self) -> Option<i32> {
        self.ppid
    }

    /// Returns the name that the thread has at the time of the last record. `swapper` for the idle threads of the
    /// kernel; `:` and the thread id if no record names the thread, as perf prints it.
    #[must_use]
    pub fn comm(&self) -> &[u8] {
        &self.comm
    }

    /// Returns whether a record named the thread, or the thread that it was forked from.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// Returns whether the capture has its EXIT record. A session keeps some threads after their exit: see
    /// [`SessionLimits::exited`](crate::SessionLimits::exited).
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.has_exited
    }

    /// Returns the process id of the virtual machine that the thread is of; `None` for a thread of the host.
    #[must_use]
    pub fn guest(&self) -> Option<i32> {
        (self.guest != HOST).then_some(self.guest)
    }

    /// Returns a number that no other thread of the session has. Thread ids are used again; these numbers are not.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns a number that the threads of one process share, and no other thread of the session has.
    #[must_use]
    pub fn process_key(&self) -> u64 {
        self.process_key
    }
}

/// Returns the name of a thread that no record names.
pub(crate) fn comm_of_unnamed(tid: i32) -> Arc<[u8]> {
    Arc::from(format!(":{tid}").as_bytes())
}

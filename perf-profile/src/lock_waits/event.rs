//! Events of waits for locks.

use super::flags::LockFlags;

/// What a sample of a tracepoint reports of a wait for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockSample {
    /// The time in nanoseconds of the capture's clock.
    pub time: u64,
    /// The process id of the thread that waits; -1 if the sample does not have it.
    pub pid: i32,
    /// Its thread id, likewise.
    pub tid: i32,
    /// What happened.
    pub event: LockEvent,
}

/// The begin or the end of a wait for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockEvent {
    /// `lock:contention_begin`: a thread waits for a lock of the kernel.
    Begin {
        /// The address of the lock in the kernel.
        address: u64,
        /// Its type.
        flags: LockFlags,
    },
    /// `lock:contention_end`: it has the lock, or has given up.
    End {
        /// The address of the lock in the kernel.
        address: u64,
    },
    /// `syscalls:sys_enter_futex` and others, with an operation that waits: a thread waits for a word of memory.
    FutexBegin {
        /// The address of the word in the process.
        address: u64,
        /// The name of the operation in lower case: `wait`, `lock_pi`.
        operation: &'static str,
    },
    /// `syscalls:sys_exit_futex` and others: the thread is back from a system call of a futex, which may not have waited.
    FutexEnd,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LockId {
    /// A lock of the kernel at this address.
    Kernel(u64),
    /// A word of a process. Words that processes share have a process for each of them.
    Futex {
        /// The process id.
        pid: i32,
        /// The address in the process.
        address: u64,
    },
}

impl LockId {
    /// Returns the address.
    #[must_use]
    pub fn address(self) -> u64 {
        match self {
            Self::Kernel(address) | Self::Futex { address, .. } => address,
        }
    }

    /// Returns whether it is a word of a process.
    #[must_use]
    pub fn is_futex(self) -> bool {
        matches!(self, Self::Futex { .. })
    }
}

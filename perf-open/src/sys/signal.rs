//! Signals of a descriptor, and taking signals without a handler.

use core::mem::MaybeUninit;
use core::time::Duration;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Linux's numbers, the same on every architecture. The glibc part of `libc` does not have them.
const F_SETSIG: libc::c_int = 10;
const F_SETOWN_EX: libc::c_int = 15;

/// The argument of `F_SETOWN_EX`. Kernel: `struct f_owner_ex`.
#[repr(C)]
struct FOwnerEx {
    kind: libc::c_int,
    pid: libc::pid_t,
}

/// The kind of the receiver of a descriptor's signals: `F_OWNER_TID`, `F_OWNER_PID`, `F_OWNER_PGRP`.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub(crate) enum OwnerKind {
    Thread = 0,
    Process = 1,
    Group = 2,
}

fn outcome(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Returns the id of the calling thread.
pub(crate) fn thread_id() -> libc::pid_t {
    // SAFETY: gettid takes no argument and cannot fail.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    id as libc::pid_t
}

/// Sets the receiver of a descriptor's signals.
pub(crate) fn set_owner(fd: BorrowedFd<'_>, kind: OwnerKind, pid: libc::pid_t) -> io::Result<()> {
    let owner = FOwnerEx { kind: kind as libc::c_int, pid };
    // SAFETY: the kernel reads one struct, which stays valid during the call.
    outcome(unsafe { libc::fcntl(fd.as_raw_fd(), F_SETOWN_EX, &raw const owner) }).map(drop)
}

/// Sets the signal of a descriptor. A signal that was set carries the descriptor; the default `SIGIO` does not.
pub(crate) fn set_signal(fd: BorrowedFd<'_>, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: the argument is a number.
    outcome(unsafe { libc::fcntl(fd.as_raw_fd(), F_SETSIG, signal) }).map(drop)
}

/// Turns the signals on or off.
pub(crate) fn set_async(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    // SAFETY: the command takes no argument.
    let flags = outcome(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    let flags = if on { flags | libc::O_ASYNC } else { flags & !libc::O_ASYNC };
    // SAFETY: the argument is a word of flags.
    outcome(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// A set of signals.
#[derive(Clone, Copy)]
pub(crate) struct SigSet(libc::sigset_t);

impl SigSet {
    /// Returns the set of these signals.
    ///
    /// # Errors
    ///
    /// `EINVAL` if a number is not a signal.
    pub(crate) fn new(signals: &[libc::c_int]) -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the set.
        outcome(unsafe { libc::sigemptyset(set.as_mut_ptr()) })?;
        // SAFETY: sigemptyset has initialised the set.
        let mut set = unsafe { set.assume_init() };
        for &signal in signals {
            // SAFETY: the set stays valid during the call.
            outcome(unsafe { libc::sigaddset(&raw mut set, signal) })?;
        }
        Ok(Self(set))
    }

    /// Blocks these signals in the calling thread. Returns the signals that were blocked before.
    pub(crate) fn block(&self) -> io::Result<Self> {
        self.change(libc::SIG_BLOCK)
    }

    /// Makes these the blocked signals of the calling thread.
    pub(crate) fn restore(&self) -> io::Result<Self> {
        self.change(libc::SIG_SETMASK)
    }

    fn change(&self, how: libc::c_int) -> io::Result<Self> {
        let mut old = MaybeUninit::uninit();
        // SAFETY: the function reads one set and writes the other. Both stay valid during the call.
        let result = unsafe { libc::pthread_sigmask(how, &raw const self.0, old.as_mut_ptr()) };
        if result != 0 {
            return Err(io::Error::from_raw_os_error(result));
        }
        // SAFETY: pthread_sigmask succeeded, so it has written the set.
        Ok(Self(unsafe { old.assume_init() }))
    }

    /// Takes a pending signal of the set, or waits for one. `None` if the timeout expires or another signal interrupts.
    pub(crate) fn take(&self, timeout: Option<Duration>) -> io::Result<Option<libc::siginfo_t>> {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let time = timeout.map(|time| libc::timespec {
            tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: time.subsec_nanos() as _,
        });
        let time = time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: the function reads the set and the time, if any, and writes the info. All stay valid during the call.
        let result = unsafe { libc::sigtimedwait(&raw const self.0, info.as_mut_ptr(), time) };
        match outcome(result) {
            // SAFETY: the struct consists of integers, which were zeroed.
            Ok(_) => Ok(Some(unsafe { info.assume_init() })),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Borrows the bytes of a signal's info.
pub(crate) fn bytes(info: &libc::siginfo_t) -> &[u8] {
    let start = core::ptr::from_ref(info).cast::<u8>();
    // SAFETY: the struct consists of integers without padding, and lives as long as the slice.
    unsafe { core::slice::from_raw_parts(start, size_of::<libc::siginfo_t>()) }
}

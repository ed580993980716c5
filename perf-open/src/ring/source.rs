//! Who writes a ring: what to wait on, and how it is paused.

use alloc::sync::Arc;
use core::time::Duration;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use perf_abi::ioctl::Request;

use super::Ring;
use crate::counter::{Counter, Ready};
use crate::error::Error;
use crate::sys::ioctl;
use crate::sys::membarrier::grace_period;
use crate::sys::poll::poll;

/// What `poll` said of a ring.
pub(super) fn ready(revents: libc::c_short) -> Ready {
    Ready {
        records: revents & libc::POLLIN != 0,
        hangup: revents & libc::POLLHUP != 0,
        error: revents & libc::POLLERR != 0,
    }
}

/// Waits until one of `rings` has a wakeup; `None` waits for ever. Tells of all of them together; each ring's
/// [account](super::Account::wakeups) counts its own.
///
/// [`Ready::hangup`]: the task of an event has ended, with `inherit` all its heirs too. Nothing more comes of it, and a
/// wait that includes it does not block any more; what is unread is still there to be read.
///
/// # Errors
///
/// As [`Ring::wait`].
pub fn wait(rings: &mut [Ring], timeout: Option<Duration>) -> Result<Ready, Error> {
    let fds: Vec<_> = rings.iter().map(AsFd::as_fd).collect();
    let revents = polled(&fds, timeout)?;
    let mut all = Ready::default();
    for (ring, revents) in rings.iter_mut().zip(revents) {
        let ready = ready(revents);
        ring.account.wakeups += u64::from(ready.records);
        ring.source.awake(ready);
        all.records |= ready.records;
        all.hangup |= ready.hangup;
        all.error |= ready.error;
    }
    Ok(all)
}

/// What `poll` says; nothing if a signal ended it.
pub(super) fn polled(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<Vec<libc::c_short>, Error> {
    match poll(fds, timeout) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(vec![0; fds.len()]),
        result => result.map_err(|error| Error::failed("poll", error, "")),
    }
}

/// Who writes a ring.
#[derive(Debug)]
pub(super) enum Source {
    /// The kernel, for this event.
    Event(OwnedFd),
    /// The program.
    Loopback {
        /// Counts its wakeups.
        wakeups: Arc<File>,
        /// Whether it is to write nothing; locked while it writes.
        paused: Arc<Mutex<bool>>,
    },
}

impl Source {
    pub(super) fn of(counter: &Counter) -> Result<Self, Error> {
        let fd = counter.as_fd().try_clone_to_owned();
        fd.map(Self::Event).map_err(|error| Error::failed("fcntl", error, "F_DUPFD_CLOEXEC of the event"))
    }

    /// Has the records of `counter` written here too.
    pub(super) fn add(&self, counter: &Counter) -> Result<(), Error> {
        let call = Request::SET_OUTPUT.c_name;
        let Self::Event(fd) = self else {
            return Err(Error::refused(call, "fd", "fd: the ring is the program's own, not an event's"));
        };
        let advice = "both events must be of one cpu, or of one task where they are of any, with one clock; \
                      and the one that is added must have no ring of its own";
        ioctl::set_output(counter.as_fd(), Some(fd.as_fd()))
            .map_err(|error| Error::failed(call, error, advice))
    }

    /// Stops the writer and waits until it has finished the record it is at, or lets it go on.
    pub(super) fn pause(&self, pause: bool) -> Result<(), Error> {
        match self {
            Self::Event(fd) => {
                ioctl::pause_output(fd.as_fd(), pause)
                    .map_err(|error| Error::failed(Request::PAUSE_OUTPUT.c_name, error, ""))?;
                if pause {
                    grace_period();
                }
            }
            Self::Loopback { paused, .. } => {
                *paused.lock().unwrap_or_else(PoisonError::into_inner) = pause;
            }
        }
        Ok(())
    }

    /// Takes note that a wait found this: the kernel forgets a wakeup it told, the program's own counter is read.
    pub(super) fn awake(&self, ready: Ready) {
        if let (Self::Loopback { wakeups, .. }, true) = (self, ready.records) {
            // Who else waits on it may have been first.
            let _ = (&**wakeups).read(&mut [0; 8]);
        }
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Event(fd) => fd.as_fd(),
            Self::Loopback { wakeups, .. } => wakeups.as_fd(),
        }
    }
}

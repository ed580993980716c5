//! The writer of a ring: the descriptor to wait on, and pausing.

use alloc::sync::Arc;
use core::time::Duration;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::PoisonError;

use perf_abi::ioctl::Request;

use super::Ring;
use crate::counter::{Counter, Readiness};
use crate::error::Error;
use crate::sys::ioctl;
use crate::sys::membarrier::grace_period;
use crate::sys::poll::poll;
use crate::sys::sync::Mutex;

/// Converts the `revents` of a ring.
pub(super) fn readiness(revents: libc::c_short) -> Readiness {
    Readiness {
        records: revents & libc::POLLIN != 0,
        hangup: revents & libc::POLLHUP != 0,
        error: revents & libc::POLLERR != 0,
    }
}

/// Waits until one of `rings` has a wakeup. `None` waits forever. Returns what is ready in any of them; each ring's
/// [account](super::RingAccount::wakeups) counts its own wakeups.
///
/// [`Readiness::hangup`]: the task of an event has ended, and with `inherit` all tasks that inherited it. It will write no
/// more records, and every further wait that includes its ring returns at once. Unread records can still be read.
///
/// # Errors
///
/// The same as [`Ring::wait`].
pub fn wait(rings: &mut [Ring], timeout: Option<Duration>) -> Result<Readiness, Error> {
    let fds: Vec<_> = rings.iter().map(AsFd::as_fd).collect();
    let revents = polled(&fds, timeout)?;
    let mut all = Readiness::default();
    for (ring, revents) in rings.iter_mut().zip(revents) {
        let ready = readiness(revents);
        ring.account.wakeups += u64::from(ready.records);
        ring.source.awake(ready);
        all.records |= ready.records;
        all.hangup |= ready.hangup;
        all.error |= ready.error;
    }
    Ok(all)
}

/// Returns the `revents` of each descriptor; all are 0 if a signal ended the wait.
pub(super) fn polled(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<Vec<libc::c_short>, Error> {
    match poll(fds, timeout) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(vec![0; fds.len()]),
        result => result.map_err(|error| Error::failed("poll", error, "")),
    }
}

/// The writer of a ring.
#[derive(Debug)]
pub(super) enum RingSource {
    /// The kernel, for this event.
    Event(OwnedFd),
    /// The program.
    Loopback {
        /// The eventfd that counts its wakeups.
        wakeups: Arc<File>,
        /// Whether the ring is paused. The writer holds the lock while it writes.
        paused: Arc<Mutex<bool>>,
    },
}

impl RingSource {
    pub(super) fn of(counter: &Counter) -> Result<Self, Error> {
        let fd = counter.as_fd().try_clone_to_owned();
        fd.map(Self::Event).map_err(|error| Error::failed("fcntl", error, "F_DUPFD_CLOEXEC of the event"))
    }

    /// Redirects the records of `counter` to this ring.
    pub(super) fn add(&self, counter: &Counter) -> Result<(), Error> {
        let call = Request::SET_OUTPUT.c_name;
        let Self::Event(fd) = self else {
            return Err(Error::refused(
                call,
                "fd",
                "fd: the ring was made by the program and belongs to no event",
            ));
        };
        let advice = "both events must have the same cpu, or the same task if they are on any cpu, and the same clock; \
                      and the added event must not have a ring of its own";
        ioctl::set_output(counter.as_fd(), Some(fd.as_fd()))
            .map_err(|error| Error::failed(call, error, advice))
    }

    /// Pauses the writer and waits until the records that it is writing are complete, or resumes it.
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

    /// Resets a wakeup that a wait has found. The kernel resets its own; the eventfd of the program must be read.
    pub(super) fn awake(&self, ready: Readiness) {
        if let (Self::Loopback { wakeups, .. }, true) = (self, ready.records) {
            // If another waiter has read it first, this fails, which is fine.
            let _ = (&**wakeups).read(&mut [0; 8]);
        }
    }
}

impl AsFd for RingSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Event(fd) => fd.as_fd(),
            Self::Loopback { wakeups, .. } => wakeups.as_fd(),
        }
    }
}

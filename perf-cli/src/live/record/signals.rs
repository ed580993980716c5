//! The signals that a recording handles.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR2};
use signal_hook::flag::register;
use signal_hook::low_level::pipe;

/// The requests made by signals. Each signal also makes a descriptor readable, so that it ends a wait even if it came
/// before the wait.
#[derive(Debug)]
pub(in crate::live) struct RecordSignals {
    end: Arc<AtomicBool>,
    snapshot: Arc<AtomicBool>,
    wakes: UnixStream,
    waker: UnixStream,
}

impl RecordSignals {
    /// Installs the handlers. From now on no signal ends this program before the capture is complete.
    pub(super) fn new() -> io::Result<Self> {
        let (end, snapshot) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let (wakes, writer) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        // The flags are set before the descriptor becomes readable.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register(signal, end.clone())?;
        }
        register(SIGUSR2, snapshot.clone())?;
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR2, SIGCHLD] {
            pipe::register(signal, writer.try_clone()?)?;
        }
        Ok(Self { end, snapshot, wakes, waker: writer })
    }

    /// Returns the descriptor that a signal makes readable.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.wakes.as_fd()
    }

    /// Returns another end that makes the descriptor readable.
    pub(in crate::live) fn waker(&self) -> io::Result<UnixStream> {
        self.waker.try_clone()
    }

    /// Makes the descriptor unreadable until the next signal. Look at the requests after that.
    pub(super) fn clear(&self) {
        // Fails if there was no signal.
        let _ = (&self.wakes).read(&mut [0; 64]);
    }

    /// Returns whether the recording must end: Ctrl-C, or a signal that would have ended the program.
    pub(super) fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Returns whether a snapshot was requested since the last call.
    pub(super) fn takes_snapshot(&self) -> bool {
        self.snapshot.swap(false, Ordering::Relaxed)
    }
}

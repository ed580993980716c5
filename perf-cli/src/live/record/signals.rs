//! The signals that a recording listens to.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR2};
use signal_hook::flag::register;

/// What signals have asked for since it was last looked at. Each also ends a wait for records.
#[derive(Debug)]
pub(super) struct Signals {
    end: Arc<AtomicBool>,
    snapshot: Arc<AtomicBool>,
}

impl Signals {
    /// From now on no signal ends this program before the capture is whole.
    pub(super) fn new() -> io::Result<Self> {
        let (end, snapshot, child) = <(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register(signal, end.clone())?;
        }
        register(SIGUSR2, snapshot.clone())?;
        register(SIGCHLD, child)?;
        Ok(Self { end, snapshot })
    }

    /// Whether the recording is to end: Ctrl-C, or a signal that would have ended the program.
    pub(super) fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether a snapshot is asked for; once for each time it is.
    pub(super) fn takes_snapshot(&self) -> bool {
        self.snapshot.swap(false, Ordering::Relaxed)
    }
}

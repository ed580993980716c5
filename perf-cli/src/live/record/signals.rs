//! The signals that a recording handles.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR2};
use signal_hook::flag::register;

/// The requests made by signals. Each signal also ends a wait for records.
#[derive(Debug)]
pub(super) struct Signals {
    end: Arc<AtomicBool>,
    snapshot: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers. From now on no signal ends this program before the capture is complete.
    pub(super) fn new() -> io::Result<Self> {
        let (end, snapshot, child) = <(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register(signal, end.clone())?;
        }
        register(SIGUSR2, snapshot.clone())?;
        register(SIGCHLD, child)?;
        Ok(Self { end, snapshot })
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

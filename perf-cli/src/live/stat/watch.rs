//! Waiting: for the command, for Ctrl-C, or for a timeout.

use core::time::Duration;
use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use perf_open::workload::Workload;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::Failure;
use crate::live::observed::is_alive;

/// How often threads that are not children are checked.
const LOOK: Duration = Duration::from_millis(100);

/// Why counting has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The command has ended.
    Command(ExitStatus),
    /// All threads have ended.
    Threads,
    /// The timeout has expired.
    Timeout,
    /// A signal asked for it.
    Signal,
    /// The reader of the output has closed its end.
    Unread,
}

/// The signals that this program receives, in order.
#[derive(Debug)]
pub(crate) struct Watch {
    signals: Receiver<i32>,
}

/// The conditions that end a wait.
#[derive(Debug)]
pub(crate) struct Until<'a> {
    pub(crate) command: Option<&'a mut Workload>,
    /// Threads that are not children; empty for a whole machine.
    pub(crate) threads: &'a [u32],
    pub(crate) timeout: Option<Duration>,
    pub(crate) interval: Option<Duration>,
}

impl Watch {
    /// Installs the handlers. From now on no signal ends this program before it has printed the counts.
    pub(crate) fn new() -> io::Result<Self> {
        let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM])?;
        let (sender, receiver) = mpsc::channel();
        // The thread ends when the receiver is dropped.
        thread::spawn(move || signals.forever().try_for_each(|signal| sender.send(signal)));
        Ok(Self { signals: receiver })
    }

    /// Waits. At each interval, calls `each` with the time since `start`; `each` returns whether to continue.
    ///
    /// The command receives Ctrl-C too, and may print something before it ends. So the first Ctrl-C is left to the
    /// command, and the second ends the wait. Only this program receives `SIGTERM` and `SIGHUP`, and it passes them on.
    pub(crate) fn wait(
        &self,
        until: &mut Until<'_>,
        start: Instant,
        mut each: impl FnMut(Duration) -> Result<bool, Failure>,
    ) -> Result<End, Failure> {
        let mut next = until.interval;
        let mut is_asked = false;
        loop {
            if let Some(command) = &mut until.command
                && let Some(status) = command.try_wait()?
            {
                return Ok(End::Command(status));
            }
            if !until.threads.is_empty() && !until.threads.iter().any(|&tid| is_alive(tid)) {
                return Ok(End::Threads);
            }
            let elapsed = start.elapsed();
            if until.timeout.is_some_and(|timeout| elapsed >= timeout) {
                return Ok(End::Timeout);
            }
            if let (Some(due), Some(interval)) = (next, until.interval)
                && elapsed >= due
            {
                if !each(elapsed)? {
                    return Ok(End::Unread);
                }
                // Missed intervals are skipped.
                let missed = elapsed.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
                let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
                next = Some(due.saturating_add(interval.saturating_mul(steps)));
                continue;
            }
            let look = (!until.threads.is_empty()).then(|| elapsed.saturating_add(LOOK));
            let due = [next, until.timeout, look].into_iter().flatten().min();
            match (self.signal(due.map(|due| due.saturating_sub(elapsed)))?, &mut until.command) {
                (None | Some(SIGCHLD), _) => {}
                (Some(SIGINT), Some(_)) if !is_asked => is_asked = true,
                (Some(SIGTERM | SIGHUP), Some(command)) if !is_asked => {
                    is_asked = true;
                    end(command);
                }
                (Some(_), _) => return Ok(End::Signal),
            }
        }
    }

    /// Asks a command that still runs to end, and waits until it does or another signal comes.
    pub(crate) fn end(&self, command: &mut Workload) -> Result<(), Failure> {
        end(command);
        while command.try_wait()?.is_none() {
            if self.signal(None)?.is_some_and(|signal| signal != SIGCHLD) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the next signal; `None` if none comes before the timeout.
    fn signal(&self, timeout: Option<Duration>) -> Result<Option<i32>, Failure> {
        let received = match timeout {
            Some(timeout) => self.signals.recv_timeout(timeout),
            None => self.signals.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(signal) => Ok(Some(signal)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(error @ RecvTimeoutError::Disconnected) => Err(error.into()),
        }
    }
}

/// Asks a command to end.
fn end(command: &mut Workload) {
    // The command may have ended by itself.
    let _ = command.terminate();
}

//! Waiting: for the command, for Ctrl-C, for the time to be over.

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
use crate::live::whom::is_alive;

/// How often threads that are no children are looked after.
const LOOK: Duration = Duration::from_millis(100);

/// Why the counting is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The command has ended.
    Command(ExitStatus),
    /// All threads have.
    Threads,
    /// The time is over.
    Timeout,
    /// A signal asked for it.
    Signal,
    /// Nobody reads what was counted.
    Unread,
}

/// The signals that reach this program, in their order.
#[derive(Debug)]
pub(crate) struct Watch {
    signals: Receiver<i32>,
}

/// What is waited for.
#[derive(Debug)]
pub(crate) struct Until<'a> {
    pub(crate) command: Option<&'a mut Workload>,
    /// Threads that are no children; empty for a whole machine.
    pub(crate) threads: &'a [u32],
    pub(crate) timeout: Option<Duration>,
    pub(crate) interval: Option<Duration>,
}

impl Watch {
    /// From now on no signal ends this program before it has told what was counted.
    pub(crate) fn new() -> io::Result<Self> {
        let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM])?;
        let (sender, receiver) = mpsc::channel();
        // Ends when the receiver does.
        thread::spawn(move || signals.forever().try_for_each(|signal| sender.send(signal)));
        Ok(Self { signals: receiver })
    }

    /// Waits. At each interval `each` is told the time since `start`, and says whether to go on.
    ///
    /// Ctrl-C reaches the command too, which may have something to say before it ends: the first one is its own, the
    /// second ends the waiting. `SIGTERM` and `SIGHUP` reach this program alone, and are passed on.
    pub(crate) fn wait(
        &self,
        until: &mut Until<'_>,
        start: Instant,
        mut each: impl FnMut(Duration) -> Result<bool, Failure>,
    ) -> Result<End, Failure> {
        let mut next = until.interval;
        let mut is_asked = false;
        loop {
            if let Some(command) = &mut until.command {
                if let Some(status) = command.try_wait()? {
                    return Ok(End::Command(status));
                }
            }
            if !until.threads.is_empty() && !until.threads.iter().any(|&tid| is_alive(tid)) {
                return Ok(End::Threads);
            }
            let elapsed = start.elapsed();
            if until.timeout.is_some_and(|timeout| elapsed >= timeout) {
                return Ok(End::Timeout);
            }
            if let (Some(due), Some(interval)) = (next, until.interval) {
                if elapsed >= due {
                    if !each(elapsed)? {
                        return Ok(End::Unread);
                    }
                    // Intervals that were missed are not made up for.
                    let missed = elapsed.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
                    let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
                    next = Some(due.saturating_add(interval.saturating_mul(steps)));
                    continue;
                }
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

    /// Asks a command that runs on to end, and waits until it does or another signal comes.
    pub(crate) fn end(&self, command: &mut Workload) -> Result<(), Failure> {
        end(command);
        while command.try_wait()?.is_none() {
            if self.signal(None)?.is_some_and(|signal| signal != SIGCHLD) {
                break;
            }
        }
        Ok(())
    }

    /// The next signal; `None` if none comes in time.
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
    // It may have ended by itself.
    let _ = command.terminate();
}

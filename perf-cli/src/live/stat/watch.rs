//! Waiting: for the command, for Ctrl-C, or for a timeout.

use core::cell::Cell;
use core::time::Duration;
use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

use perf_open::workload::Workload;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::message::Message;
use crate::Failure;
use crate::live::command::Command;
use crate::live::observed::is_alive;
use crate::output::say;

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
    /// The reader of the output has closed its end, or there were as many intervals as were asked for.
    Unread,
}

/// A moment at which a wait calls back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The end of an interval.
    Interval,
    Control(Command),
}

/// What this program receives, in order.
#[derive(Debug)]
pub(crate) struct Watch {
    messages: Receiver<Message>,
    sender: Sender<Message>,
    /// Whether Ctrl-C was pressed while a command ran.
    is_interrupted: Cell<bool>,
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
        let of_signals = sender.clone();
        // The thread ends when the receiver is dropped.
        thread::spawn(move || {
            signals.forever().try_for_each(|signal| of_signals.send(Message::Signal(signal)))
        });
        Ok(Self { messages: receiver, sender, is_interrupted: Cell::new(false) })
    }

    /// Returns a sender of further messages.
    pub(crate) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }

    /// Returns whether Ctrl-C was pressed while a command ran, so that no other run is to follow.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    /// Waits. At each interval and for each command, calls `each` with the time since `start`; `each` returns whether to
    /// continue.
    ///
    /// The command receives Ctrl-C too, and may print something before it ends. So the first Ctrl-C is left to the
    /// command, and the second ends the wait. Only this program receives `SIGTERM` and `SIGHUP`, and it passes them on.
    pub(crate) fn wait(
        &self,
        until: &mut Until<'_>,
        start: Instant,
        mut each: impl FnMut(Moment, Duration) -> Result<bool, Failure>,
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
                if !each(Moment::Interval, elapsed)? {
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
            let signal = match self.message(due.map(|due| due.saturating_sub(elapsed)))? {
                Some(Message::Control(command)) => {
                    if !each(Moment::Control(command), start.elapsed())? {
                        return Ok(End::Unread);
                    }
                    None
                }
                Some(Message::Unknown(line)) => {
                    say!(
                        "perfdata: --control: {line:?} is not a command; enable, disable, evlist and ping are"
                    );
                    None
                }
                Some(Message::Signal(signal)) => Some(signal),
                None => None,
            };
            match (signal, &mut until.command) {
                (None | Some(SIGCHLD), _) => {}
                (Some(SIGINT), Some(_)) if !is_asked => {
                    is_asked = true;
                    self.is_interrupted.set(true);
                }
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
            if self
                .message(None)?
                .is_some_and(|it| matches!(it, Message::Signal(signal) if signal != SIGCHLD))
            {
                break;
            }
        }
        Ok(())
    }

    /// Returns the next message; `None` if none comes before the timeout.
    fn message(&self, timeout: Option<Duration>) -> Result<Option<Message>, Failure> {
        let received = match timeout {
            Some(timeout) => self.messages.recv_timeout(timeout),
            None => self.messages.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(message) => Ok(Some(message)),
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

//! Waiting for the end of a run, while signals and commands of `--control` arrive.

use core::cell::Cell;
use core::time::Duration;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

use perf_open::workload::Workload;
use perf_record::stat::{StatEnd, StatSchedule, StatStep};
use perf_record::{ControlCommand, UnknownCommand};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::arguments::failure;
use crate::outcome::Failure;
use crate::output::say;

/// A message to this program.
#[derive(Debug)]
pub(super) enum StatMessage {
    Signal(i32),
    /// A line of `--control`.
    Control(Result<ControlCommand, UnknownCommand>),
}

/// The reason why counting has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountEnd {
    /// By itself.
    Due(StatEnd),
    /// A signal asked for it.
    Signal,
    /// The reader of the output has closed its end, or there were as many intervals as were asked for.
    Unread,
}

/// The reason why a wait calls back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatWakeup {
    /// The end of an interval.
    Interval,
    Control(ControlCommand),
}

/// The queue of what this program receives, in order.
#[derive(Debug)]
pub(super) struct StatQueue {
    messages: Receiver<StatMessage>,
    sender: Sender<StatMessage>,
    /// Whether Ctrl-C was pressed while a command ran.
    is_interrupted: Cell<bool>,
}

impl StatQueue {
    /// Installs the handlers. From now on no signal ends this program before it has printed the counts.
    pub(super) fn new() -> io::Result<Self> {
        let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM])?;
        let (sender, receiver) = mpsc::channel();
        let of_signals = sender.clone();
        // The thread ends when the receiver is dropped.
        thread::spawn(move || {
            signals.forever().try_for_each(|signal| of_signals.send(StatMessage::Signal(signal)))
        });
        Ok(Self { messages: receiver, sender, is_interrupted: Cell::new(false) })
    }

    /// Returns a sender of further messages.
    pub(super) fn sender(&self) -> Sender<StatMessage> {
        self.sender.clone()
    }

    /// Returns whether Ctrl-C was pressed while a command ran, so that no other run is to follow.
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    /// Waits for the end of the schedule. At each interval and for each command of `--control`, calls `each`, which returns
    /// whether to continue.
    ///
    /// The command receives Ctrl-C too, and may print something before it ends. So the first Ctrl-C is left to the
    /// command, and the second ends the wait. Only this program receives `SIGTERM` and `SIGHUP`, and it passes them on.
    pub(super) fn wait(
        &self,
        schedule: &mut StatSchedule,
        command: &mut Option<Workload>,
        mut each: impl FnMut(StatWakeup) -> Result<bool, Failure>,
    ) -> Result<CountEnd, Failure> {
        let mut is_asked = false;
        loop {
            let wait = match schedule.poll(command.as_mut()).map_err(failure)? {
                StatStep::Ended(end) => return Ok(CountEnd::Due(end)),
                StatStep::Interval if each(StatWakeup::Interval)? => continue,
                StatStep::Interval => return Ok(CountEnd::Unread),
                StatStep::Wait(time) => time,
            };
            let signal = match self.message(wait)? {
                Some(StatMessage::Control(Ok(command))) => {
                    if !each(StatWakeup::Control(command))? {
                        return Ok(CountEnd::Unread);
                    }
                    None
                }
                Some(StatMessage::Control(Err(UnknownCommand { line, .. }))) => {
                    say!(
                        "perfdata: --control: {line:?} is not a command; enable, disable, evlist and ping are"
                    );
                    None
                }
                Some(StatMessage::Signal(signal)) => Some(signal),
                None => None,
            };
            match (signal, &mut *command) {
                (None | Some(SIGCHLD), _) => {}
                (Some(SIGINT), Some(_)) if !is_asked => {
                    is_asked = true;
                    self.is_interrupted.set(true);
                }
                (Some(SIGTERM | SIGHUP), Some(command)) if !is_asked => {
                    is_asked = true;
                    end(command);
                }
                (Some(_), _) => return Ok(CountEnd::Signal),
            }
        }
    }

    /// Asks a command that still runs to end, and waits until it does or another signal comes.
    pub(super) fn end(&self, command: &mut Workload) -> Result<(), Failure> {
        end(command);
        while command.try_wait()?.is_none() {
            if self
                .message(None)?
                .is_some_and(|it| matches!(it, StatMessage::Signal(signal) if signal != SIGCHLD))
            {
                break;
            }
        }
        Ok(())
    }

    /// Returns the next message; `None` if none comes before the timeout.
    fn message(&self, timeout: Option<Duration>) -> Result<Option<StatMessage>, Failure> {
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

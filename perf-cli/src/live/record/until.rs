//! The end of a recording, and the requests that it answers while it runs.

use core::time::Duration;
use std::time::Instant;

use perf_open::workload::Workload;
use perf_record::{Recorder, Targets, Trigger, WaitOutcome};

use super::TICK;
use super::commands::{Commands, ControlRequests};
use super::schedule::Schedule;
use super::signals::RecordSignals;
use crate::outcome::Failure;

/// The conditions that end a recording, and the requests while it runs.
pub(in crate::live) struct StopConditions<'a> {
    pub(super) workload: Option<&'a mut Workload>,
    pub(super) observed: &'a Targets,
    pub(in crate::live) signals: &'a RecordSignals,
    pub(super) commands: Option<Commands>,
    pub(super) trigger: Option<Trigger>,
    pub(super) schedule: Schedule,
    /// When the events could start first.
    pub(super) began: Instant,
    pub(super) last: LastWait,
}

/// The results of the last wait and of the last look at the recorded threads. In a storm of records, the loop of the recording
/// does nothing else for each wakeup than to read the rings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastWait {
    /// The reasons that ended the last wait; `None` before the first.
    waited: Option<WaitOutcome>,
    /// When the recorded threads were looked for.
    looked: Option<Instant>,
}

/// The actions that are due.
#[derive(Clone, Copy, Debug)]
pub(in crate::live) struct DueActions {
    /// The recording ends.
    pub(in crate::live) end: bool,
    /// A snapshot is taken, or another file begins.
    pub(super) snapshot: bool,
    /// A command asked for the snapshot, and waits for an [answer](StopConditions::answer).
    pub(super) is_awaited: bool,
}

impl StopConditions<'_> {
    /// Starts and stops the events as it was asked for. Returns what the loop of the recording has to do.
    pub(in crate::live) fn look(&mut self, recorder: &Recorder) -> Result<DueActions, Failure> {
        match self.schedule.due(self.began) {
            Some(true) => recorder.resume()?,
            Some(false) => recorder.pause()?,
            None => {}
        }
        // What is not readable need not be cleared.
        if self.last.waited.is_none_or(|waited| waited.other) {
            self.signals.clear();
        }
        let asked = match &mut self.commands {
            Some(commands) => commands.run(recorder)?,
            None => ControlRequests::default(),
        };
        let occurred = match &mut self.trigger {
            Some(trigger) => trigger.take()? > 0,
            None => false,
        };
        let is_signalled = self.signals.takes_snapshot();
        let end = asked.stop || self.is_over()?;
        if end {
            recorder.stop()?;
        }
        Ok(DueActions {
            end,
            snapshot: asked.snapshot || occurred || is_signalled,
            is_awaited: asked.snapshot,
        })
    }

    /// Answers the command that asked for a snapshot.
    pub(super) fn answer(&mut self, due: DueActions) {
        if let (Some(commands), true) = (&mut self.commands, due.is_awaited) {
            commands.answer();
        }
    }

    /// Waits at most for `tick`, until a ring is half full or something else may be due.
    pub(in crate::live) fn wait(&mut self, recorder: &mut Recorder, tick: Duration) -> Result<(), Failure> {
        let mut fds = vec![self.signals.fd()];
        fds.extend(self.trigger.iter().flat_map(Trigger::fds));
        self.last.waited = Some(recorder.wait(Some(self.schedule.next(self.began, tick)), &fds)?);
        Ok(())
    }

    /// Returns whether the recording ends: the command or all threads have ended, or Ctrl-C was pressed.
    fn is_over(&mut self) -> Result<bool, Failure> {
        if self.signals.is_over() {
            return Ok(true);
        }
        if let Some(workload) = &mut self.workload {
            return Ok(workload.try_wait()?.is_some());
        }
        if !matches!(self.observed, Targets::Threads(_)) {
            return Ok(false);
        }
        // The end of a thread ends a wait.
        let has_only_records = self.last.waited.is_some_and(|waited| waited.records && !waited.hangup);
        let is_recent = self.last.looked.is_some_and(|looked| looked.elapsed() < TICK);
        if has_only_records && is_recent {
            return Ok(false);
        }
        self.last.looked = Some(Instant::now());
        Ok(self.observed.has_ended())
    }
}

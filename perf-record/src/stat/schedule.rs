//! The schedule of a run: the ends of its intervals, and its own end.

use core::time::Duration;
use std::process::ExitStatus;
use std::time::Instant;

use perf_open::workload::Workload;

use super::error::StatError;
use crate::Targets;

/// The period at which threads that are not children are checked.
const THREAD_CHECK: Duration = Duration::from_millis(100);

/// The conditions that end a run, and the ends of its intervals. It waits for nothing itself, so that it fits any event loop:
/// [`poll`](Self::poll) returns for how long nothing is due.
///
/// [`StatRun::schedule`](super::StatRun::schedule) and [`StatRun::delay`](super::StatRun::delay) return one.
#[derive(Debug)]
pub struct StatSchedule {
    /// Threads that are not children; none for a command and for cpus.
    threads: Targets,
    start: Instant,
    timeout: Option<Duration>,
    interval: Option<Duration>,
    /// When the current interval ends.
    next: Option<Duration>,
}

/// The next step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a run ends, an interval ends, or neither")]
pub enum StatStep {
    /// The run ends.
    Ended(StatEnd),
    /// An interval ends: read the counts with [`StatRun::interval`](super::StatRun::interval).
    Interval,
    /// Nothing is due for this long; `None` if only the end of the command can come. If there is a command, its end is found by
    /// a poll after its SIGCHLD.
    Wait(Option<Duration>),
}

/// The reason why a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatEnd {
    /// The command has ended.
    Command(ExitStatus),
    /// All threads have ended.
    Threads,
    /// The time is over.
    Timeout,
}

impl StatSchedule {
    pub(super) fn new(
        targets: &Targets,
        has_command: bool,
        start: Instant,
        timeout: Option<Duration>,
        interval: Option<Duration>,
    ) -> Self {
        let threads = match targets {
            // If there is a command, its end ends the run.
            Targets::Threads(_) if !has_command => targets.clone(),
            _ => Targets::Command,
        };
        Self { threads, start, timeout, interval, next: interval }
    }

    /// Returns what is due now. `command` is the command that was started, whether it is counted or not.
    ///
    /// # Errors
    ///
    /// If the command cannot be waited for.
    pub fn poll(&mut self, command: Option<&mut Workload>) -> Result<StatStep, StatError> {
        if let Some(command) = command
            && let Some(status) = command.try_wait()?
        {
            return Ok(StatStep::Ended(StatEnd::Command(status)));
        }
        if self.threads.has_ended() {
            return Ok(StatStep::Ended(StatEnd::Threads));
        }
        Ok(self.step(self.start.elapsed()))
    }

    /// Returns what is due `elapsed` after the start, of what the time decides.
    fn step(&mut self, elapsed: Duration) -> StatStep {
        if self.timeout.is_some_and(|timeout| elapsed >= timeout) {
            return StatStep::Ended(StatEnd::Timeout);
        }
        if let (Some(due), Some(interval)) = (self.next, self.interval)
            && elapsed >= due
        {
            // Missed intervals are skipped.
            let missed = elapsed.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
            let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
            self.next = Some(due.saturating_add(interval.saturating_mul(steps)));
            return StatStep::Interval;
        }
        let check = matches!(self.threads, Targets::Threads(_)).then(|| elapsed.saturating_add(THREAD_CHECK));
        let due = [self.next, self.timeout, check].into_iter().flatten().min();
        StatStep::Wait(due.map(|due| due.saturating_sub(elapsed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(targets: &Targets, timeout: Option<u64>, interval: Option<u64>) -> StatSchedule {
        let [timeout, interval] = [timeout, interval].map(|millis| millis.map(Duration::from_millis));
        StatSchedule::new(targets, false, Instant::now(), timeout, interval)
    }

    fn wait(millis: u64) -> StatStep {
        StatStep::Wait(Some(Duration::from_millis(millis)))
    }

    #[test]
    fn intervals_are_due_and_missed_ones_are_skipped() {
        let mut schedule = schedule(&Targets::Command, Some(1000), Some(100));
        let mut step = |millis| schedule.step(Duration::from_millis(millis));
        assert_eq!(step(0), wait(100));
        assert_eq!(step(100), StatStep::Interval);
        assert_eq!(step(101), wait(99));
        assert_eq!(step(450), StatStep::Interval);
        assert_eq!(step(451), wait(49));
        assert_eq!(step(500), StatStep::Interval);
        assert_eq!(step(1000), StatStep::Ended(StatEnd::Timeout));
    }

    #[test]
    fn nothing_is_due_without_a_condition() {
        let step = |targets| schedule(&targets, None, None).step(Duration::from_secs(9));
        assert_eq!(step(Targets::Command), StatStep::Wait(None));
        assert_eq!(step(Targets::Cpus(vec![0])), StatStep::Wait(None));
        assert_eq!(step(Targets::Threads(vec![1])), wait(100));
    }

    #[test]
    fn threads_end_a_run_without_a_command() {
        let ended = Targets::Threads(vec![4_194_305]);
        let mut of_threads = schedule(&ended, None, None);
        assert_eq!(of_threads.poll(None).unwrap(), StatStep::Ended(StatEnd::Threads));
        let mut with_command = StatSchedule::new(&ended, true, Instant::now(), None, None);
        assert_eq!(with_command.poll(None).unwrap(), StatStep::Wait(None));
    }

    #[test]
    fn a_command_ends_a_run() {
        let mut command = Workload::prepare("true".as_ref(), []).unwrap();
        let mut schedule = schedule(&Targets::Command, None, None);
        assert_eq!(schedule.poll(Some(&mut command)).unwrap(), StatStep::Wait(None));
        command.start().unwrap();
        let status = command.wait().unwrap();
        assert_eq!(schedule.poll(Some(&mut command)).unwrap(), StatStep::Ended(StatEnd::Command(status)));
    }
}

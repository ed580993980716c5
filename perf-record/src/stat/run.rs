//! One run of a count.

use core::ops::ControlFlow;
use core::time::Duration;
use std::os::fd::AsFd;
use std::time::Instant;

use perf_open::workload::{CpuTime, Workload};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::counted_event::CountedEvent;
use super::counter_set::{CounterCount, CounterSet};
use super::error::StatError;
use super::group;
use super::opening::OpeningScope;
use super::plan::StatPlan;
use super::readout::Readout;
use super::schedule::{StatEnd, StatSchedule, StatStep};
use super::times::{CpuTicks, PassedTime};
use crate::Targets;

/// The period at which a command is checked on kernels before 5.3, which cannot wait for a process by a descriptor.
const COMMAND_CHECK: Duration = Duration::from_millis(10);

/// Open events of a [`StatPlan`]: one run.
///
/// [`start`](Self::start), then start the command; [`wait`](Self::wait) for the end, or do so in an event loop with
/// [`schedule`](Self::schedule) and [`interval`](Self::interval); [`finish`](Self::finish).
#[derive(Debug)]
pub struct StatRun<'p> {
    pub(super) plan: &'p StatPlan,
    pub(super) counters: CounterSet,
    pub(super) events: Vec<CountedEvent>,
    /// The process id of the command, if it is counted.
    pub(super) command: Option<u32>,
    start: Instant,
    /// The length of the run; `None` before its end.
    elapsed: Option<Duration>,
    /// The cpu time of the targets at the start.
    ticks: Option<CpuTicks>,
    /// The counts at the end of the last interval, and when that was.
    before: (Readout, Duration),
}

/// The counts of an interval.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatInterval {
    /// The end of the interval, as the time since the start of the run.
    pub at: Duration,
    /// The length of the interval.
    pub lasted: Duration,
    /// The counts in the interval.
    pub readout: Readout,
    /// The counts since the start, by counter.
    pub(super) counts: Vec<CounterCount>,
}

/// The counts of a whole run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatResult {
    /// The events as they were opened.
    pub events: Vec<CountedEvent>,
    /// The counts of the whole run.
    pub readout: Readout,
    /// The length of the run.
    pub elapsed: Duration,
    /// The cpu time of the command; `None` without a command that was counted, or if it runs on.
    pub cpu_time: Option<CpuTime>,
    /// The last interval, from the end of the one before.
    pub last: StatInterval,
}

impl StatPlan {
    /// Opens the events for a run. They do not count yet. `command` is the process id of the
    /// [`Workload`](perf_open::workload::Workload), with [`Targets::Command`].
    ///
    /// Each event takes a file descriptor on each target; [`raise_open_files`](crate::raise_open_files) allows more.
    ///
    /// # Errors
    ///
    /// If the kernel forbids an event or its filter, or if all threads have ended. An event that the kernel or the hardware
    /// does not have is no error: its rows are [not supported](super::CountStatus::NotSupported).
    pub fn open(&self, command: Option<u32>) -> Result<StatRun<'_>, StatError> {
        let scope = OpeningScope {
            targets: &self.targets,
            command,
            options: &self.options,
            domains: &self.domains,
            cgroups: &self.cgroups,
        };
        let counters = CounterSet::open(&self.groups, &scope)?;
        let events = counters.events.iter().enumerate();
        let events = events.map(|(index, event)| self.counted_event(index, event, &counters)).collect();
        Ok(StatRun::new(self, counters, events, command))
    }
}

impl<'p> StatRun<'p> {
    fn new(
        plan: &'p StatPlan,
        counters: CounterSet,
        events: Vec<CountedEvent>,
        command: Option<u32>,
    ) -> Self {
        let (start, before) = (Instant::now(), Default::default());
        Self { plan, counters, events, command, start, elapsed: None, ticks: None, before }
    }

    /// Returns the events as they were opened: user space alone, for example, if this user may not count the kernel.
    #[must_use]
    pub fn events(&self) -> &[CountedEvent] {
        &self.events
    }

    /// Starts the run: the events, unless they are [delayed](super::StatOptions::delayed) or start at the exec of the command,
    /// and the time. Start the command after that.
    ///
    /// # Errors
    ///
    /// If an event cannot be started.
    pub fn start(&mut self) -> Result<(), StatError> {
        if !self.plan.options.delayed {
            self.counters.enable()?;
        }
        self.restart_time();
        Ok(())
    }

    /// Starts the events after a delay, and the time anew.
    ///
    /// # Errors
    ///
    /// If an event cannot be started.
    pub fn end_delay(&mut self) -> Result<(), StatError> {
        self.counters.enable()?;
        self.restart_time();
        Ok(())
    }

    fn restart_time(&mut self) {
        self.start = Instant::now();
        self.ticks = self.ticks_now();
    }

    /// Starts the events, or those of a name. Returns whether there are any.
    ///
    /// # Errors
    ///
    /// If an event cannot be started.
    pub fn enable(&self, event: Option<&str>) -> Result<bool, StatError> {
        match event {
            Some(name) => self.counters.switch(name, true),
            None => self.counters.enable_now().map(|()| true),
        }
    }

    /// Stops the events, or those of a name. Returns whether there are any.
    ///
    /// # Errors
    ///
    /// If an event cannot be stopped.
    pub fn disable(&self, event: Option<&str>) -> Result<bool, StatError> {
        match event {
            Some(name) => self.counters.switch(name, false),
            None => self.counters.disable().map(|()| true),
        }
    }

    /// Returns the schedule of the run, by the interval and the timeout of the options. `has_command` is whether a command was
    /// started, whose end then ends the run.
    #[must_use]
    pub fn schedule(&self, has_command: bool) -> StatSchedule {
        let options = &self.plan.options;
        let (timeout, interval) = (options.timeout, options.interval);
        StatSchedule::new(&self.plan.targets, has_command, self.start, timeout, interval)
    }

    /// Returns the schedule of a delay before [`end_delay`](Self::end_delay). It ends by [`StatEnd::Timeout`].
    #[must_use]
    pub fn delay(&self, has_command: bool, delay: Duration) -> StatSchedule {
        StatSchedule::new(&self.plan.targets, has_command, self.start, Some(delay), None)
    }

    /// Waits for the end of the run: of `command`, of all threads, or of the time. At the end of each interval, passes the
    /// events and the counts of the interval to `each`, which can end the run. Returns why the run ended; `None` if `each` ended
    /// it. Without a command, threads and a timeout it waits until `each` ends it.
    ///
    /// # Errors
    ///
    /// If an event cannot be read, or the command cannot be waited for.
    pub fn wait(
        &mut self,
        mut command: Option<&mut Workload>,
        mut each: impl FnMut(&[CountedEvent], &StatInterval) -> ControlFlow<()>,
    ) -> Result<Option<StatEnd>, StatError> {
        let mut schedule = self.schedule(command.is_some());
        let pid = command.as_ref().and_then(|command| Pid::from_raw(i32::try_from(command.pid()).ok()?));
        let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        loop {
            match schedule.poll(command.as_deref_mut())? {
                StatStep::Ended(end) => return Ok(Some(end)),
                StatStep::Interval => {
                    let interval = self.interval()?;
                    if each(&self.events, &interval).is_break() {
                        return Ok(None);
                    }
                }
                StatStep::Wait(time) => {
                    let check = (pid.is_some() && process.is_none()).then_some(COMMAND_CHECK);
                    let time = [time, check].into_iter().flatten().min();
                    let time = time.and_then(|time| Timespec::try_from(time).ok());
                    let process =
                        process.as_ref().map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN));
                    // A signal only ends the wait early.
                    let _ = poll(&mut Vec::from_iter(process), time.as_ref());
                }
            }
        }
    }

    /// Reads the counts of the interval that ends now.
    ///
    /// # Errors
    ///
    /// If an event cannot be read.
    pub fn interval(&mut self) -> Result<StatInterval, StatError> {
        let at = self.start.elapsed();
        let passed = self.passed(at);
        Ok(self.read(at, passed)?.0)
    }

    /// Stops counting. [`finish`](Self::finish) does so too; stop before ending a command that is not to be counted to its end.
    ///
    /// # Errors
    ///
    /// If an event cannot be stopped.
    pub fn stop(&mut self) -> Result<(), StatError> {
        self.counters.disable()?;
        self.elapsed.get_or_insert_with(|| self.start.elapsed());
        Ok(())
    }

    /// Ends the run, and returns its counts. `command` is the command, for its cpu time.
    ///
    /// # Errors
    ///
    /// If an event cannot be stopped or read.
    pub fn finish(mut self, command: Option<&Workload>) -> Result<StatResult, StatError> {
        self.stop()?;
        let elapsed = self.elapsed.unwrap_or_default();
        // The cpu time of a command that is not itself counted says nothing about the counts.
        let cpu_time = command.filter(|_| self.plan.targets == Targets::Command).and_then(Workload::cpu_time);
        let passed = PassedTime { elapsed, cpu: cpu_time.or_else(|| self.passed(elapsed).cpu) };
        let (last, readout) = self.read(elapsed, passed)?;
        Ok(StatResult { events: self.events, readout, elapsed, cpu_time, last })
    }

    /// Reads the counters. Returns the counts since the last interval, and those since the start.
    fn read(&mut self, at: Duration, passed: PassedTime) -> Result<(StatInterval, Readout), StatError> {
        let counts = self.counters.read()?;
        let readout = self.counters.readout(&counts, &passed);
        let since = readout.since(&self.before.0);
        let lasted = at.saturating_sub(self.before.1);
        self.before = (readout.clone(), at);
        Ok((StatInterval { at, lasted, readout: since, counts }, readout))
    }

    fn passed(&self, elapsed: Duration) -> PassedTime {
        let now = self.ticks.and(self.ticks_now());
        PassedTime { elapsed, cpu: now.zip(self.ticks).map(|(now, first)| now.since(first)) }
    }

    /// Returns the cpu time of the targets until now; `None` if no event needs it.
    fn ticks_now(&self) -> Option<CpuTicks> {
        let is_needed = group::has_cpu_times(&self.plan.groups);
        is_needed.then(|| CpuTicks::now(&self.plan.targets, self.command)).flatten()
    }
}

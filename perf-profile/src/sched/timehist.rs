//! The times of each switch, as `perf sched timehist` has them.

use std::collections::BTreeMap;

use super::event::{MigrationEvent, SchedSample, SwitchEvent, WakeupEvent};
use super::perf_tasks::{PerfTask, PerfTasks, PerfVersion, TaskId};
use super::run_stats::RunStats;

/// What is selected of the switches.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TimehistOptions {
    /// The version of perf.
    pub version: PerfVersion,
    /// Only threads of these processes; of all if empty.
    pub pids: Vec<i32>,
    /// Only these threads; all if empty.
    pub tids: Vec<i32>,
    /// Only these CPUs; all if empty.
    pub cpus: Vec<u32>,
    /// Only threads with these priorities; with any if empty.
    pub prios: Vec<i32>,
    /// Only from this time on, in nanoseconds; 0 is from the start.
    pub start: u64,
    /// Only up to this time, in nanoseconds; 0 is up to the end.
    pub end: u64,
    /// Only the times of idle CPUs.
    pub idle: bool,
    /// Whether switches are shown, and not only their sums.
    pub shows_rows: bool,
    /// Whether priorities are shown.
    pub shows_prios: bool,
}

/// The most CPUs, as perf has them. Samples of others are skipped.
const CPUS: u32 = 4096;

/// The times of each switch, and their sums by thread.
///
/// perf: `timehist_sched_change_event`, `tools/perf/builtin-sched.c`.
#[derive(Debug)]
pub struct Timehist {
    options: TimehistOptions,
    tasks: PerfTasks,
    /// By the number of the thread.
    times: Vec<TaskTimes>,
    /// The idle threads, by their CPUs.
    idle: BTreeMap<u32, IdleTask>,
    /// The time of the last switch on each CPU.
    last_switch: BTreeMap<u32, u64>,
    /// The number of samples that were left out. Idle times are then not known.
    skipped: u64,
    first: u64,
    last: u64,
    max_cpu: u32,
}

/// The idle thread of a CPU.
#[derive(Debug, Default)]
struct IdleTask {
    times: TaskTimes,
    /// The thread that ran before.
    last: Option<TaskId>,
}

/// The times of a thread: those of its last switch, and their sums.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TaskTimes {
    /// The time for which it ran before the last switch away from it.
    pub run: u64,
    /// The time from its wake-up, or from the switch away from it while it could run, to that run.
    pub delay: u64,
    /// The time off the CPU before that run, if it slept.
    pub sleep: u64,
    /// The same if it slept and could not be interrupted, as for a disk.
    pub iowait: u64,
    /// The same if it could run.
    pub preempt: u64,
    /// The time from its wake-up to its move to the CPU of that run.
    pub pre_migration: u64,
    /// The sums of all runs.
    pub runs: RunStats,
    /// The sum of [`run`](Self::run).
    pub total_run: u64,
    /// The sum of [`delay`](Self::delay).
    pub total_delay: u64,
    /// The sum of [`sleep`](Self::sleep).
    pub total_sleep: u64,
    /// The sum of [`iowait`](Self::iowait).
    pub total_iowait: u64,
    /// The sum of [`preempt`](Self::preempt).
    pub total_preempt: u64,
    /// The number of times that it moved to another CPU.
    pub migrations: u64,
    /// The priority with which it runs; `None` before the first switch to it.
    prio: Option<i32>,
    /// The letter of the state in which it left the CPU last.
    last_state: u8,
    /// The time of the last switch away from it; 0 before.
    last_time: u64,
    /// The time since when it can run; 0 if it cannot.
    ready: u64,
    /// The time of its last move to another CPU; 0 if there was none since it left the CPU.
    migrated: u64,
}

impl TaskTimes {
    /// Takes a run that began at `since`; 0 if the capture does not tell that.
    fn update(&mut self, time: u64, since: u64) {
        (self.run, self.delay, self.sleep, self.iowait, self.preempt, self.pre_migration) =
            (0, 0, 0, 0, 0, 0);
        if since > 0 {
            self.run = time.wrapping_sub(since);
            if self.ready > 0 {
                self.delay = since.saturating_sub(self.ready);
                if self.migrated > self.ready && self.migrated < since {
                    self.pre_migration = self.migrated - self.ready;
                }
            }
            if self.last_time > 0 && self.last_time <= since {
                let away = match self.last_state {
                    b'R' => &mut self.preempt,
                    b'D' => &mut self.iowait,
                    _ => &mut self.sleep,
                };
                *away = since - self.last_time;
            }
        }
        self.runs.add(self.run);
        let sum = |sum: &mut u64, time: u64| *sum = sum.wrapping_add(time);
        sum(&mut self.total_run, self.run);
        sum(&mut self.total_delay, self.delay);
        sum(&mut self.total_sleep, self.sleep);
        sum(&mut self.total_iowait, self.iowait);
        sum(&mut self.total_preempt, self.preempt);
    }

    /// Returns the time off the CPU before the last run.
    #[must_use]
    pub fn wait(&self) -> u64 {
        self.sleep.wrapping_add(self.iowait).wrapping_add(self.preempt)
    }
}

/// A switch away from a thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TimehistRow<'t> {
    /// The time of the switch, or the end of the selected times.
    pub time: u64,
    /// The thread; `None` for the idle thread of the CPU.
    pub task: Option<&'t PerfTask>,
    /// Its times.
    pub times: &'t TaskTimes,
    /// The letter of its state, as perf prints it; `I` of the idle thread.
    pub state: u8,
    /// The priority with which it began to run, if it is another one now.
    pub prio_before: Option<i32>,
}

/// The times for which a CPU was idle.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IdleStats<'t> {
    /// The CPU.
    pub cpu: u32,
    /// The times; `None` if it never was.
    pub times: Option<&'t TaskTimes>,
}

/// The letters of states by their lowest bits, as perf 6.1 has them.
const STATES_OF_6_1: &[u8] = b"RSDTtZXxKWP";

/// Returns the letter of a state as a version of perf prints it. `letters` are those of the print format.
pub(super) fn state_letter(version: PerfVersion, number: i64, letters: &str) -> u8 {
    let bit = if number == 0 { 0 } else { number.trailing_zeros() as usize + 1 };
    match version {
        // perf takes the number as one of 32 bits.
        PerfVersion::V6_1 if bit > 32 => b'R',
        PerfVersion::V6_1 => STATES_OF_6_1.get(bit).copied().unwrap_or(b'?'),
        PerfVersion::V7_2 if number == 0 || letters == "unknown" => b'R',
        PerfVersion::V7_2 => letters.bytes().next().unwrap_or(b'R'),
    }
}

impl Timehist {
    /// Has no switches yet. `cpus` is the number of CPUs that were online on the machine.
    #[must_use]
    pub fn new(options: TimehistOptions, cpus: u32) -> Self {
        let tasks = PerfTasks::new(options.version);
        let cpus = match cpus {
            0 => 4,
            cpus => cpus.min(CPUS),
        };
        let idle = (0..cpus).map(|cpu| (cpu, IdleTask::default())).collect();
        Self {
            options,
            tasks,
            times: Vec::new(),
            idle,
            last_switch: BTreeMap::new(),
            skipped: 0,
            first: 0,
            last: 0,
            max_cpu: cpus,
        }
    }

    /// Returns the threads.
    #[must_use]
    pub fn tasks(&self) -> &PerfTasks {
        &self.tasks
    }

    /// Returns the threads, which records that are not samples change.
    pub fn tasks_mut(&mut self) -> &mut PerfTasks {
        &mut self.tasks
    }

    /// Returns the highest number of a CPU so far, or the number of CPUs if that is higher.
    #[must_use]
    pub fn max_cpu(&self) -> u32 {
        self.max_cpu
    }

    /// Notes the CPU of any sample.
    pub fn cpu(&mut self, cpu: u32) {
        if cpu < CPUS {
            self.max_cpu = self.max_cpu.max(cpu);
        }
    }

    fn times_of(times: &mut Vec<TaskTimes>, id: TaskId) -> Option<&mut TaskTimes> {
        let index = id.index();
        if times.len() <= index {
            times.resize_with(index + 1, TaskTimes::default);
        }
        times.get_mut(index)
    }

    fn is_selected(&self, task: Option<TaskId>) -> bool {
        let (pid, tid) = task.and_then(|id| self.tasks.get(id)).map_or((0, 0), |task| (task.pid, task.tid));
        let is_in = |list: &[i32], id| list.is_empty() || list.contains(&id);
        is_in(&self.options.pids, pid) && is_in(&self.options.tids, tid)
    }

    /// Returns whether a sample of a thread is left out, and counts it. `prio` is its priority if the sample has it.
    fn skips(&mut self, task: Option<TaskId>, idle_prio: Option<i32>, prio: Option<i32>) -> bool {
        let mut skips = !self.is_selected(task);
        self.skipped += u64::from(skips);
        if !self.options.prios.is_empty() {
            let own = task.map_or(idle_prio, |id| Self::times_of(&mut self.times, id).and_then(|it| it.prio));
            if own.or(prio).is_some_and(|prio| prio >= 0 && !self.options.prios.contains(&prio)) {
                skips = true;
                self.skipped += 1;
            }
        }
        skips
    }

    /// Takes a switch. Returns what is printed of it; `None` if it is not selected. `letters` are those of the state.
    pub fn switch(
        &mut self,
        at: &SchedSample<'_>,
        switch: &SwitchEvent<'_>,
        letters: &str,
    ) -> Option<TimehistRow<'_>> {
        if at.cpu >= CPUS {
            return None;
        }
        let is_idle = switch.prev_tid == 0;
        // perf finds the thread of each sample first, which adds it to its tables.
        self.tasks.find(at.pid, at.tid);
        if self.options.tracks_prios() {
            self.take_prio(at.cpu, switch);
        }
        let task = if is_idle {
            None
        } else {
            let tid = if at.tid == 0 { at.pid } else { at.tid };
            let task = self.tasks.find(at.pid, tid)?;
            self.tasks.find(at.pid, at.pid);
            if self.options.idle {
                self.idle.entry(at.cpu).or_default().last = Some(task);
            }
            Some(task)
        };
        let state = state_letter(self.options.version, switch.prev_state, letters);
        let prio = self.idle.get(&at.cpu).and_then(|idle| idle.times.prio);
        let mut skips = self.skips(task, prio, switch.prev_prio);
        skips |= self.options.idle && switch.prev_tid != 0 && switch.next_tid != 0;
        let since = self.last_switch.insert(at.cpu, at.time).unwrap_or(0);
        if skips {
            self.note_time(at.time);
            return None;
        }
        let shown = self.apply(at, task, since);
        let time = shown.unwrap_or(at.time);
        let times = match task {
            Some(id) => Self::times_of(&mut self.times, id)?,
            None => &mut self.idle.entry(at.cpu).or_default().times,
        };
        let prio_before = times.prio.filter(|&prio| prio != switch.prev_prio.unwrap_or(0));
        times.last_time = at.time;
        times.last_state = state;
        let is_ready = state == b'R' && self.options.version != PerfVersion::V6_1;
        times.ready = if is_ready { time } else { 0 };
        times.migrated = 0;
        self.note_time(time);
        shown?;
        if self.options.idle && !is_idle {
            return None;
        }
        if let Some(id) = task
            && self.options.names_as_shown()
            && self.tasks.get(id).is_some_and(|task| !task.is_named)
        {
            self.tasks.name(id, switch.prev_comm);
        }
        let times = match task {
            Some(id) => self.times.get(id.index())?,
            None => &self.idle.get(&at.cpu)?.times,
        };
        let task = task.and_then(|id| self.tasks.get(id));
        Some(TimehistRow { time, task, times, state: if is_idle { b'I' } else { state }, prio_before })
    }

    /// Notes the priority of the thread that is next.
    fn take_prio(&mut self, cpu: u32, switch: &SwitchEvent<'_>) {
        let times = if switch.next_tid == 0 {
            Some(&mut self.idle.entry(cpu).or_default().times)
        } else {
            let next = self.tasks.find(-1, switch.next_tid);
            next.and_then(|next| Self::times_of(&mut self.times, next))
        };
        if let Some(times) = times {
            times.prio = switch.next_prio;
        }
    }

    /// Adds the times of a switch to those of its thread. Returns the time of the switch in the selected times; `None` if it is not
    /// shown.
    fn apply(&mut self, at: &SchedSample<'_>, task: Option<TaskId>, mut since: u64) -> Option<u64> {
        let TimehistOptions { start, end, idle, .. } = self.options;
        let mut time = at.time;
        if start > time {
            return None;
        }
        if since > 0 {
            since = since.max(start);
        }
        if end > 0 {
            if since > end || since == 0 {
                return None;
            }
            time = time.min(end);
        }
        let is_wanted = self.options.cpus.is_empty() || self.options.cpus.contains(&at.cpu);
        if idle && task.is_some() {
            return Some(time);
        }
        if is_wanted {
            let times = match task {
                Some(id) => Self::times_of(&mut self.times, id)?,
                None => &mut self.idle.entry(at.cpu).or_default().times,
            };
            times.update(time, since);
        }
        if idle {
            let last = self.idle.get_mut(&at.cpu)?.last.take()?;
            let times = Self::times_of(&mut self.times, last)?;
            times.update(time, since);
            (times.run, times.delay, times.sleep, times.iowait, times.preempt) = (0, 0, 0, 0, 0);
        }
        is_wanted.then_some(time)
    }

    /// Takes a time of the capture.
    fn note_time(&mut self, time: u64) {
        if self.first == 0 && time >= self.options.start {
            self.first = time;
        }
        if self.options.end == 0 || time <= self.options.end {
            self.last = time;
        }
    }

    /// Takes a wake-up. Returns the thread that wakes, and the one that is woken up, if `shows` is set and one of them is
    /// selected.
    pub fn wakeup(
        &mut self,
        at: &SchedSample<'_>,
        wakeup: &WakeupEvent<'_>,
        shows: bool,
    ) -> Option<(&PerfTask, &PerfTask)> {
        let woken = self.tasks.find(0, wakeup.tid)?;
        let times = Self::times_of(&mut self.times, woken)?;
        if times.ready == 0 {
            times.ready = at.time;
        }
        let TimehistOptions { start, end, .. } = self.options;
        let is_outside = at.time < start || end > 0 && at.time > end;
        if is_outside { None } else { self.shown(at, woken, shows) }
    }

    /// Takes a move of a thread to another CPU. Returns the thread of the sample, and the one that moves, if `shows` is set and one
    /// of them is selected.
    pub fn migration(
        &mut self,
        at: &SchedSample<'_>,
        migration: &MigrationEvent,
        shows: bool,
    ) -> Option<(&PerfTask, &PerfTask)> {
        let moved = self.tasks.find(0, migration.tid)?;
        let times = Self::times_of(&mut self.times, moved)?;
        times.migrations += 1;
        times.migrated = at.time;
        self.shown(at, moved, shows)
    }

    fn shown(&mut self, at: &SchedSample<'_>, other: TaskId, shows: bool) -> Option<(&PerfTask, &PerfTask)> {
        if !shows {
            return None;
        }
        let own = self.tasks.find(at.pid, at.tid)?;
        let idle = self.options.idle;
        let skips_own = self.skips(Some(own), None, None) || idle;
        if skips_own && (self.skips(Some(other), None, None) || idle) {
            return None;
        }
        Some((self.tasks.get(own)?, self.tasks.get(other)?))
    }

    /// Returns the threads that ran and are selected, in the order in which perf lists them.
    pub fn summary(&self) -> impl Iterator<Item = (&PerfTask, &TaskTimes)> {
        let listed = self.tasks.listed().into_iter().filter(|&id| self.is_selected(Some(id)));
        let both = listed.filter_map(|id| Some((self.tasks.get(id)?, self.times.get(id.index())?)));
        both.filter(|(_, times)| times.runs.count() > 0)
    }

    /// Returns the idle times of each selected CPU; `None` if samples were left out, unless only idle times are wanted.
    #[must_use]
    pub fn idle_stats(&self) -> Option<Vec<IdleStats<'_>>> {
        if self.skipped > 0 && !self.options.idle {
            return None;
        }
        let cpus = &self.options.cpus;
        let selected = self.idle.iter().filter(|(cpu, _)| cpus.is_empty() || cpus.contains(cpu));
        let stats = |(&cpu, idle): (&u32, &'_ IdleTask)| (cpu, idle.times.runs.count() > 0);
        let all = selected.map(|it| (stats(it), &it.1.times));
        Some(all.map(|((cpu, ran), times)| IdleStats { cpu, times: ran.then_some(times) }).collect())
    }

    /// Returns the time from the first switch to the last one, in nanoseconds.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.last.wrapping_sub(self.first)
    }
}

impl TimehistOptions {
    /// Returns whether the priorities of threads are followed.
    fn tracks_prios(&self) -> bool {
        self.shows_prios || !self.prios.is_empty()
    }

    /// Returns whether a thread without a name gets that of its switch when the switch is shown.
    fn names_as_shown(&self) -> bool {
        self.version == PerfVersion::V7_2 && self.shows_rows
    }
}

//! The delays between wake-up and run, as `perf sched latency` has them.

use core::cmp::Ordering;
use core::str::FromStr;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::event::{SchedEvent, SchedSample, SwitchEvent, WakeupEvent};
use super::perf_tasks::{PerfTasks, PerfVersion, TaskId};
use super::timehist::state_letter;

/// The delays of the threads of a capture.
///
/// perf: `perf_sched__lat`, `tools/perf/builtin-sched.c`.
#[derive(Debug)]
pub struct Latency {
    tasks: PerfTasks,
    delays: HashMap<TaskId, TaskDelays>,
    /// By the CPU: the time of the last switch, and the thread that it was to.
    cpus: BTreeMap<u32, (u64, i32)>,
    /// The only CPU that was recorded.
    only_cpu: Option<u32>,
    /// Whether threads run from switch to switch, as the capture does not have `sched_stat_runtime`.
    runs_by_switches: bool,
    faults: LatencyFaults,
}

/// What does not fit together in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LatencyFaults {
    /// The number of wake-ups that were looked at.
    pub wakeups: u64,
    /// The number of wake-ups that are before the switch away from the thread.
    pub unordered: u64,
    /// The number of switches away from a thread that did not run.
    pub switches: u64,
}

/// The delays of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct TaskDelays {
    /// `None` before the first event of the thread.
    state: Option<DelayState>,
    out_time: u64,
    ready: u64,
    total: DelayTotal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DelayState {
    Sleeping,
    WaitsForCpu,
    Runs,
    Ignored,
}

#[derive(Clone, Copy, Debug, Default)]
struct DelayTotal {
    count: u64,
    delay: u64,
    max: u64,
    max_start: u64,
    max_end: u64,
    runtime: u64,
}

/// The delays of a thread, or of the threads with one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LatencyRow {
    /// The name.
    pub comm: Arc<[u8]>,
    /// The thread id; of several threads, the highest one.
    pub tid: i32,
    /// The number of threads.
    pub threads: u64,
    /// The time for which they ran, in nanoseconds, by `sched_stat_runtime`: see [`Latency::with_runs_by_switches`].
    pub runtime: u64,
    /// The number of times that they began to run after a known time of waiting.
    pub count: u64,
    /// The sum of the delays, in nanoseconds.
    pub delay: u64,
    /// The longest delay.
    pub max: u64,
    /// When it began; 0 if there is none.
    pub max_start: u64,
    /// When it ended; 0 if there is none.
    pub max_end: u64,
}

impl LatencyRow {
    /// Returns the mean delay, in nanoseconds.
    #[must_use]
    pub fn average(&self) -> u64 {
        self.delay.checked_div(self.count).unwrap_or(0)
    }
}

/// A key that rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LatencySort {
    /// By thread id.
    Pid,
    /// By mean delay.
    Avg,
    /// By longest delay.
    Max,
    /// By number of switches.
    Switch,
    /// By run time.
    Runtime,
}

impl FromStr for LatencySort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "pid" => Self::Pid,
            "avg" => Self::Avg,
            "max" => Self::Max,
            "switch" => Self::Switch,
            "runtime" => Self::Runtime,
            _ => return Err(format!("{text}: no such key; use runtime, switch, avg, max or pid")),
        })
    }
}

impl LatencySort {
    fn compare(self, left: &LatencyRow, right: &LatencyRow) -> Ordering {
        match self {
            Self::Pid => left.tid.cmp(&right.tid),
            Self::Avg => left.average().cmp(&right.average()),
            Self::Max => left.max.cmp(&right.max),
            Self::Switch => left.count.cmp(&right.count),
            Self::Runtime => left.runtime.cmp(&right.runtime),
        }
    }
}

/// The most CPUs, as perf has them. Samples of others are skipped.
const CPUS: u32 = 4096;

impl Latency {
    /// Has no delays yet. `only_cpu` is the CPU that was recorded, if it was only one.
    #[must_use]
    pub fn new(version: PerfVersion, only_cpu: Option<u32>) -> Self {
        Self {
            tasks: PerfTasks::new(version).without_exits(),
            delays: HashMap::new(),
            cpus: BTreeMap::new(),
            only_cpu,
            runs_by_switches: false,
            faults: LatencyFaults::default(),
        }
    }

    /// Takes the times between switches for those for which threads run, instead of `sched_stat_runtime`. perf has no times then.
    #[must_use]
    pub fn with_runs_by_switches(self) -> Self {
        Self { runs_by_switches: true, ..self }
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

    /// Returns what does not fit together.
    #[must_use]
    pub fn faults(&self) -> LatencyFaults {
        self.faults
    }

    /// Takes an event. `letters` are those of the state of a switch.
    pub fn event(&mut self, at: &SchedSample<'_>, letters: &str) {
        match &at.event {
            SchedEvent::Switch(switch) => self.switch(at, switch, letters),
            SchedEvent::Wakeup(wakeup) => self.wakeup(at.time, wakeup),
            SchedEvent::Runtime(it) if at.cpu < CPUS => {
                if let Some(delays) = self.known(it.tid, b'R', at.time) {
                    delays.total.runtime = delays.total.runtime.saturating_add(it.nanoseconds);
                }
            }
            SchedEvent::Migration(it) if self.only_cpu.is_some() => {
                if let Some(delays) = self.known(it.tid, b'R', at.time) {
                    (delays.out_time, delays.ready) = (at.time, at.time);
                    self.faults.wakeups += 1;
                }
            }
            SchedEvent::Runtime(_) | SchedEvent::Migration(_) => {}
        }
    }

    /// Returns the delays of a thread, which is in a state if it was not known.
    fn known(&mut self, tid: i32, state: u8, time: u64) -> Option<&mut TaskDelays> {
        let task = self.tasks.find(-1, tid)?;
        let delays = self.delays.entry(task).or_default();
        if delays.state.is_none() {
            delays.leaves(state, time);
        }
        Some(delays)
    }

    fn switch(&mut self, at: &SchedSample<'_>, switch: &SwitchEvent<'_>, letters: &str) {
        if at.cpu >= CPUS {
            return;
        }
        let before = self.cpus.insert(at.cpu, (at.time, switch.next_tid));
        let is_wrong = before.is_some_and(|(_, current)| current != switch.prev_tid);
        self.faults.switches += u64::from(is_wrong);
        let ran = before.filter(|_| self.runs_by_switches && !is_wrong);
        let ran = ran.map_or(0, |(since, _)| at.time.saturating_sub(since));
        let state = match self.tasks.version() {
            // This version takes the number for an index into the letters.
            PerfVersion::V6_1 if switch.prev_state != 0 => b'?',
            version => state_letter(version, switch.prev_state, letters),
        };
        let both = self.tasks.find(-1, switch.prev_tid).zip(self.tasks.find(-1, switch.next_tid));
        let Some((prev, next)) = both else { return };
        let delays = self.delays.entry(prev).or_default();
        delays.total.runtime = delays.total.runtime.saturating_add(ran);
        delays.leaves(state, at.time);
        let delays = self.delays.entry(next).or_default();
        if delays.state.is_none() {
            delays.leaves(b'R', at.time);
        }
        delays.runs(at.time);
    }

    fn wakeup(&mut self, time: u64, wakeup: &WakeupEvent<'_>) {
        let has_all = self.only_cpu.is_none();
        let Some(delays) = self.known(wakeup.tid, b'S', time) else { return };
        if has_all && delays.state != Some(DelayState::Sleeping) {
            return;
        }
        let is_ordered = delays.out_time <= time;
        if is_ordered {
            (delays.state, delays.ready) = (Some(DelayState::WaitsForCpu), time);
        }
        self.faults.wakeups += 1;
        self.faults.unordered += u64::from(!is_ordered);
    }

    /// Returns the delays: of each thread if `each` is set, otherwise of all threads with one name together. Sorted by keys, the
    /// largest first; without keys by `avg`, `max`, `switch` and `runtime`.
    #[must_use]
    pub fn rows(&self, each: bool, sort: &[LatencySort]) -> Vec<LatencyRow> {
        let of_task = |(&id, delays): (&TaskId, &TaskDelays)| {
            let task = self.tasks.get(id)?;
            let DelayTotal { count, delay, max, max_start, max_end, runtime } = delays.total;
            let (comm, tid, threads) = (Arc::clone(&task.comm), task.tid, 1);
            Some((id, LatencyRow { comm, tid, threads, runtime, count, delay, max, max_start, max_end }))
        };
        let mut rows: Vec<_> = self.delays.iter().filter_map(of_task).collect();
        // perf goes from the highest id to the lowest one.
        rows.sort_unstable_by_key(|(id, row)| core::cmp::Reverse((row.tid, *id)));
        let mut rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        if !each {
            rows = merged(rows);
        }
        let default = [LatencySort::Avg, LatencySort::Max, LatencySort::Switch, LatencySort::Runtime];
        let sort = if sort.is_empty() { &default[..] } else { sort };
        rows.sort_by(|left, right| {
            let orders = sort.iter().map(|key| key.compare(right, left));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        // The idle threads are not listed.
        rows.retain(|row| row.count > 0 && row.tid != 0);
        rows
    }
}

/// Adds rows with one name together, and sorts them by name, the last one first.
fn merged(rows: Vec<LatencyRow>) -> Vec<LatencyRow> {
    let mut by_comm: BTreeMap<Arc<[u8]>, LatencyRow> = BTreeMap::new();
    for row in rows {
        match by_comm.get_mut(&row.comm) {
            None => {
                by_comm.insert(Arc::clone(&row.comm), row);
            }
            Some(all) => {
                all.threads += 1;
                all.runtime = all.runtime.saturating_add(row.runtime);
                all.count += row.count;
                all.delay = all.delay.saturating_add(row.delay);
                if all.max < row.max {
                    (all.max, all.max_start, all.max_end) = (row.max, row.max_start, row.max_end);
                }
            }
        }
    }
    by_comm.into_values().rev().collect()
}

impl TaskDelays {
    /// Takes a switch away from the thread in a state.
    fn leaves(&mut self, state: u8, time: u64) {
        self.out_time = time;
        (self.state, self.ready) = match state {
            b'R' => (Some(DelayState::WaitsForCpu), time),
            _ => (Some(DelayState::Sleeping), 0),
        };
    }

    /// Takes a switch to the thread.
    fn runs(&mut self, time: u64) {
        if self.state != Some(DelayState::WaitsForCpu) {
            return;
        }
        if time < self.ready {
            self.state = Some(DelayState::Ignored);
            return;
        }
        self.state = Some(DelayState::Runs);
        let delay = time - self.ready;
        let total = &mut self.total;
        total.delay = total.delay.saturating_add(delay);
        total.count += 1;
        if delay > total.max {
            (total.max, total.max_start, total.max_end) = (delay, self.ready, time);
        }
    }
}

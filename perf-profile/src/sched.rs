//! What the scheduler does with threads: when they run, wait and wake up.
//!
//! A [`SchedReader`] reads the samples of the scheduler's tracepoints. From them,
//!
//! - [`Timehist`] has the times of each switch and their sums, as `perf sched timehist` has them;
//! - [`Latency`] has the delays between wake-up and run, as `perf sched latency` has them;
//! - [`CpuMap`] has the threads that run on each CPU, as `perf sched map` has them;
//! - [`SchedTrace`] keeps the switches and wake-ups as they are, for formats that show them over time;
//! - [`SchedModel`] has each run, wait and wake-up of each thread, also from SWITCH records alone, and [`WaitReport`] what they
//!   add up to: percentiles, stacks, wakers, and the threads that ran instead.
//!
//! The first three have the threads that perf has, version by version: see [`PerfTasks`]. All need one walk over the records in
//! order of time, and their memory is bounded by the number of threads and CPUs, which have limits.

mod cpu_map;
mod event;
mod histogram;
mod latency;
mod model;
mod perf_tasks;
mod reader;
mod run_stats;
#[cfg(test)]
mod tests;
mod timehist;
mod trace;
mod wait_group;
mod wait_report;
mod wait_stacks;

pub use cpu_map::{CpuMap, MapCell, MapLine, MapNames};
pub use event::{
    MigrationEvent, RuntimeEvent, SchedEvent, SchedSample, SwitchEvent, WakeupEvent, WakeupKind,
};
pub use histogram::Histogram;
pub use latency::{Latency, LatencyFaults, LatencyRow, LatencySort};
pub use model::{Change, Run, SchedModel, ThreadId, Wait, Wakeup};
pub use perf_tasks::{PerfTask, PerfTasks, PerfVersion, TaskId};
pub use reader::SchedReader;
pub use run_stats::RunStats;
pub use timehist::{IdleStats, TaskTimes, Timehist, TimehistOptions, TimehistRow};
pub use trace::SchedTrace;
pub use wait_group::{Amount, StateTimes, WaitGroup, WaitGroupKey};
pub(crate) use wait_group::{entry, sorted};
pub use wait_report::{WaitGrouping, WaitOptions, WaitReport};
pub(crate) use wait_stacks::{NO_STACK, StackTexts, WaitStacks};

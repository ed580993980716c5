//! Events of the scheduler.

/// What a sample of a tracepoint of the scheduler reports.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SchedSample<'r> {
    /// The time in nanoseconds of the capture's clock.
    pub time: u64,
    /// The CPU on which it happened.
    pub cpu: u32,
    /// The process id of the sample; of a switch, that of the thread that leaves, or -1 if that thread has ended.
    pub pid: i32,
    /// The thread id of the sample, likewise.
    pub tid: i32,
    /// What happened.
    pub event: SchedEvent<'r>,
}

/// An event of the scheduler.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SchedEvent<'r> {
    /// `sched:sched_switch`: a CPU switches from one thread to the next.
    Switch(SwitchEvent<'r>),
    /// `sched:sched_waking`, `sched_wakeup` or `sched_wakeup_new`: a thread can run from now on.
    Wakeup(WakeupEvent<'r>),
    /// `sched:sched_migrate_task`: a thread moves to another CPU.
    Migration(MigrationEvent),
    /// `sched:sched_stat_runtime`: a thread has run for some time.
    Runtime(RuntimeEvent),
}

/// A switch from one thread to the next.
///
/// Linux: `sched_switch`, `include/trace/events/sched.h`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SwitchEvent<'r> {
    /// The id of the thread that leaves; 0 is the idle thread of the CPU.
    pub prev_tid: i32,
    /// Its name.
    pub prev_comm: &'r [u8],
    /// Its priority; `None` if the capture does not have it.
    pub prev_prio: Option<i32>,
    /// Its state as the kernel numbers it; 0 if the capture does not have it.
    pub prev_state: i64,
    /// The id of the thread that is next.
    pub next_tid: i32,
    /// Its name.
    pub next_comm: &'r [u8],
    /// Its priority; `None` if the capture does not have it.
    pub next_prio: Option<i32>,
}

/// A thread is woken up.
///
/// Linux: `sched_wakeup_template`, `include/trace/events/sched.h`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WakeupEvent<'r> {
    /// Which of the tracepoints reports it.
    pub kind: WakeupKind,
    /// The id of the thread that is woken up.
    pub tid: i32,
    /// Its name.
    pub comm: &'r [u8],
    /// The CPU on which it should run; `None` if the capture does not have it.
    pub target_cpu: Option<u32>,
}

/// The tracepoint of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WakeupKind {
    /// `sched_waking`: always in the thread or interrupt that wakes.
    Waking,
    /// `sched_wakeup`: it may be on another CPU than the one that wakes.
    Wakeup,
    /// `sched_wakeup_new`: the first time of a new thread.
    New,
}

/// A thread moves to another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationEvent {
    /// The id of the thread.
    pub tid: i32,
    /// The CPU that it leaves.
    pub from: u32,
    /// The CPU on which it runs next.
    pub to: u32,
}

/// A thread has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeEvent {
    /// The id of the thread.
    pub tid: i32,
    /// The nanoseconds for which it ran.
    pub nanoseconds: u64,
}

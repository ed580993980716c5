//! Scheduler statistics: the payloads of SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN records.
//!
//! The numbers are those of `/proc/schedstat`, in the version that file announced.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U16, U32, U64};

/// Scheduler statistics of a cpu; [`SchedstatCpuCounts`] follows.
///
/// perf: `PERF_RECORD_SCHEDSTAT_CPU`; since perf 7.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_cpu")]
pub struct SchedstatCpu<O: Endian> {
    /// When they were read, in jiffies.
    pub timestamp: U64<O>,
    /// Cpu.
    pub cpu: U32<O>,
    /// Version of the statistics: 15 to 17.
    pub version: U16<O>,
    /// Zero.
    pub pad: [u8; 2],
}

/// The statistics of a cpu, the same in versions 15, 16 and 17.
///
/// perf: `struct perf_record_schedstat_cpu_v15` and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias(
    "perf_record_schedstat_cpu_v15",
    "perf_record_schedstat_cpu_v16",
    "perf_record_schedstat_cpu_v17"
))]
pub struct SchedstatCpuCounts<O: Endian> {
    /// Calls of `sched_yield`.
    pub yld_count: U32<O>,
    /// Zero: a count of an older scheduler.
    pub array_exp: U32<O>,
    /// Calls of `schedule`.
    pub sched_count: U32<O>,
    /// Calls of `schedule` that left the cpu idle.
    pub sched_goidle: U32<O>,
    /// Wakeups.
    pub ttwu_count: U32<O>,
    /// Wakeups by the same cpu.
    pub ttwu_local: U32<O>,
    /// Nanoseconds that tasks ran.
    pub rq_cpu_time: U64<O>,
    /// Nanoseconds that tasks waited to run.
    pub run_delay: U64<O>,
    /// Time slices run.
    pub pcount: U64<O>,
}

/// Scheduler statistics of a domain; [`SchedstatDomainV15`], [`SchedstatDomainV16`] or [`SchedstatDomainV17`] follows.
///
/// perf: `PERF_RECORD_SCHEDSTAT_DOMAIN`; since perf 7.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain")]
pub struct SchedstatDomain<O: Endian> {
    /// When they were read, in jiffies.
    pub timestamp: U64<O>,
    /// Cpu.
    pub cpu: U32<O>,
    /// Version of the statistics: 15 to 17.
    pub version: U16<O>,
    /// Number of the domain, from the innermost.
    pub domain: U16<O>,
}

/// The statistics of a domain, version 15. The idle cpu comes first.
///
/// perf: `struct perf_record_schedstat_domain_v15`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v15")]
pub struct SchedstatDomainV15<O: Endian> {
    /// Balancings, when idle.
    pub idle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when idle.
    pub idle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when idle.
    pub idle_lb_failed: U32<O>,
    /// Imbalance found, when idle.
    pub idle_lb_imbalance: U32<O>,
    /// Tasks moved here, when idle.
    pub idle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when idle.
    pub idle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when idle.
    pub idle_lb_nobusyg: U32<O>,
    /// Balancings, when busy.
    pub busy_lb_count: U32<O>,
    /// Balancings that found no imbalance, when busy.
    pub busy_lb_balanced: U32<O>,
    /// Balancings that moved no task, when busy.
    pub busy_lb_failed: U32<O>,
    /// Imbalance found, when busy.
    pub busy_lb_imbalance: U32<O>,
    /// Tasks moved here, when busy.
    pub busy_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when busy.
    pub busy_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when busy.
    pub busy_lb_nobusyg: U32<O>,
    /// Balancings, when about to be idle.
    pub newidle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when about to be idle.
    pub newidle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when about to be idle.
    pub newidle_lb_failed: U32<O>,
    /// Imbalance found, when about to be idle.
    pub newidle_lb_imbalance: U32<O>,
    /// Tasks moved here, when about to be idle.
    pub newidle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when about to be idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when about to be idle.
    pub newidle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when about to be idle.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active balancings.
    pub alb_count: U32<O>,
    /// Active balancings that moved no task.
    pub alb_failed: U32<O>,
    /// Active balancings that moved a task.
    pub alb_pushed: U32<O>,
    /// Balancings at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Balancings at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Balancings at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Balancings at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Balancings at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Balancings at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another cpu of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task here because its data is here.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task here to balance.
    pub ttwu_move_balance: U32<O>,
}

/// The statistics of a domain, version 16. The busy cpu comes first.
///
/// perf: `struct perf_record_schedstat_domain_v16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v16")]
pub struct SchedstatDomainV16<O: Endian> {
    /// Balancings, when busy.
    pub busy_lb_count: U32<O>,
    /// Balancings that found no imbalance, when busy.
    pub busy_lb_balanced: U32<O>,
    /// Balancings that moved no task, when busy.
    pub busy_lb_failed: U32<O>,
    /// Imbalance found, when busy.
    pub busy_lb_imbalance: U32<O>,
    /// Tasks moved here, when busy.
    pub busy_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when busy.
    pub busy_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when busy.
    pub busy_lb_nobusyg: U32<O>,
    /// Balancings, when idle.
    pub idle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when idle.
    pub idle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when idle.
    pub idle_lb_failed: U32<O>,
    /// Imbalance found, when idle.
    pub idle_lb_imbalance: U32<O>,
    /// Tasks moved here, when idle.
    pub idle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when idle.
    pub idle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when idle.
    pub idle_lb_nobusyg: U32<O>,
    /// Balancings, when about to be idle.
    pub newidle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when about to be idle.
    pub newidle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when about to be idle.
    pub newidle_lb_failed: U32<O>,
    /// Imbalance found, when about to be idle.
    pub newidle_lb_imbalance: U32<O>,
    /// Tasks moved here, when about to be idle.
    pub newidle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when about to be idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when about to be idle.
    pub newidle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when about to be idle.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active balancings.
    pub alb_count: U32<O>,
    /// Active balancings that moved no task.
    pub alb_failed: U32<O>,
    /// Active balancings that moved a task.
    pub alb_pushed: U32<O>,
    /// Balancings at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Balancings at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Balancings at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Balancings at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Balancings at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Balancings at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another cpu of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task here because its data is here.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task here to balance.
    pub ttwu_move_balance: U32<O>,
}

/// The statistics of a domain, version 17. Imbalance is four numbers.
///
/// perf: `struct perf_record_schedstat_domain_v17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v17")]
pub struct SchedstatDomainV17<O: Endian> {
    /// Balancings, when busy.
    pub busy_lb_count: U32<O>,
    /// Balancings that found no imbalance, when busy.
    pub busy_lb_balanced: U32<O>,
    /// Balancings that moved no task, when busy.
    pub busy_lb_failed: U32<O>,
    /// Imbalance of load found, when busy.
    pub busy_lb_imbalance_load: U32<O>,
    /// Imbalance of utilisation found, when busy.
    pub busy_lb_imbalance_util: U32<O>,
    /// Imbalance of tasks found, when busy.
    pub busy_lb_imbalance_task: U32<O>,
    /// Imbalance of misfit tasks found, when busy.
    pub busy_lb_imbalance_misfit: U32<O>,
    /// Tasks moved here, when busy.
    pub busy_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when busy.
    pub busy_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when busy.
    pub busy_lb_nobusyg: U32<O>,
    /// Balancings, when idle.
    pub idle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when idle.
    pub idle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when idle.
    pub idle_lb_failed: U32<O>,
    /// Imbalance of load found, when idle.
    pub idle_lb_imbalance_load: U32<O>,
    /// Imbalance of utilisation found, when idle.
    pub idle_lb_imbalance_util: U32<O>,
    /// Imbalance of tasks found, when idle.
    pub idle_lb_imbalance_task: U32<O>,
    /// Imbalance of misfit tasks found, when idle.
    pub idle_lb_imbalance_misfit: U32<O>,
    /// Tasks moved here, when idle.
    pub idle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when idle.
    pub idle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when idle.
    pub idle_lb_nobusyg: U32<O>,
    /// Balancings, when about to be idle.
    pub newidle_lb_count: U32<O>,
    /// Balancings that found no imbalance, when about to be idle.
    pub newidle_lb_balanced: U32<O>,
    /// Balancings that moved no task, when about to be idle.
    pub newidle_lb_failed: U32<O>,
    /// Imbalance of load found, when about to be idle.
    pub newidle_lb_imbalance_load: U32<O>,
    /// Imbalance of utilisation found, when about to be idle.
    pub newidle_lb_imbalance_util: U32<O>,
    /// Imbalance of tasks found, when about to be idle.
    pub newidle_lb_imbalance_task: U32<O>,
    /// Imbalance of misfit tasks found, when about to be idle.
    pub newidle_lb_imbalance_misfit: U32<O>,
    /// Tasks moved here, when about to be idle.
    pub newidle_lb_gained: U32<O>,
    /// Tasks moved here though hot in the cache, when about to be idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Balancings that found no busier queue, when about to be idle.
    pub newidle_lb_nobusyq: U32<O>,
    /// Balancings that found no busier group, when about to be idle.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active balancings.
    pub alb_count: U32<O>,
    /// Active balancings that moved no task.
    pub alb_failed: U32<O>,
    /// Active balancings that moved a task.
    pub alb_pushed: U32<O>,
    /// Balancings at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Balancings at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Balancings at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Balancings at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Balancings at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Balancings at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another cpu of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task here because its data is here.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task here to balance.
    pub ttwu_move_balance: U32<O>,
}

//! Scheduler statistics: the payloads of SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN records.
//!
//! The numbers are those of `/proc/schedstat`, in the version that the record states. "While idle", "while busy" and
//! "on becoming idle" describe the CPU at the time of load balancing.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U16, U32, U64};

/// Scheduler statistics of a CPU; [`SchedstatCpuCounts`] follows.
///
/// perf: `PERF_RECORD_SCHEDSTAT_CPU`; since perf 7.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_cpu")]
pub struct RawSchedstatCpu<O: Endian> {
    /// Time of reading the statistics, in jiffies.
    pub timestamp: U64<O>,
    /// CPU number.
    pub cpu: U32<O>,
    /// Version of the statistics: 15 to 17.
    pub version: U16<O>,
    /// Zero.
    pub pad: [u8; 2],
}

/// The statistics of a CPU, the same in versions 15, 16 and 17.
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
    /// Zero; older schedulers counted here.
    pub array_exp: U32<O>,
    /// Calls of `schedule`.
    pub sched_count: U32<O>,
    /// Calls of `schedule` that left the CPU idle.
    pub sched_goidle: U32<O>,
    /// Wakeups.
    pub ttwu_count: U32<O>,
    /// Wakeups of a task on the CPU that woke it.
    pub ttwu_local: U32<O>,
    /// Nanoseconds during which tasks ran.
    pub rq_cpu_time: U64<O>,
    /// Nanoseconds during which tasks waited to run.
    pub run_delay: U64<O>,
    /// Number of time slices run.
    pub pcount: U64<O>,
}

/// Scheduler statistics of a domain; [`SchedstatDomainV15`], [`SchedstatDomainV16`] or
/// [`SchedstatDomainV17`] follows.
///
/// perf: `PERF_RECORD_SCHEDSTAT_DOMAIN`; since perf 7.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain")]
pub struct RawSchedstatDomain<O: Endian> {
    /// Time of reading the statistics, in jiffies.
    pub timestamp: U64<O>,
    /// CPU number.
    pub cpu: U32<O>,
    /// Version of the statistics: 15 to 17.
    pub version: U16<O>,
    /// Number of the domain, counted from the innermost.
    pub domain: U16<O>,
}

/// The statistics of a domain, version 15. The counts while idle are first.
///
/// perf: `struct perf_record_schedstat_domain_v15`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v15")]
pub struct SchedstatDomainV15<O: Endian> {
    /// Load balancing runs while idle.
    pub idle_lb_count: U32<O>,
    /// Load balancing runs while idle that found no imbalance.
    pub idle_lb_balanced: U32<O>,
    /// Load balancing runs while idle that moved no task.
    pub idle_lb_failed: U32<O>,
    /// Sum of the imbalances found while idle.
    pub idle_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU while idle.
    pub idle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Load balancing runs while idle that found no busier queue.
    pub idle_lb_nobusyq: U32<O>,
    /// Load balancing runs while idle that found no busier group.
    pub idle_lb_nobusyg: U32<O>,
    /// Load balancing runs while busy.
    pub busy_lb_count: U32<O>,
    /// Load balancing runs while busy that found no imbalance.
    pub busy_lb_balanced: U32<O>,
    /// Load balancing runs while busy that moved no task.
    pub busy_lb_failed: U32<O>,
    /// Sum of the imbalances found while busy.
    pub busy_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU while busy.
    pub busy_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Load balancing runs while busy that found no busier queue.
    pub busy_lb_nobusyq: U32<O>,
    /// Load balancing runs while busy that found no busier group.
    pub busy_lb_nobusyg: U32<O>,
    /// Load balancing runs on becoming idle.
    pub newidle_lb_count: U32<O>,
    /// Load balancing runs on becoming idle that found no imbalance.
    pub newidle_lb_balanced: U32<O>,
    /// Load balancing runs on becoming idle that moved no task.
    pub newidle_lb_failed: U32<O>,
    /// Sum of the imbalances found on becoming idle.
    pub newidle_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU on becoming idle.
    pub newidle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU on becoming idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Load balancing runs on becoming idle that found no busier queue.
    pub newidle_lb_nobusyq: U32<O>,
    /// Load balancing runs on becoming idle that found no busier group.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active load balancing runs.
    pub alb_count: U32<O>,
    /// Active load balancing runs that moved no task.
    pub alb_failed: U32<O>,
    /// Active load balancing runs that moved a task.
    pub alb_pushed: U32<O>,
    /// Load balancing runs at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Load balancing runs at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Load balancing runs at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Load balancing runs at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Load balancing runs at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Load balancing runs at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another CPU of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task to the waking CPU because it was cache-cold on its own CPU.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task to the waking CPU to balance load.
    pub ttwu_move_balance: U32<O>,
}

/// The statistics of a domain, version 16. The counts while busy are first.
///
/// perf: `struct perf_record_schedstat_domain_v16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v16")]
pub struct SchedstatDomainV16<O: Endian> {
    /// Load balancing runs while busy.
    pub busy_lb_count: U32<O>,
    /// Load balancing runs while busy that found no imbalance.
    pub busy_lb_balanced: U32<O>,
    /// Load balancing runs while busy that moved no task.
    pub busy_lb_failed: U32<O>,
    /// Sum of the imbalances found while busy.
    pub busy_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU while busy.
    pub busy_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Load balancing runs while busy that found no busier queue.
    pub busy_lb_nobusyq: U32<O>,
    /// Load balancing runs while busy that found no busier group.
    pub busy_lb_nobusyg: U32<O>,
    /// Load balancing runs while idle.
    pub idle_lb_count: U32<O>,
    /// Load balancing runs while idle that found no imbalance.
    pub idle_lb_balanced: U32<O>,
    /// Load balancing runs while idle that moved no task.
    pub idle_lb_failed: U32<O>,
    /// Sum of the imbalances found while idle.
    pub idle_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU while idle.
    pub idle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Load balancing runs while idle that found no busier queue.
    pub idle_lb_nobusyq: U32<O>,
    /// Load balancing runs while idle that found no busier group.
    pub idle_lb_nobusyg: U32<O>,
    /// Load balancing runs on becoming idle.
    pub newidle_lb_count: U32<O>,
    /// Load balancing runs on becoming idle that found no imbalance.
    pub newidle_lb_balanced: U32<O>,
    /// Load balancing runs on becoming idle that moved no task.
    pub newidle_lb_failed: U32<O>,
    /// Sum of the imbalances found on becoming idle.
    pub newidle_lb_imbalance: U32<O>,
    /// Tasks moved to this CPU on becoming idle.
    pub newidle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU on becoming idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Load balancing runs on becoming idle that found no busier queue.
    pub newidle_lb_nobusyq: U32<O>,
    /// Load balancing runs on becoming idle that found no busier group.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active load balancing runs.
    pub alb_count: U32<O>,
    /// Active load balancing runs that moved no task.
    pub alb_failed: U32<O>,
    /// Active load balancing runs that moved a task.
    pub alb_pushed: U32<O>,
    /// Load balancing runs at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Load balancing runs at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Load balancing runs at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Load balancing runs at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Load balancing runs at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Load balancing runs at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another CPU of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task to the waking CPU because it was cache-cold on its own CPU.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task to the waking CPU to balance load.
    pub ttwu_move_balance: U32<O>,
}

/// The statistics of a domain, version 17. The imbalance consists of four numbers.
///
/// perf: `struct perf_record_schedstat_domain_v17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_record_schedstat_domain_v17")]
pub struct SchedstatDomainV17<O: Endian> {
    /// Load balancing runs while busy.
    pub busy_lb_count: U32<O>,
    /// Load balancing runs while busy that found no imbalance.
    pub busy_lb_balanced: U32<O>,
    /// Load balancing runs while busy that moved no task.
    pub busy_lb_failed: U32<O>,
    /// Sum of the load imbalances found while busy.
    pub busy_lb_imbalance_load: U32<O>,
    /// Sum of the utilisation imbalances found while busy.
    pub busy_lb_imbalance_util: U32<O>,
    /// Sum of the imbalances in the number of tasks found while busy.
    pub busy_lb_imbalance_task: U32<O>,
    /// Sum of the imbalances due to misfit tasks found while busy.
    pub busy_lb_imbalance_misfit: U32<O>,
    /// Tasks moved to this CPU while busy.
    pub busy_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while busy.
    pub busy_lb_hot_gained: U32<O>,
    /// Load balancing runs while busy that found no busier queue.
    pub busy_lb_nobusyq: U32<O>,
    /// Load balancing runs while busy that found no busier group.
    pub busy_lb_nobusyg: U32<O>,
    /// Load balancing runs while idle.
    pub idle_lb_count: U32<O>,
    /// Load balancing runs while idle that found no imbalance.
    pub idle_lb_balanced: U32<O>,
    /// Load balancing runs while idle that moved no task.
    pub idle_lb_failed: U32<O>,
    /// Sum of the load imbalances found while idle.
    pub idle_lb_imbalance_load: U32<O>,
    /// Sum of the utilisation imbalances found while idle.
    pub idle_lb_imbalance_util: U32<O>,
    /// Sum of the imbalances in the number of tasks found while idle.
    pub idle_lb_imbalance_task: U32<O>,
    /// Sum of the imbalances due to misfit tasks found while idle.
    pub idle_lb_imbalance_misfit: U32<O>,
    /// Tasks moved to this CPU while idle.
    pub idle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU while idle.
    pub idle_lb_hot_gained: U32<O>,
    /// Load balancing runs while idle that found no busier queue.
    pub idle_lb_nobusyq: U32<O>,
    /// Load balancing runs while idle that found no busier group.
    pub idle_lb_nobusyg: U32<O>,
    /// Load balancing runs on becoming idle.
    pub newidle_lb_count: U32<O>,
    /// Load balancing runs on becoming idle that found no imbalance.
    pub newidle_lb_balanced: U32<O>,
    /// Load balancing runs on becoming idle that moved no task.
    pub newidle_lb_failed: U32<O>,
    /// Sum of the load imbalances found on becoming idle.
    pub newidle_lb_imbalance_load: U32<O>,
    /// Sum of the utilisation imbalances found on becoming idle.
    pub newidle_lb_imbalance_util: U32<O>,
    /// Sum of the imbalances in the number of tasks found on becoming idle.
    pub newidle_lb_imbalance_task: U32<O>,
    /// Sum of the imbalances due to misfit tasks found on becoming idle.
    pub newidle_lb_imbalance_misfit: U32<O>,
    /// Tasks moved to this CPU on becoming idle.
    pub newidle_lb_gained: U32<O>,
    /// Cache-hot tasks moved to this CPU on becoming idle.
    pub newidle_lb_hot_gained: U32<O>,
    /// Load balancing runs on becoming idle that found no busier queue.
    pub newidle_lb_nobusyq: U32<O>,
    /// Load balancing runs on becoming idle that found no busier group.
    pub newidle_lb_nobusyg: U32<O>,
    /// Active load balancing runs.
    pub alb_count: U32<O>,
    /// Active load balancing runs that moved no task.
    pub alb_failed: U32<O>,
    /// Active load balancing runs that moved a task.
    pub alb_pushed: U32<O>,
    /// Load balancing runs at exec; not counted as of 7.3.
    pub sbe_count: U32<O>,
    /// Load balancing runs at exec that found no imbalance; not counted as of 7.3.
    pub sbe_balanced: U32<O>,
    /// Load balancing runs at exec that moved the task; not counted as of 7.3.
    pub sbe_pushed: U32<O>,
    /// Load balancing runs at fork; not counted as of 7.3.
    pub sbf_count: U32<O>,
    /// Load balancing runs at fork that found no imbalance; not counted as of 7.3.
    pub sbf_balanced: U32<O>,
    /// Load balancing runs at fork that moved the task; not counted as of 7.3.
    pub sbf_pushed: U32<O>,
    /// Wakeups of a task that last ran on another CPU of the domain.
    pub ttwu_wake_remote: U32<O>,
    /// Wakeups that moved the task to the waking CPU because it was cache-cold on its own CPU.
    pub ttwu_move_affine: U32<O>,
    /// Wakeups that moved the task to the waking CPU to balance load.
    pub ttwu_move_balance: U32<O>,
}

//! Aggregation of counts: of everything, by cpu, by thread, or by part of the machine.

use alloc::collections::BTreeMap;

use super::domain::CpuDomain;

/// How the counts of all targets are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "events are opened on cpus and on threads")]
pub enum Aggregation {
    /// All counts are one sum.
    #[default]
    Total,
    /// A count for each cpu. Needs [`Targets::Cpus`](crate::Targets::Cpus).
    Cpu,
    /// A count for each thread. Needs [`Targets::Threads`](crate::Targets::Threads).
    Thread,
    /// A sum for each part of the machine. Needs [`Targets::Cpus`](crate::Targets::Cpus).
    Domain(CpuDomain),
}

/// One of the sums of an [`Aggregation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "one for each aggregation")]
pub enum Aggregate {
    /// The sum of all counts. Also of an event that is not counted by cpu or thread, such as the time.
    Total,
    /// The count of a cpu.
    Cpu(u32),
    /// The count of a thread.
    Thread(u32),
    /// The sum of a part of the machine. Parts are numbered from 0, in the order of their first cpus.
    Domain(usize),
}

/// The name of an aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AggregateLabel {
    /// The aggregation that the aggregate belongs to.
    pub aggregation: Aggregation,
    /// The name as perf spells it: `CPU3`, `bash-4321`, `S0-D0-C1`.
    pub text: String,
    /// The number of cpus that are added up; `None` for a cpu or a thread.
    pub cpus: Option<usize>,
}

/// The labels of all aggregates. The total has none.
pub type AggregateLabels = BTreeMap<Aggregate, AggregateLabel>;

impl Aggregation {
    /// Returns the name as perf's JSON has it: `cpu`, `thread`, `socket`, ...; `total` for one sum.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Cpu => "cpu",
            Self::Thread => "thread",
            Self::Domain(domain) => domain.name(),
        }
    }

    /// Returns the code in captures; `None` for parts that perf up to 6.4 has no code for.
    ///
    /// perf: `enum aggr_mode`, `tools/perf/util/stat.h`. Newer ones have parts between dies and cores, so that the codes
    /// from [`CpuDomain::Core`] on are higher there; a capture does not say which ones it has.
    pub(crate) const fn code(self) -> Option<u64> {
        match self {
            Self::Cpu => Some(0),
            Self::Total => Some(1),
            Self::Domain(CpuDomain::Socket) => Some(2),
            Self::Domain(CpuDomain::Die) => Some(3),
            Self::Domain(CpuDomain::Core) => Some(4),
            Self::Thread => Some(5),
            Self::Domain(CpuDomain::Node) => Some(7),
            Self::Domain(CpuDomain::Cluster | CpuDomain::Cache(_)) => None,
        }
    }

    /// Returns whether counts are added up by core.
    pub(crate) const fn is_by_core(self) -> bool {
        matches!(self, Self::Domain(CpuDomain::Core))
    }
}

impl AggregateLabel {
    /// Returns the label of a cpu.
    #[must_use]
    pub fn cpu(cpu: u32) -> Self {
        Self { aggregation: Aggregation::Cpu, text: format!("CPU{cpu}"), cpus: None }
    }

    /// Returns the label of a thread with this name.
    #[must_use]
    pub fn thread(tid: impl core::fmt::Display, comm: &str) -> Self {
        Self { aggregation: Aggregation::Thread, text: format!("{comm}-{tid}"), cpus: None }
    }

    /// Returns the label of a part of the machine with this many cpus.
    #[must_use]
    pub const fn domain(domain: CpuDomain, text: String, cpus: usize) -> Self {
        Self { aggregation: Aggregation::Domain(domain), text, cpus: Some(cpus) }
    }
}

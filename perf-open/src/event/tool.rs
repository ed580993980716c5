//! Events that a tool measures itself.

use perf_abi::event::SwId;

use super::EventSpec;

/// A quantity that event strings have names for and that the kernel does not count: the tool measures it.
///
/// perf 6.1 has the first three: `enum perf_tool_event`, `tools/perf/util/evsel.h`; perf 7 has all of them: `enum
/// tool_pmu_event`, `tools/perf/util/tool_pmu.h`. perf's `slots`, of arm64 alone, is missing: on x86 it is an event of the PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolEvent {
    /// `duration_time`: the time for which was counted, in nanoseconds.
    DurationTime,
    /// `user_time`: the time in user space, in nanoseconds.
    UserTime,
    /// `system_time`: the time in the kernel, in nanoseconds.
    SystemTime,
    /// `has_pmem`: 1 if the machine has persistent memory, otherwise 0.
    HasPmem,
    /// `num_cores`: the number of cores; a core has one or more CPUs.
    NumCores,
    /// `num_cpus`: the number of CPUs that are present.
    NumCpus,
    /// `num_cpus_online`: the number of CPUs that are online.
    NumCpusOnline,
    /// `num_dies`: the number of dies; a die has one or more cores.
    NumDies,
    /// `num_packages`: the number of packages (sockets); a package has one or more dies.
    NumPackages,
    /// `smt_on`: 1 if a core runs several threads at once (SMT), otherwise 0.
    SmtOn,
    /// `system_tsc_freq`: the number by which an x86 CPU's time stamp counter increases in a second.
    SystemTscFreq,
    /// `core_wide`: 1 if each core is counted on all of its CPUs, otherwise 0.
    CoreWide,
    /// `target_cpu`: 1 if CPUs are counted, 0 if threads are.
    TargetCpu,
}

impl ToolEvent {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::DurationTime,
        Self::UserTime,
        Self::SystemTime,
        Self::HasPmem,
        Self::NumCores,
        Self::NumCpus,
        Self::NumCpusOnline,
        Self::NumDies,
        Self::NumPackages,
        Self::SmtOn,
        Self::SystemTscFreq,
        Self::CoreWide,
        Self::TargetCpu,
    ];

    /// Returns the name in event strings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DurationTime => "duration_time",
            Self::UserTime => "user_time",
            Self::SystemTime => "system_time",
            Self::HasPmem => "has_pmem",
            Self::NumCores => "num_cores",
            Self::NumCpus => "num_cpus",
            Self::NumCpusOnline => "num_cpus_online",
            Self::NumDies => "num_dies",
            Self::NumPackages => "num_packages",
            Self::SmtOn => "smt_on",
            Self::SystemTscFreq => "system_tsc_freq",
            Self::CoreWide => "core_wide",
            Self::TargetCpu => "target_cpu",
        }
    }

    /// Returns what it is, in a few words.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::DurationTime => "the time for which was counted, in nanoseconds",
            Self::UserTime => "the time in user space, in nanoseconds",
            Self::SystemTime => "the time in the kernel, in nanoseconds",
            Self::HasPmem => "1 if the machine has persistent memory, otherwise 0",
            Self::NumCores => "the number of cores; a core has one or more CPUs",
            Self::NumCpus => "the number of CPUs that are present",
            Self::NumCpusOnline => "the number of CPUs that are online",
            Self::NumDies => "the number of dies; a die has one or more cores",
            Self::NumPackages => "the number of packages (sockets); a package has one or more dies",
            Self::SmtOn => "1 if a core runs several threads at once (SMT), otherwise 0",
            Self::SystemTscFreq => {
                "the number by which an x86 CPU's time stamp counter increases in a second"
            }
            Self::CoreWide => "1 if each core is counted on all of its CPUs, otherwise 0",
            Self::TargetCpu => "1 if CPUs are counted, 0 if threads are",
        }
    }

    /// Returns whether it is a time in nanoseconds. The others are properties of the machine and of the targets, which do not
    /// change while the tool counts.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Self::DurationTime | Self::UserTime | Self::SystemTime)
    }

    /// Returns the tool's event of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

impl EventSpec {
    /// Returns an event that the caller must measure. Its attr is that of the software event `dummy`, which counts
    /// nothing.
    #[must_use]
    pub fn tool(tool: ToolEvent) -> Self {
        Self { tool: Some(tool), ..Self::software(SwId::DUMMY).with_name(tool.name()) }
    }
}

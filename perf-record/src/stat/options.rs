//! The options of a count.

use core::time::Duration;

use super::aggregation::Aggregation;
use super::named_metric::NamedMetric;

/// The options of a count: what is counted in addition to the given events, and how.
///
/// Fields may be added: end a literal with `..StatOptions::default()`. The default is that of `perf stat`.
///
/// # Examples
///
/// ```
/// use perf_record::stat::{Aggregation, StatOptions};
///
/// let options = StatOptions { aggregation: Aggregation::Cpu, ..StatOptions::default() };
/// assert!(options.inherit && options.scale);
/// ```
#[derive(Clone, Debug)]
pub struct StatOptions {
    /// How the counts of all targets are added up.
    pub aggregation: Aggregation,
    /// The cpus on which [threads](crate::Targets::Threads) are counted; `None` for all.
    pub cpus: Option<Vec<u32>>,
    /// The cgroups whose tasks alone are counted, with [cpus](crate::Targets::Cpus) as targets.
    pub cgroups: StatCgroups,
    /// Whether tasks that the counted tasks start are counted too.
    pub inherit: bool,
    /// Whether the events wait for [`enable`](super::StatRun::enable), even if a command is counted. Otherwise the events of
    /// a command start at its exec, and others at [`start`](super::StatRun::start).
    pub delayed: bool,
    /// Whether nothing is counted but the time. Without it, and without events, metrics and top-down, the events are the
    /// defaults of `perf stat`.
    pub null: bool,
    /// The number of lists of cache events, up to three, that are counted too: of L1 and the last level, of instructions and
    /// TLBs, of prefetches. perf: `-d`, `-dd`, `-ddd`.
    pub detailed: u8,
    /// The metrics that are computed, for which the events that they need are counted. Other events then have none.
    pub metrics: Vec<NamedMetric>,
    /// Whether the issue slots of the pipeline are counted by their use, on Intel's cpus (the top-down method).
    pub topdown: bool,
    /// The highest level of the top-down method, 1 or 2; `None` for all that the cpu counts.
    pub topdown_level: Option<u32>,
    /// Whether all events are one group.
    pub one_group: bool,
    /// Whether user space alone is counted.
    pub all_user: bool,
    /// Whether the kernel alone is counted.
    pub all_kernel: bool,
    /// Whether the counts of an event that several PMUs have are added up. The kinds of cpus of a machine are not.
    pub merge_pmus: bool,
    /// Whether counts are extrapolated to the time for which an event was enabled but had no counter.
    pub scale: bool,
    /// The time between two readouts; `None` for one at the end.
    pub interval: Option<Duration>,
    /// The time after which counting ends; `None` for as long as the targets run.
    pub timeout: Option<Duration>,
    // `#[non_exhaustive]` would also forbid `..StatOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

/// The cgroups whose tasks are counted, by their paths below the hierarchy of perf events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatCgroups {
    /// All tasks are counted.
    #[default]
    All,
    /// One cgroup for all events, or one for each event. An empty path counts all tasks.
    PerEvent(Vec<String>),
    /// All events are counted for each of these cgroups.
    ForEach(Vec<String>),
}

impl Default for StatOptions {
    fn default() -> Self {
        Self {
            aggregation: Aggregation::Total,
            cpus: None,
            cgroups: StatCgroups::All,
            inherit: true,
            delayed: false,
            null: false,
            detailed: 0,
            metrics: Vec::new(),
            topdown: false,
            topdown_level: None,
            one_group: false,
            all_user: false,
            all_kernel: false,
            merge_pmus: true,
            scale: true,
            interval: None,
            timeout: None,
            non_exhaustive: (),
        }
    }
}

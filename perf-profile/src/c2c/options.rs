//! What lines and rows are, and what they are ordered by.

use core::num::NonZero;
use core::str::FromStr;

use super::counts::AccessCounts;
use crate::sched::PerfVersion;

/// What tells the rows of one offset in a line from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum C2cKey {
    /// The process.
    Pid,
    /// The thread.
    Tid,
    /// The address of the instruction.
    Iaddr,
    /// The short name of the file that has the instruction.
    Dso,
}

impl C2cKey {
    /// Returns the key as perf spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Iaddr => "iaddr",
            Self::Dso => "dso",
        }
    }
}

impl FromStr for C2cKey {
    type Err = String;

    /// Reads a key as perf spells it.
    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Pid, Self::Tid, Self::Iaddr, Self::Dso];
        let found = all.into_iter().find(|key| key.name() == text);
        found.ok_or_else(|| format!("{text}: no such key; use pid, tid, iaddr or dso"))
    }
}

/// What lines and rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum C2cSort {
    /// Loads of lines that any other cache had modified.
    #[default]
    Total,
    /// Loads of lines that another cache of the node had modified.
    Local,
    /// Loads of lines that a cache of another node had modified.
    Remote,
    /// Loads of lines that another cache transferred.
    Peer,
}

impl C2cSort {
    /// Returns what perf sorts by if nothing is said: of Arm's machines, which do not tell that a line was modified, what others
    /// transferred.
    #[must_use]
    pub fn default_of(arch: &[u8]) -> Self {
        if arch == b"aarch64" || arch == b"arm64" { Self::Peer } else { Self::Total }
    }

    /// Returns the number that is compared.
    #[must_use]
    pub fn of(self, counts: &AccessCounts) -> u64 {
        match self {
            Self::Total => counts.hitm(),
            Self::Local => counts.local_hitm,
            Self::Remote => counts.remote_hitm,
            Self::Peer => counts.peer(),
        }
    }

    /// Returns the number that is compared for rows where the first one is equal.
    pub(super) fn second(self, counts: &AccessCounts) -> u64 {
        match self {
            Self::Local => counts.remote_hitm,
            Self::Remote => counts.local_hitm,
            Self::Total | Self::Peer => 0,
        }
    }
}

/// What lines and rows are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct C2cOptions {
    /// The version of perf whose numbers are wanted.
    pub version: PerfVersion,
    /// What tells the rows of one offset from each other.
    pub keys: Vec<C2cKey>,
    /// What lines and rows are ordered by; `None` for [`C2cSort::default_of`] the capture's machine.
    pub sort: Option<C2cSort>,
    /// Whether a line is two adjacent ones, which a prefetcher may fetch together.
    pub double: bool,
    /// Whether all lines are shown, and not only those with at least a thousandth of what they are sorted by.
    pub all: bool,
    /// Whether rows have their stacks, for [`C2cReport::call_graph`](super::C2cReport::call_graph).
    pub stacks: bool,
    /// The most lines, rows of all lines together, and stacks of all rows together. What would be in other lines or rows counts in the
    /// totals alone.
    pub limit: usize,
    /// Number of threads that find names.
    pub threads: NonZero<usize>,
}

impl Default for C2cOptions {
    /// What perf 7.2 has without options.
    fn default() -> Self {
        Self {
            version: PerfVersion::V7_2,
            keys: vec![C2cKey::Iaddr],
            sort: None,
            double: false,
            all: false,
            stacks: false,
            limit: LIMIT,
            threads: NonZero::<usize>::MIN,
        }
    }
}

/// The most lines and rows by default.
const LIMIT: usize = 1 << 22;

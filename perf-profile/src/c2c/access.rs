//! The accesses of an instruction to a line of the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use perf_abi::record::CpuMode;

use super::counts::AccessCounts;
use crate::sample::SampleTotal;

/// The accesses of one kind of row to one offset in a line. The row has what its first access had, unless rows are grouped by it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct C2cAccess {
    /// The offset in the line, in bytes.
    pub offset: u64,
    /// The address of the instruction.
    pub ip: u64,
    /// Whose code it is.
    pub mode: CpuMode,
    /// The process; -1 if it was not recorded.
    pub pid: i32,
    /// The thread; -1 if it was not recorded.
    pub tid: i32,
    /// The last name of the thread.
    pub comm: Arc<[u8]>,
    /// The names and ids of all threads that made accesses of the row, by id.
    pub threads: BTreeMap<i32, Arc<[u8]>>,
    /// What the accesses were.
    pub counts: AccessCounts,
    /// The CPUs that made them.
    pub cpus: BTreeSet<u32>,
    /// What the accesses of the CPUs of each node were, by place of the node in the list of nodes.
    pub by_node: BTreeMap<usize, NodeCounts>,
    /// The nodes of the memory.
    pub memory_nodes: BTreeSet<u64>,
    /// How often the physical address was another one than that of the access before, the first one included.
    pub physical: u64,
    /// Mean time of the loads that found the line modified on another node.
    pub remote_hitm: MeanTime,
    /// Mean time of those that found it modified on the same node.
    pub local_hitm: MeanTime,
    /// Mean time of loads of a line that a cache of another node transferred.
    pub remote_peer: MeanTime,
    /// Mean time of loads of a line that another cache of the node transferred.
    pub local_peer: MeanTime,
    /// Mean time of the other loads.
    pub other_loads: MeanTime,
    /// The periods of the accesses, summed up.
    pub period: u64,
    /// The numbers of the stacks in the report's table, and what they count.
    pub(super) stacks: BTreeMap<u32, SampleTotal>,
    /// The number of the address in the report's table.
    pub(super) frame: u32,
    /// The number of the thread in its session.
    pub(super) thread_key: u64,
    /// The physical address of the last access.
    pub(super) last_physical: u64,
}

/// What the accesses of the CPUs of a node were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeCounts {
    /// Loads of a line that a cache of another node had modified.
    pub remote_hitm: u64,
    /// Loads of a line that another cache of the node had modified.
    pub local_hitm: u64,
    /// Loads of a line that another cache transferred.
    pub peer: u64,
    /// Stores.
    pub stores: u64,
}

impl NodeCounts {
    pub(super) fn add(&mut self, counts: &AccessCounts) {
        self.remote_hitm = self.remote_hitm.saturating_add(counts.remote_hitm);
        self.local_hitm = self.local_hitm.saturating_add(counts.local_hitm);
        self.peer = self.peer.saturating_add(counts.peer());
        self.stores = self.stores.saturating_add(counts.stores);
    }
}

/// A mean of times in cycles, as the machine weighs accesses.
///
/// perf: `struct stats`, `tools/perf/util/stat.h`. The steps are those of perf, so that the roundings are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanTime {
    count: u64,
    mean: f64,
}

impl MeanTime {
    pub(super) fn add(&mut self, weight: u64) {
        self.count += 1;
        self.mean += (weight as f64 - self.mean) / self.count as f64;
    }

    /// Returns the number of accesses.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; 0 without accesses.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }
}

impl C2cAccess {
    /// Counts the time of an access by the first of its kinds.
    ///
    /// perf: `compute_stats`, `tools/perf/builtin-c2c.c`.
    pub(super) fn add_time(&mut self, counts: &AccessCounts, weight: u64) {
        let mean = match () {
            () if counts.remote_hitm > 0 => &mut self.remote_hitm,
            () if counts.local_hitm > 0 => &mut self.local_hitm,
            () if counts.remote_peer > 0 => &mut self.remote_peer,
            () if counts.local_peer > 0 => &mut self.local_peer,
            () if counts.loads > 0 => &mut self.other_loads,
            () => return,
        };
        mean.add(weight);
    }
}

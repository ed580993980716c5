//! `NUMA_TOPOLOGY`: the NUMA nodes.

use super::codec::entry;
use crate::byte_str::ByteStr;

entry! {
    /// A NUMA node, its memory and CPUs.
    ///
    /// perf: `write_numa_topology`, `tools/perf/util/header.c`.
    pub struct NumaNode<'a> {
        /// Number of the node.
        pub node: u32,
        /// Size of its memory in KiB.
        pub mem_total: u64,
        /// Size of its free memory in KiB.
        pub mem_free: u64,
        /// The list of its CPUs.
        pub cpus: ByteStr<'a>,
    }
}

//! `HYBRID_TOPOLOGY`: the core PMUs of a machine with several kinds of cores.

use super::codec::entry;
use crate::byte_str::ByteStr;

entry! {
    /// A core PMU of a machine with several kinds of cores.
    ///
    /// perf: `write_hybrid_topology`, `tools/perf/util/header.c`.
    pub struct HybridPmu<'a> {
        /// Name of the PMU.
        pub pmu_name: ByteStr<'a>,
        /// The list of its CPUs.
        pub cpus: ByteStr<'a>,
    }
}

//! `NRCPUS`: the number of CPUs.

use super::codec::entry;

entry! {
    /// The number of CPUs of a machine.
    ///
    /// perf: `write_nrcpus`, `tools/perf/util/header.c`.
    pub struct NrCpus {
        /// Number of CPUs that can be used.
        pub available as "nr_cpus_available": u32,
        /// Number of CPUs that are online.
        pub online as "nr_cpus_online": u32,
    }
}

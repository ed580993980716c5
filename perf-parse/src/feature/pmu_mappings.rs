//! `PMU_MAPPINGS`: the types of the PMUs.

use perf_abi::event::EventType;

use super::codec::entry;
use crate::byte_str::ByteStr;

entry! {
    /// Type and name of a PMU.
    ///
    /// perf: `write_pmu_mappings`, `tools/perf/util/header.c`.
    pub struct PmuMapping<'a> {
        /// The `type` of the PMU's events.
        pub kind as "type": EventType,
        /// Name of the PMU.
        pub name: ByteStr<'a>,
    }
}

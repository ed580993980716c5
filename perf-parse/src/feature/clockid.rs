//! `CLOCKID`: the resolution of the events' clock. `CLOCK_DATA` has the number of the clock.

use super::codec::entry;

entry! {
    /// The resolution of the events' clock.
    ///
    /// perf: `write_clockid`, `tools/perf/util/header.c`.
    pub struct ClockId {
        /// The resolution in nanoseconds.
        pub resolution_ns: u64,
    }
}

//! `SAMPLE_TIME`: the time span of the samples.

use super::codec::entry;

entry! {
    /// The times of the first and the last sample, in nanoseconds of the events' clock. Both are zero if perf did not
    /// read the times.
    ///
    /// perf: `write_sample_time`, `tools/perf/util/header.c`.
    pub struct SampleTime {
        /// Time of the first sample.
        pub first: u64,
        /// Time of the last sample.
        pub last: u64,
    }
}

//! The values of a counter read: `perf_event_attr.read_format`.

flags! {
    /// The values that `read(2)`, `PERF_SAMPLE_READ` and `PERF_RECORD_READ` return for a counter.
    ///
    /// Kernel: `enum perf_event_read_format`, `perf_output_read`.
    pub struct ReadFormat(u64) {
        /// Nanoseconds during which the event was enabled. Since Linux 2.6.31.
        TOTAL_TIME_ENABLED = 1 << 0, "PERF_FORMAT_TOTAL_TIME_ENABLED";
        /// Nanoseconds during which the event was on a counter. Since Linux 2.6.31.
        TOTAL_TIME_RUNNING = 1 << 1, "PERF_FORMAT_TOTAL_TIME_RUNNING";
        /// Id of each event. Since Linux 2.6.31.
        ID = 1 << 2, "PERF_FORMAT_ID";
        /// All events of the group, leader first. Since Linux 2.6.31.
        GROUP = 1 << 3, "PERF_FORMAT_GROUP";
        /// Number of lost samples of each event. Since Linux 6.0; also in 5.10 stable.
        LOST = 1 << 4, "PERF_FORMAT_LOST";
    }
}

impl ReadFormat {
    /// One past the highest known bit.
    #[doc(alias = "PERF_FORMAT_MAX")]
    pub const MAX: u64 = 1 << 5;
}

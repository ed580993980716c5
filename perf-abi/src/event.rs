//! What an event counts: `perf_event_attr.type` and the `config` of the generic types.

codes! {
    /// Who defines the event: `perf_event_attr.type`. Values above 5 are PMUs, numbered by sysfs.
    ///
    /// Kernel: `enum perf_type_id`.
    pub struct EventType(u32) {
        /// A generalised hardware event, [`HwId`]. Since Linux 2.6.31.
        HARDWARE = 0, "PERF_TYPE_HARDWARE";
        /// A kernel event, [`SwId`]. Since Linux 2.6.31.
        SOFTWARE = 1, "PERF_TYPE_SOFTWARE";
        /// A tracepoint; `config` is its id in tracefs. Since Linux 2.6.31.
        TRACEPOINT = 2, "PERF_TYPE_TRACEPOINT";
        /// A cache event, [`HwCacheId`], [`HwCacheOpId`] and [`HwCacheOpResultId`] in bytes 0, 1, 2. Since Linux 2.6.31.
        HW_CACHE = 3, "PERF_TYPE_HW_CACHE";
        /// A raw event of the core PMU. Since Linux 2.6.31.
        RAW = 4, "PERF_TYPE_RAW";
        /// A hardware breakpoint. Since Linux 2.6.33.
        BREAKPOINT = 5, "PERF_TYPE_BREAKPOINT";
    }
}

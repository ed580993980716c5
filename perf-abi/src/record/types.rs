//! Record types, the kernel's and the perf tool's.

codes! {
    /// What a record says. Below 64 the kernel's, from 64 on the perf tool's.
    ///
    /// Kernel: `enum perf_event_type`; perf: `enum perf_user_event_type`, `tools/lib/perf/include/perf/event.h`.
    pub struct RecordType(u32) {
        /// A mapping, as [`Mmap`](super::Mmap). Since Linux 2.6.31.
        MMAP = 1, "PERF_RECORD_MMAP";
        /// Records that the ring had no room for. Since Linux 2.6.31.
        LOST = 2, "PERF_RECORD_LOST";
        /// A task took a name. Since Linux 2.6.31.
        COMM = 3, "PERF_RECORD_COMM";
        /// A task ended. Since Linux 2.6.31.
        EXIT = 4, "PERF_RECORD_EXIT";
        /// The event was throttled. Since Linux 2.6.31.
        THROTTLE = 5, "PERF_RECORD_THROTTLE";
        /// The event runs again. Since Linux 2.6.31.
        UNTHROTTLE = 6, "PERF_RECORD_UNTHROTTLE";
        /// A task began. Since Linux 2.6.31.
        FORK = 7, "PERF_RECORD_FORK";
        /// Counter values of a task that ends. Since Linux 2.6.31.
        READ = 8, "PERF_RECORD_READ";
        /// A sample. Since Linux 2.6.31.
        SAMPLE = 9, "PERF_RECORD_SAMPLE";
        /// A mapping with its inode or build id. Since Linux 3.12.
        MMAP2 = 10, "PERF_RECORD_MMAP2";
        /// New data in the AUX area. Since Linux 4.1.
        AUX = 11, "PERF_RECORD_AUX";
        /// Instruction tracing began. Since Linux 4.1.
        ITRACE_START = 12, "PERF_RECORD_ITRACE_START";
        /// Samples the hardware dropped; perf record writes it too, from lost counts. Since Linux 4.2.
        LOST_SAMPLES = 13, "PERF_RECORD_LOST_SAMPLES";
        /// A context switch, of this task. Since Linux 4.3.
        SWITCH = 14, "PERF_RECORD_SWITCH";
        /// A context switch, with the other task. Since Linux 4.3.
        SWITCH_CPU_WIDE = 15, "PERF_RECORD_SWITCH_CPU_WIDE";
        /// The namespaces of a task. Since Linux 4.12.
        NAMESPACES = 16, "PERF_RECORD_NAMESPACES";
        /// A kernel symbol came or went. Since Linux 5.1.
        KSYMBOL = 17, "PERF_RECORD_KSYMBOL";
        /// A BPF program was loaded or unloaded. Since Linux 5.1.
        BPF_EVENT = 18, "PERF_RECORD_BPF_EVENT";
        /// A cgroup and its path. Since Linux 5.7.
        CGROUP = 19, "PERF_RECORD_CGROUP";
        /// Kernel text was changed. Since Linux 5.9.
        TEXT_POKE = 20, "PERF_RECORD_TEXT_POKE";
        /// The hardware id of an event in AUX data. Since Linux 5.16.
        AUX_OUTPUT_HW_ID = 21, "PERF_RECORD_AUX_OUTPUT_HW_ID";
        /// The user part of an earlier sample's call chain. Since Linux 6.19.
        CALLCHAIN_DEFERRED = 22, "PERF_RECORD_CALLCHAIN_DEFERRED";
        /// An attr and its ids, in a pipe. The perf tool's.
        HEADER_ATTR = 64, "PERF_RECORD_HEADER_ATTR";
        /// An event's name; written by the first tools only. The perf tool's.
        HEADER_EVENT_TYPE = 65, "PERF_RECORD_HEADER_EVENT_TYPE";
        /// Tracepoint formats, behind the record. The perf tool's.
        HEADER_TRACING_DATA = 66, "PERF_RECORD_HEADER_TRACING_DATA";
        /// The build id of a file. The perf tool's.
        HEADER_BUILD_ID = 67, "PERF_RECORD_HEADER_BUILD_ID";
        /// Every ring was read once: earlier records may be sorted out. The perf tool's.
        FINISHED_ROUND = 68, "PERF_RECORD_FINISHED_ROUND";
        /// Which cpu and task an event id belongs to. The perf tool's.
        ID_INDEX = 69, "PERF_RECORD_ID_INDEX";
        /// What recorded the AUX data. The perf tool's.
        AUXTRACE_INFO = 70, "PERF_RECORD_AUXTRACE_INFO";
        /// AUX data, behind the record. The perf tool's.
        AUXTRACE = 71, "PERF_RECORD_AUXTRACE";
        /// AUX data that could not be decoded. The perf tool's.
        AUXTRACE_ERROR = 72, "PERF_RECORD_AUXTRACE_ERROR";
        /// The threads that were recorded. The perf tool's.
        THREAD_MAP = 73, "PERF_RECORD_THREAD_MAP";
        /// The cpus that were recorded. The perf tool's.
        CPU_MAP = 74, "PERF_RECORD_CPU_MAP";
        /// How perf stat was run. The perf tool's.
        STAT_CONFIG = 75, "PERF_RECORD_STAT_CONFIG";
        /// A count of perf stat. The perf tool's.
        STAT = 76, "PERF_RECORD_STAT";
        /// An interval of perf stat ended. The perf tool's.
        STAT_ROUND = 77, "PERF_RECORD_STAT_ROUND";
        /// Unit, scale, name or cpus of an event. The perf tool's.
        EVENT_UPDATE = 78, "PERF_RECORD_EVENT_UPDATE";
        /// How the cpu's time stamps become nanoseconds. The perf tool's.
        TIME_CONV = 79, "PERF_RECORD_TIME_CONV";
        /// A feature section, in a pipe. The perf tool's, since perf 4.14.
        HEADER_FEATURE = 80, "PERF_RECORD_HEADER_FEATURE";
        /// Records, compressed. The perf tool's, since perf 5.2.
        COMPRESSED = 81, "PERF_RECORD_COMPRESSED";
        /// The synthesised records end here. The perf tool's, since perf 6.0.
        FINISHED_INIT = 82, "PERF_RECORD_FINISHED_INIT";
        /// Records, compressed, their size apart from the padding. The perf tool's, since perf 6.16.
        COMPRESSED2 = 83, "PERF_RECORD_COMPRESSED2";
        /// Variables of a BPF program. The perf tool's, since perf 6.17.
        BPF_METADATA = 84, "PERF_RECORD_BPF_METADATA";
        /// Scheduler statistics of a cpu. The perf tool's, since perf 7.0.
        SCHEDSTAT_CPU = 85, "PERF_RECORD_SCHEDSTAT_CPU";
        /// Scheduler statistics of a domain. The perf tool's, since perf 7.0.
        SCHEDSTAT_DOMAIN = 86, "PERF_RECORD_SCHEDSTAT_DOMAIN";
    }
}

impl RecordType {
    /// One past the kernel's highest type.
    #[doc(alias = "PERF_RECORD_MAX")]
    pub const MAX: u32 = 23;
    /// Where the perf tool's own types begin.
    #[doc(alias = "PERF_RECORD_USER_TYPE_START")]
    pub const USER_TYPE_START: u32 = 64;
    /// One past the perf tool's highest type.
    #[doc(alias = "PERF_RECORD_HEADER_MAX")]
    pub const HEADER_MAX: u32 = 87;

    /// Whether the perf tool made up this type: such a record has no `sample_id` trailer and no event.
    #[must_use]
    pub const fn is_user(self) -> bool {
        self.0 >= Self::USER_TYPE_START
    }
}

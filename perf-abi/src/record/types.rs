//! The record types of the kernel and of the perf tool.

codes! {
    /// The type of a record. Types below 64 are the kernel's; types from 64 on are the perf tool's; types from 32768 on
    /// are those of Android's simpleperf, whose header has a [size of 32 bits](super::SimpleperfHeader).
    ///
    /// Kernel: `enum perf_event_type`; perf: `enum perf_user_event_type`,
    /// `tools/lib/perf/include/perf/event.h`; simpleperf: `enum user_record_type`, `system/extras/simpleperf/record.h`.
    pub struct RecordType(u32) {
        /// A memory mapping, [`RawMmap`](super::RawMmap). Since Linux 2.6.31.
        MMAP = 1, "PERF_RECORD_MMAP";
        /// Records were lost because the ring was full. Since Linux 2.6.31.
        LOST = 2, "PERF_RECORD_LOST";
        /// The name of a task changed. Since Linux 2.6.31.
        COMM = 3, "PERF_RECORD_COMM";
        /// A task exited. Since Linux 2.6.31.
        EXIT = 4, "PERF_RECORD_EXIT";
        /// The event was throttled. Since Linux 2.6.31.
        THROTTLE = 5, "PERF_RECORD_THROTTLE";
        /// The event is no longer throttled. Since Linux 2.6.31.
        UNTHROTTLE = 6, "PERF_RECORD_UNTHROTTLE";
        /// A task was created. Since Linux 2.6.31.
        FORK = 7, "PERF_RECORD_FORK";
        /// Counter values of a task that exits. Since Linux 2.6.31.
        READ = 8, "PERF_RECORD_READ";
        /// A sample. Since Linux 2.6.31.
        SAMPLE = 9, "PERF_RECORD_SAMPLE";
        /// A memory mapping with the inode or build id of its file. Since Linux 3.12.
        MMAP2 = 10, "PERF_RECORD_MMAP2";
        /// The AUX area has new data. Since Linux 4.1.
        AUX = 11, "PERF_RECORD_AUX";
        /// Instruction tracing started. Since Linux 4.1.
        ITRACE_START = 12, "PERF_RECORD_ITRACE_START";
        /// The hardware dropped samples. perf record also writes this record, with the lost counts of events. Since
        /// Linux 4.2.
        LOST_SAMPLES = 13, "PERF_RECORD_LOST_SAMPLES";
        /// A context switch of the task itself. Since Linux 4.3.
        SWITCH = 14, "PERF_RECORD_SWITCH";
        /// A context switch on a CPU, with the id of the other task. Since Linux 4.3.
        SWITCH_CPU_WIDE = 15, "PERF_RECORD_SWITCH_CPU_WIDE";
        /// The namespaces of a task. Since Linux 4.12.
        NAMESPACES = 16, "PERF_RECORD_NAMESPACES";
        /// A kernel symbol was registered or unregistered. Since Linux 5.1.
        KSYMBOL = 17, "PERF_RECORD_KSYMBOL";
        /// A BPF program was loaded or unloaded. Since Linux 5.1.
        BPF_EVENT = 18, "PERF_RECORD_BPF_EVENT";
        /// The path of a cgroup. Since Linux 5.7.
        CGROUP = 19, "PERF_RECORD_CGROUP";
        /// Kernel text was changed. Since Linux 5.9.
        TEXT_POKE = 20, "PERF_RECORD_TEXT_POKE";
        /// The hardware id of an event in AUX data. Since Linux 5.16.
        AUX_OUTPUT_HW_ID = 21, "PERF_RECORD_AUX_OUTPUT_HW_ID";
        /// The user part of an earlier sample's call chain. Since Linux 6.19.
        CALLCHAIN_DEFERRED = 22, "PERF_RECORD_CALLCHAIN_DEFERRED";
        /// An attr and the ids of its events, in a pipe.
        HEADER_ATTR = 64, "PERF_RECORD_HEADER_ATTR";
        /// The name of an event. Only the first tools wrote it.
        HEADER_EVENT_TYPE = 65, "PERF_RECORD_HEADER_EVENT_TYPE";
        /// Tracepoint formats, which follow the record.
        HEADER_TRACING_DATA = 66, "PERF_RECORD_HEADER_TRACING_DATA";
        /// The build id of a file.
        HEADER_BUILD_ID = 67, "PERF_RECORD_HEADER_BUILD_ID";
        /// perf read every ring once. A reader can now deliver the records of earlier rounds in time order.
        FINISHED_ROUND = 68, "PERF_RECORD_FINISHED_ROUND";
        /// The CPU and task of each event id.
        ID_INDEX = 69, "PERF_RECORD_ID_INDEX";
        /// The tracer that wrote the AUX data.
        AUXTRACE_INFO = 70, "PERF_RECORD_AUXTRACE_INFO";
        /// AUX data, which follows the record.
        AUXTRACE = 71, "PERF_RECORD_AUXTRACE";
        /// AUX data that could not be decoded.
        AUXTRACE_ERROR = 72, "PERF_RECORD_AUXTRACE_ERROR";
        /// The threads that were recorded.
        THREAD_MAP = 73, "PERF_RECORD_THREAD_MAP";
        /// The CPUs that were recorded.
        CPU_MAP = 74, "PERF_RECORD_CPU_MAP";
        /// The settings of perf stat.
        STAT_CONFIG = 75, "PERF_RECORD_STAT_CONFIG";
        /// A count of perf stat.
        STAT = 76, "PERF_RECORD_STAT";
        /// The end of a round of perf stat's counts.
        STAT_ROUND = 77, "PERF_RECORD_STAT_ROUND";
        /// Unit, scale, name or CPUs of an event.
        EVENT_UPDATE = 78, "PERF_RECORD_EVENT_UPDATE";
        /// The conversion of the CPU's time stamps to nanoseconds.
        TIME_CONV = 79, "PERF_RECORD_TIME_CONV";
        /// A feature section, in a pipe. Since perf 4.14.
        HEADER_FEATURE = 80, "PERF_RECORD_HEADER_FEATURE";
        /// Compressed records. Since perf 5.2.
        COMPRESSED = 81, "PERF_RECORD_COMPRESSED";
        /// The end of the synthesised records. Since perf 6.0.
        FINISHED_INIT = 82, "PERF_RECORD_FINISHED_INIT";
        /// Compressed records, with their size without padding. Since perf 6.16.
        COMPRESSED2 = 83, "PERF_RECORD_COMPRESSED2";
        /// Variables of a BPF program. Since perf 6.17.
        BPF_METADATA = 84, "PERF_RECORD_BPF_METADATA";
        /// Scheduler statistics of a CPU. Since perf 7.0.
        SCHEDSTAT_CPU = 85, "PERF_RECORD_SCHEDSTAT_CPU";
        /// Scheduler statistics of a domain. Since perf 7.0.
        SCHEDSTAT_DOMAIN = 86, "PERF_RECORD_SCHEDSTAT_DOMAIN";
        /// The text of `/proc/kallsyms`. simpleperf.
        KERNEL_SYMBOL = 32769, "SIMPLE_PERF_RECORD_KERNEL_SYMBOL";
        /// A file that has symbols in later SYMBOL records. The first versions of simpleperf.
        DSO = 32770, "SIMPLE_PERF_RECORD_DSO";
        /// A symbol of a DSO record. The first versions of simpleperf.
        SYMBOL = 32771, "SIMPLE_PERF_RECORD_SYMBOL";
        /// A piece of a simpleperf record that is longer than 65535 bytes.
        SPLIT = 32772, "SIMPLE_PERF_RECORD_SPLIT";
        /// The end of the pieces of a record.
        SPLIT_END = 32773, "SIMPLE_PERF_RECORD_SPLIT_END";
        /// Ids of the events, in addition to those of the attrs. simpleperf.
        EVENT_ID = 32774, "SIMPLE_PERF_RECORD_EVENT_ID";
        /// A call chain of user space that simpleperf unwound.
        CALLCHAIN = 32775, "SIMPLE_PERF_RECORD_CALLCHAIN";
        /// The result of unwinding a stack. simpleperf.
        UNWINDING_RESULT = 32776, "SIMPLE_PERF_RECORD_UNWINDING_RESULT";
        /// Formats of the tracepoints, in the record itself. simpleperf.
        TRACING_DATA = 32777, "SIMPLE_PERF_RECORD_TRACING_DATA";
        /// A message of simpleperf for its developers.
        DEBUG = 32778, "SIMPLE_PERF_RECORD_DEBUG";
    }
}

impl RecordType {
    /// One past the kernel's highest type.
    #[doc(alias = "PERF_RECORD_MAX")]
    pub const MAX: u32 = 23;
    /// The first of the perf tool's types.
    #[doc(alias = "PERF_RECORD_USER_TYPE_START")]
    pub const USER_TYPE_START: u32 = 64;
    /// One past the perf tool's highest type.
    #[doc(alias = "PERF_RECORD_HEADER_MAX")]
    pub const HEADER_MAX: u32 = 87;

    /// The first of simpleperf's types, which no record has.
    #[doc(alias = "SIMPLE_PERF_RECORD_TYPE_START")]
    pub const SIMPLEPERF_TYPE_START: u32 = 32768;

    /// Returns whether this is a type of the perf tool or of simpleperf. Such a record has no
    /// `sample_id` trailer and no event.
    #[must_use]
    pub const fn is_user(self) -> bool {
        self.0 >= Self::USER_TYPE_START
    }

    /// Returns whether this is a type of simpleperf: from 32768 to 65535. The header of such a record has a
    /// [size of 32 bits](super::SimpleperfHeader) and no `misc`.
    ///
    /// simpleperf takes all larger numbers for its own too, but has used only the first ten. A number above 65535 is of
    /// another writer, whose headers are as the kernel's.
    #[must_use]
    pub const fn is_simpleperf(self) -> bool {
        self.0 >> 15 == Self::SIMPLEPERF_TYPE_START >> 15
    }
}

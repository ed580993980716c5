//! The features of a `perf.data`: header sections that describe the machine, the tool and the events.

codes! {
    /// A feature: its bit in the file header's bitmap, and `feat_id` of a HEADER_FEATURE record.
    ///
    /// perf: the `HEADER_*` enum, `tools/perf/util/header.h`. Features from 128 on are those of Android's simpleperf: the
    /// `FEAT_*` enum, `system/extras/simpleperf/record_file_format.h`.
    pub struct Feature(u32) {
        /// Never set.
        RESERVED = 0, "HEADER_RESERVED";
        /// Formats of the tracepoints, encoded as trace-cmd encodes them.
        TRACING_DATA = 1, "HEADER_TRACING_DATA";
        /// Build ids of the files with samples.
        BUILD_ID = 2, "HEADER_BUILD_ID";
        /// Name of the machine.
        HOSTNAME = 3, "HEADER_HOSTNAME";
        /// Release of the kernel.
        OSRELEASE = 4, "HEADER_OSRELEASE";
        /// Version of the perf tool.
        VERSION = 5, "HEADER_VERSION";
        /// Machine name, as in `uname -m`; see [`Arch::from_machine`](crate::regs::Arch::from_machine).
        ARCH = 6, "HEADER_ARCH";
        /// Number of CPUs available, and number online.
        NRCPUS = 7, "HEADER_NRCPUS";
        /// Name of the CPU.
        CPUDESC = 8, "HEADER_CPUDESC";
        /// Vendor, family, model and stepping of the CPU.
        CPUID = 9, "HEADER_CPUID";
        /// Memory, in units of 1024 bytes.
        TOTAL_MEM = 10, "HEADER_TOTAL_MEM";
        /// Command line of perf.
        CMDLINE = 11, "HEADER_CMDLINE";
        /// Attrs, names and ids of the events.
        EVENT_DESC = 12, "HEADER_EVENT_DESC";
        /// Cores, dies and sockets.
        CPU_TOPOLOGY = 13, "HEADER_CPU_TOPOLOGY";
        /// NUMA nodes, their memory and CPUs.
        NUMA_TOPOLOGY = 14, "HEADER_NUMA_TOPOLOGY";
        /// Samples have branch stacks. The section is empty.
        BRANCH_STACK = 15, "HEADER_BRANCH_STACK";
        /// Types and names of the PMUs.
        PMU_MAPPINGS = 16, "HEADER_PMU_MAPPINGS";
        /// Names and members of event groups.
        GROUP_DESC = 17, "HEADER_GROUP_DESC";
        /// Positions of the AUXTRACE records.
        AUXTRACE = 18, "HEADER_AUXTRACE";
        /// perf stat wrote the file. The section is empty.
        STAT = 19, "HEADER_STAT";
        /// Caches of the CPUs.
        CACHE = 20, "HEADER_CACHE";
        /// Times of the first and the last sample.
        SAMPLE_TIME = 21, "HEADER_SAMPLE_TIME";
        /// Memory blocks of each NUMA node.
        MEM_TOPOLOGY = 22, "HEADER_MEM_TOPOLOGY";
        /// Resolution in nanoseconds of the clock that time stamps use.
        CLOCKID = 23, "HEADER_CLOCKID";
        /// The recording is a folder, with the layout of this [`DirVersion`](crate::file::DirVersion).
        DIR_FORMAT = 24, "HEADER_DIR_FORMAT";
        /// BPF programs.
        BPF_PROG_INFO = 25, "HEADER_BPF_PROG_INFO";
        /// Types of BPF programs.
        BPF_BTF = 26, "HEADER_BPF_BTF";
        /// Parameters of the compression of records. Since perf 5.2.
        COMPRESSED = 27, "HEADER_COMPRESSED";
        /// Capabilities of the core PMU. Since perf 5.8.
        CPU_PMU_CAPS = 28, "HEADER_CPU_PMU_CAPS";
        /// The time of the time stamp clock and of the wall clock at the same moment. Since perf 5.10.
        CLOCK_DATA = 29, "HEADER_CLOCK_DATA";
        /// The core PMUs of a hybrid machine and their CPUs. Since perf 5.14.
        HYBRID_TOPOLOGY = 30, "HEADER_HYBRID_TOPOLOGY";
        /// Capabilities of the PMUs. Since perf 6.0.
        PMU_CAPS = 31, "HEADER_PMU_CAPS";
        /// Scheduling domains of the CPUs. Since perf 7.0.
        CPU_DOMAIN_INFO = 32, "HEADER_CPU_DOMAIN_INFO";
        /// ELF machine number. Since perf 7.1, approximately.
        E_MACHINE = 33, "HEADER_E_MACHINE";
        /// Bytes of a cache line. Since perf 7.1, approximately.
        CLN_SIZE = 34, "HEADER_CLN_SIZE";
        /// Paths and symbols of the files with samples, by simpleperf up to Android 12.
        FILE = 128, "FEAT_FILE";
        /// Keys and values that describe a recording of simpleperf: its version, the device, the names of the events.
        META_INFO = 129, "FEAT_META_INFO";
        /// Paths and sizes of the files in DEBUG_UNWIND_FILE. simpleperf.
        DEBUG_UNWIND = 130, "FEAT_DEBUG_UNWIND";
        /// Contents of the files that are needed to unwind the recorded stacks again. simpleperf.
        DEBUG_UNWIND_FILE = 131, "FEAT_DEBUG_UNWIND_FILE";
        /// Paths and symbols of the files with samples, as protobuf messages. simpleperf since Android 13.
        FILE2 = 132, "FEAT_FILE2";
        /// Branches of the ETM data, as a protobuf message. simpleperf.
        ETM_BRANCH_LIST = 133, "FEAT_ETM_BRANCH_LIST";
        /// Records of the mappings and names that existed when the recording began. simpleperf.
        INIT_MAP = 134, "FEAT_INIT_MAP";
    }
}

impl Feature {
    /// The lowest feature.
    #[doc(alias = "HEADER_FIRST_FEATURE")]
    pub const FIRST: u32 = 1;
    /// One past perf's highest feature.
    ///
    /// The features of a pipe end with an empty HEADER_FEATURE record with this number. The number differs between
    /// versions of perf.
    #[doc(alias = "HEADER_LAST_FEATURE")]
    pub const LAST: u32 = 35;
    /// The first of simpleperf's features.
    #[doc(alias = "FEAT_SIMPLEPERF_START")]
    pub const SIMPLEPERF_START: u32 = 128;
    /// Bits of the file header's bitmap.
    #[doc(alias = "HEADER_FEAT_BITS")]
    pub const FEAT_BITS: u32 = 256;
}

//! The features of a `perf.data`: what its header says of the machine, the tool and the events.

codes! {
    /// A feature: its bit in the file header's bitmap, and `feat_id` of a HEADER_FEATURE record.
    ///
    /// perf: the `HEADER_*` enum, `tools/perf/util/header.h`.
    pub struct Feature(u32) {
        /// Never set.
        RESERVED = 0, "HEADER_RESERVED";
        /// Formats of the tracepoints, as trace-cmd writes them.
        TRACING_DATA = 1, "HEADER_TRACING_DATA";
        /// Build ids of the files that samples hit.
        BUILD_ID = 2, "HEADER_BUILD_ID";
        /// Name of the machine.
        HOSTNAME = 3, "HEADER_HOSTNAME";
        /// Release of the kernel.
        OSRELEASE = 4, "HEADER_OSRELEASE";
        /// Version of the perf tool.
        VERSION = 5, "HEADER_VERSION";
        /// The machine as `uname -m` names it; see [`Arch::from_machine`](crate::regs::Arch::from_machine).
        ARCH = 6, "HEADER_ARCH";
        /// How many cpus are available, and how many online.
        NRCPUS = 7, "HEADER_NRCPUS";
        /// The cpu's name.
        CPUDESC = 8, "HEADER_CPUDESC";
        /// The cpu's vendor, family, model and stepping.
        CPUID = 9, "HEADER_CPUID";
        /// Memory, in units of 1024 bytes.
        TOTAL_MEM = 10, "HEADER_TOTAL_MEM";
        /// The command line of perf.
        CMDLINE = 11, "HEADER_CMDLINE";
        /// Attrs, names and ids of the events.
        EVENT_DESC = 12, "HEADER_EVENT_DESC";
        /// Cores, dies and sockets.
        CPU_TOPOLOGY = 13, "HEADER_CPU_TOPOLOGY";
        /// NUMA nodes, their memory and cpus.
        NUMA_TOPOLOGY = 14, "HEADER_NUMA_TOPOLOGY";
        /// Samples have branch stacks; an empty section.
        BRANCH_STACK = 15, "HEADER_BRANCH_STACK";
        /// Types and names of the PMUs.
        PMU_MAPPINGS = 16, "HEADER_PMU_MAPPINGS";
        /// Names and members of event groups.
        GROUP_DESC = 17, "HEADER_GROUP_DESC";
        /// Where the AUXTRACE records are.
        AUXTRACE = 18, "HEADER_AUXTRACE";
        /// Written by perf stat; an empty section.
        STAT = 19, "HEADER_STAT";
        /// Caches of the cpus.
        CACHE = 20, "HEADER_CACHE";
        /// Times of the first and the last sample.
        SAMPLE_TIME = 21, "HEADER_SAMPLE_TIME";
        /// Which memory blocks belong to which NUMA node.
        MEM_TOPOLOGY = 22, "HEADER_MEM_TOPOLOGY";
        /// Resolution of the clock of time stamps, in nanoseconds.
        CLOCKID = 23, "HEADER_CLOCKID";
        /// The data is a directory; its layout's [`DirVersion`](crate::file::DirVersion).
        DIR_FORMAT = 24, "HEADER_DIR_FORMAT";
        /// BPF programs.
        BPF_PROG_INFO = 25, "HEADER_BPF_PROG_INFO";
        /// Types of BPF programs.
        BPF_BTF = 26, "HEADER_BPF_BTF";
        /// How records are compressed. Since perf 5.2.
        COMPRESSED = 27, "HEADER_COMPRESSED";
        /// Capabilities of the core PMU. Since perf 5.8.
        CPU_PMU_CAPS = 28, "HEADER_CPU_PMU_CAPS";
        /// The clock of time stamps and the wall clock at one moment. Since perf 5.10.
        CLOCK_DATA = 29, "HEADER_CLOCK_DATA";
        /// The core PMUs of a hybrid machine and their cpus. Since perf 5.14.
        HYBRID_TOPOLOGY = 30, "HEADER_HYBRID_TOPOLOGY";
        /// Capabilities of the PMUs. Since perf 6.0.
        PMU_CAPS = 31, "HEADER_PMU_CAPS";
        /// Scheduling domains of the cpus. Since perf 7.0.
        CPU_DOMAIN_INFO = 32, "HEADER_CPU_DOMAIN_INFO";
        /// The machine as ELF numbers it. Since perf 7.1 or so.
        E_MACHINE = 33, "HEADER_E_MACHINE";
        /// Bytes of a cache line. Since perf 7.1 or so.
        CLN_SIZE = 34, "HEADER_CLN_SIZE";
    }
}

impl Feature {
    /// The lowest feature there is.
    #[doc(alias = "HEADER_FIRST_FEATURE")]
    pub const FIRST: u32 = 1;
    /// One past the highest feature.
    ///
    /// A pipe's features end with an empty HEADER_FEATURE record of this number, each perf version's own.
    #[doc(alias = "HEADER_LAST_FEATURE")]
    pub const LAST: u32 = 35;
    /// Bits of the file header's bitmap.
    #[doc(alias = "HEADER_FEAT_BITS")]
    pub const FEAT_BITS: u32 = 256;
}

//! The fields of a sample: `perf_event_attr.sample_type`.

flags! {
    /// The fields of each sample of an event.
    ///
    /// The order of the bits is not the order of the fields in a record: `IDENTIFIER` is
    /// first, `AUX` is last.
    ///
    /// Kernel: `enum perf_event_sample_format`; order of output: `perf_output_sample`.
    pub struct SampleType(u64) {
        /// Instruction pointer. Since Linux 2.6.31.
        IP = 1 << 0, "PERF_SAMPLE_IP";
        /// Process and thread id. Since Linux 2.6.31.
        TID = 1 << 1, "PERF_SAMPLE_TID";
        /// Time in nanoseconds of the event's clock. Since Linux 2.6.31.
        TIME = 1 << 2, "PERF_SAMPLE_TIME";
        /// Address that the event refers to: data address, fault address or breakpoint address.
        /// Since Linux 2.6.31.
        ADDR = 1 << 3, "PERF_SAMPLE_ADDR";
        /// Counter values in the layout of [`ReadFormat`](crate::read_format::ReadFormat).
        /// Since Linux 2.6.31.
        READ = 1 << 4, "PERF_SAMPLE_READ";
        /// Call chain with context markers. Since Linux 2.6.31.
        CALLCHAIN = 1 << 5, "PERF_SAMPLE_CALLCHAIN";
        /// Id of the event; for an inherited event, that of its parent. Since Linux 2.6.31.
        ID = 1 << 6, "PERF_SAMPLE_ID";
        /// CPU number. Since Linux 2.6.31.
        CPU = 1 << 7, "PERF_SAMPLE_CPU";
        /// Period: the number of events that the sample represents. Since Linux 2.6.31.
        PERIOD = 1 << 8, "PERF_SAMPLE_PERIOD";
        /// Id of the event itself, even if it is inherited. Since Linux 2.6.31.
        STREAM_ID = 1 << 9, "PERF_SAMPLE_STREAM_ID";
        /// Bytes in a format that the event defines; for a tracepoint, its fields. Since Linux 2.6.31.
        RAW = 1 << 10, "PERF_SAMPLE_RAW";
        /// Branch records (LBR, BHRB, BRBE). Since Linux 3.4.
        BRANCH_STACK = 1 << 11, "PERF_SAMPLE_BRANCH_STACK";
        /// User-space registers. Since Linux 3.7.
        REGS_USER = 1 << 12, "PERF_SAMPLE_REGS_USER";
        /// A copy of the top of the user stack. Since Linux 3.7.
        STACK_USER = 1 << 13, "PERF_SAMPLE_STACK_USER";
        /// Hardware weight as one 64-bit number. Cannot be combined with `WEIGHT_STRUCT`. Since Linux 3.10.
        WEIGHT = 1 << 14, "PERF_SAMPLE_WEIGHT";
        /// Data source of the memory access. Since Linux 3.10.
        DATA_SRC = 1 << 15, "PERF_SAMPLE_DATA_SRC";
        /// Id of the event at a fixed position: first in a sample, last in other records. Since Linux 3.12.
        IDENTIFIER = 1 << 16, "PERF_SAMPLE_IDENTIFIER";
        /// Reason of a transactional abort. Since Linux 3.13.
        TRANSACTION = 1 << 17, "PERF_SAMPLE_TRANSACTION";
        /// Registers at the interrupt. Since Linux 3.19.
        REGS_INTR = 1 << 18, "PERF_SAMPLE_REGS_INTR";
        /// Physical address of the data address; 0 if unknown. Since Linux 4.14.
        PHYS_ADDR = 1 << 19, "PERF_SAMPLE_PHYS_ADDR";
        /// A snapshot of the AUX area. Since Linux 5.5.
        AUX = 1 << 20, "PERF_SAMPLE_AUX";
        /// Id of the cgroup. Since Linux 5.7.
        CGROUP = 1 << 21, "PERF_SAMPLE_CGROUP";
        /// Size in bytes of the page of the data address; 0 if unknown. Since Linux 5.11.
        DATA_PAGE_SIZE = 1 << 22, "PERF_SAMPLE_DATA_PAGE_SIZE";
        /// Size in bytes of the page of the instruction pointer; 0 if unknown. Since Linux 5.11.
        CODE_PAGE_SIZE = 1 << 23, "PERF_SAMPLE_CODE_PAGE_SIZE";
        /// Hardware weight as one 32-bit and two 16-bit numbers. Cannot be combined with
        /// `WEIGHT`. Since Linux 5.12.
        WEIGHT_STRUCT = 1 << 24, "PERF_SAMPLE_WEIGHT_STRUCT";
    }
}

impl SampleType {
    /// One past the highest known bit.
    #[doc(alias = "PERF_SAMPLE_MAX")]
    pub const MAX: u64 = 1 << 25;

    /// Both kinds of weight; an event may request only one of them. Since Linux 5.12.
    #[doc(alias = "PERF_SAMPLE_WEIGHT_TYPE")]
    pub const WEIGHT_TYPE: Self = Self::WEIGHT.union(Self::WEIGHT_STRUCT);

    /// The fields of the `sample_id` trailer of other records.
    pub const SAMPLE_ID: Self = Self::TID
        .union(Self::TIME)
        .union(Self::ID)
        .union(Self::STREAM_ID)
        .union(Self::CPU)
        .union(Self::IDENTIFIER);
}

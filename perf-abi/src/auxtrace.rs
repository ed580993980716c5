//! AUX data in a `perf.data`: the type of the tracer that wrote it, and the parameters of the tracer.
//!
//! An AUXTRACE_INFO record has a type and private 64-bit words. The types in this module that end in `Word`
//! are the indices of those words. `COUNT` of such a type is the number of words.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U64};

codes! {
    /// The tracer that wrote the AUX data: `type` of an AUXTRACE_INFO record.
    ///
    /// perf: `enum auxtrace_type`, `tools/perf/util/auxtrace.h`.
    pub struct AuxtraceType(u32) {
        /// Unknown.
        UNKNOWN = 0, "PERF_AUXTRACE_UNKNOWN";
        /// Intel Processor Trace; its words are [`IntelPtWord`].
        INTEL_PT = 1, "PERF_AUXTRACE_INTEL_PT";
        /// Intel Branch Trace Store; its words are [`IntelBtsWord`].
        INTEL_BTS = 2, "PERF_AUXTRACE_INTEL_BTS";
        /// Arm CoreSight; its words are [`CsWord`], then one block per CPU that begins with [`CsBlockWord`].
        CS_ETM = 3, "PERF_AUXTRACE_CS_ETM";
        /// Arm Statistical Profiling; its words are [`ArmSpeWord`], or [`ArmSpeHeaderWord`] and then one block per CPU,
        /// of [`ArmSpeCpuWord`].
        ARM_SPE = 4, "PERF_AUXTRACE_ARM_SPE";
        /// s390 CPU measurement sampling.
        S390_CPUMSF = 5, "PERF_AUXTRACE_S390_CPUMSF";
        /// HiSilicon PCIe Tune and Trace.
        HISI_PTT = 6, "PERF_AUXTRACE_HISI_PTT";
        /// Power dispatch trace log; its words are [`VpaDtlWord`].
        VPA_DTL = 7, "PERF_AUXTRACE_VPA_DTL";
    }
}

codes! {
    /// The unit of the period of synthesised samples.
    ///
    /// perf: `enum itrace_period_type`.
    pub struct ItracePeriod(u32) {
        /// Instructions.
        INSTRUCTIONS = 0, "PERF_ITRACE_PERIOD_INSTRUCTIONS";
        /// Ticks of the trace clock.
        TICKS = 1, "PERF_ITRACE_PERIOD_TICKS";
        /// Nanoseconds.
        NANOSECS = 2, "PERF_ITRACE_PERIOD_NANOSECS";
    }
}

/// The alignment of an AUXTRACE record's data, in bytes. The writer pads the data to a multiple of it.
#[doc(alias = "PERF_AUXTRACE_RECORD_ALIGNMENT")]
pub const RECORD_ALIGNMENT: usize = 8;

/// Entries in one block of perf's in-memory index of AUXTRACE records. The index in a file has no blocks.
#[doc(alias = "PERF_AUXTRACE_INDEX_ENTRY_COUNT")]
pub const INDEX_ENTRY_COUNT: usize = 256;

/// The position of an AUXTRACE record: an entry of the `auxtrace` feature.
///
/// The feature starts with the 64-bit number of entries; the entries follow.
///
/// perf: `struct auxtrace_index_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "auxtrace_index_entry")]
pub struct IndexEntry<O: Endian> {
    /// Bytes from the start of the file to the record.
    pub file_offset: U64<O>,
    /// Bytes of the record, without its data. C: `sz`.
    pub size: U64<O>,
}

codes! {
    /// The index of a private word of Intel Processor Trace. Older tools wrote fewer words.
    ///
    /// perf: `tools/perf/util/intel-pt.h`.
    pub struct IntelPtWord(usize) {
        /// The PMU's type number.
        PMU_TYPE = 0, "INTEL_PT_PMU_TYPE";
        /// `time_shift` of the control page.
        TIME_SHIFT = 1, "INTEL_PT_TIME_SHIFT";
        /// `time_mult` of the control page.
        TIME_MULT = 2, "INTEL_PT_TIME_MULT";
        /// `time_zero` of the control page.
        TIME_ZERO = 3, "INTEL_PT_TIME_ZERO";
        /// Whether `time_zero` is valid.
        CAP_USER_TIME_ZERO = 4, "INTEL_PT_CAP_USER_TIME_ZERO";
        /// The bit of `config` that requests time stamps (TSC).
        TSC_BIT = 5, "INTEL_PT_TSC_BIT";
        /// The bit of `config` that disables return compression.
        NORETCOMP_BIT = 6, "INTEL_PT_NORETCOMP_BIT";
        /// Whether and how context switches were recorded.
        HAVE_SCHED_SWITCH = 7, "INTEL_PT_HAVE_SCHED_SWITCH";
        /// Whether the trace is a snapshot.
        SNAPSHOT_MODE = 8, "INTEL_PT_SNAPSHOT_MODE";
        /// Whether each CPU had its own ring.
        PER_CPU_MMAPS = 9, "INTEL_PT_PER_CPU_MMAPS";
        /// The bit of `config` that requests mini time counter (MTC) packets.
        MTC_BIT = 10, "INTEL_PT_MTC_BIT";
        /// The bits of `config` that set the frequency of the mini time counter.
        MTC_FREQ_BITS = 11, "INTEL_PT_MTC_FREQ_BITS";
        /// Numerator of the ratio of time stamp counter to core crystal clock.
        TSC_CTC_N = 12, "INTEL_PT_TSC_CTC_N";
        /// Denominator of the ratio of time stamp counter to core crystal clock.
        TSC_CTC_D = 13, "INTEL_PT_TSC_CTC_D";
        /// The bit of `config` that requests cycle counts.
        CYC_BIT = 14, "INTEL_PT_CYC_BIT";
        /// The highest ratio of core to bus clock without turbo.
        MAX_NONTURBO_RATIO = 15, "INTEL_PT_MAX_NONTURBO_RATIO";
        /// Bytes of the address filter string, which follows this word.
        FILTER_STR_LEN = 16, "INTEL_PT_FILTER_STR_LEN";
    }
}

impl IntelPtWord {
    /// Number of words before the address filter string.
    #[doc(alias = "INTEL_PT_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 17;
}

codes! {
    /// The index of a private word of Intel Branch Trace Store.
    ///
    /// perf: `tools/perf/util/intel-bts.h`.
    pub struct IntelBtsWord(usize) {
        /// The PMU's type number.
        PMU_TYPE = 0, "INTEL_BTS_PMU_TYPE";
        /// `time_shift` of the control page.
        TIME_SHIFT = 1, "INTEL_BTS_TIME_SHIFT";
        /// `time_mult` of the control page.
        TIME_MULT = 2, "INTEL_BTS_TIME_MULT";
        /// `time_zero` of the control page.
        TIME_ZERO = 3, "INTEL_BTS_TIME_ZERO";
        /// Whether `time_zero` is valid.
        CAP_USER_TIME_ZERO = 4, "INTEL_BTS_CAP_USER_TIME_ZERO";
        /// Whether the trace is a snapshot.
        SNAPSHOT_MODE = 5, "INTEL_BTS_SNAPSHOT_MODE";
    }
}

impl IntelBtsWord {
    /// Number of words.
    #[doc(alias = "INTEL_BTS_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 6;
}

codes! {
    /// The index of a private word of Arm Statistical Profiling, in the first version of its metadata: it has exactly
    /// these words. Metadata of version 2 begins with [`ArmSpeHeaderWord`].
    ///
    /// perf: `tools/perf/util/arm-spe.h`.
    pub struct ArmSpeWord(usize) {
        /// The PMU's type number.
        PMU_TYPE = 0, "ARM_SPE_PMU_TYPE";
        /// Whether each CPU had its own ring.
        PER_CPU_MMAPS = 1, "ARM_SPE_PER_CPU_MMAPS";
    }
}

impl ArmSpeWord {
    /// Number of words.
    #[doc(alias = "ARM_SPE_AUXTRACE_V1_PRIV_MAX")]
    pub const COUNT: usize = 2;
}

codes! {
    /// The index of a private word of Arm Statistical Profiling, before the blocks of the CPUs. Written since perf 6.13.
    ///
    /// perf: `tools/perf/util/arm-spe.h`.
    pub struct ArmSpeHeaderWord(usize) {
        /// Version of the metadata: 2.
        VERSION = 0, "ARM_SPE_HEADER_VERSION";
        /// Number of words before the first block.
        SIZE = 1, "ARM_SPE_HEADER_SIZE";
        /// The PMU's type number, which all CPUs share.
        PMU_TYPE = 2, "ARM_SPE_PMU_TYPE_V2";
        /// Number of blocks that follow.
        CPUS_NUM = 3, "ARM_SPE_CPUS_NUM";
    }
}

impl ArmSpeHeaderWord {
    /// Number of words.
    #[doc(alias = "ARM_SPE_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 4;
}

codes! {
    /// The index of a word of a CPU's block, in metadata of Arm Statistical Profiling from version 2 on.
    ///
    /// perf: `tools/perf/util/arm-spe.h`.
    pub struct ArmSpeCpuWord(usize) {
        /// [`MAGIC_NUMBER`](Self::MAGIC_NUMBER).
        MAGIC = 0, "ARM_SPE_MAGIC";
        /// CPU number.
        CPU = 1, "ARM_SPE_CPU";
        /// Number of the block's words that follow.
        NR_PARAMS = 2, "ARM_SPE_CPU_NR_PARAMS";
        /// The CPU's id: the register `MIDR_EL1`.
        MIDR = 3, "ARM_SPE_CPU_MIDR";
        /// Type number of the CPU's PMU; `u64::MAX` if it has none.
        PMU_TYPE = 4, "ARM_SPE_CPU_PMU_TYPE";
        /// The PMU's smallest recommended sampling interval.
        CAP_MIN_IVAL = 5, "ARM_SPE_CAP_MIN_IVAL";
        /// The events that the PMU can filter by, as bits of an events packet.
        CAP_EVENT_FILTER = 6, "ARM_SPE_CAP_EVENT_FILTER";
    }
}

impl ArmSpeCpuWord {
    /// Number of words that perf 7.2 writes.
    #[doc(alias = "ARM_SPE_CPU_PRIV_MAX")]
    pub const COUNT: usize = 7;
    /// The first word of each block.
    #[doc(alias = "ARM_SPE_CPU_MAGIC")]
    pub const MAGIC_NUMBER: u64 = 0x1010_1010_1010_1010;
}

codes! {
    /// The index of a private word of the Power dispatch trace log.
    ///
    /// perf: `tools/perf/util/powerpc-vpadtl.h`.
    pub struct VpaDtlWord(usize) {
        /// The PMU's type number.
        TYPE = 0, "POWERPC_VPADTL_TYPE";
    }
}

impl VpaDtlWord {
    /// Number of words.
    #[doc(alias = "VPADTL_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 1;
}

codes! {
    /// The index of a private word of CoreSight, before the blocks of the CPUs.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsWord(usize) {
        /// Version of the metadata: 0 to 2. From version 1 on, each block contains its length.
        VERSION = 0, "CS_HEADER_VERSION";
        /// The PMU's type number in the high half; the number of blocks that follow in the low half.
        PMU_TYPE_CPUS = 1, "CS_PMU_TYPE_CPUS";
        /// Whether the trace is a snapshot.
        SNAPSHOT = 2, "CS_ETM_SNAPSHOT";
    }
}

impl CsWord {
    /// Number of words before the first block.
    #[doc(alias = "CS_HEADER_VERSION_MAX")]
    pub const COUNT: usize = 3;
}

codes! {
    /// The index of one of the first words of a CPU's block, in CoreSight metadata from version 1 on.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsBlockWord(usize) {
        /// The kind of trace unit of the CPU, a [`CsMagic`].
        MAGIC = 0, "CS_ETM_MAGIC";
        /// CPU number.
        CPU = 1, "CS_ETM_CPU";
        /// Number of the block's words that follow: [`CsEtmv3Word`], [`CsEtmv4Word`] or [`CsEteWord`].
        NR_TRC_PARAMS = 2, "CS_ETM_NR_TRC_PARAMS";
    }
}

impl CsBlockWord {
    /// Number of words that every block has.
    #[doc(alias = "CS_ETM_COMMON_BLK_MAX_V1")]
    pub const COUNT: usize = 3;
}

codes! {
    /// The kind of trace unit of a CPU: the first word of its block.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsMagic(u64) {
        /// ETMv3 or PTM.
        ETMV3 = 0x3030_3030_3030_3030, "__perf_cs_etmv3_magic";
        /// ETMv4.
        ETMV4 = 0x4040_4040_4040_4040, "__perf_cs_etmv4_magic";
        /// ETE.
        ETE = 0x5050_5050_5050_5050, "__perf_cs_ete_magic";
    }
}

codes! {
    /// The index of a word of the block of a CPU with ETMv3 or PTM, from the start of the block in version 1.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsEtmv3Word(usize) {
        /// Main control.
        ETMCR = 3, "CS_ETM_ETMCR";
        /// Trace id.
        ETMTRACEIDR = 4, "CS_ETM_ETMTRACEIDR";
        /// Configuration code extension.
        ETMCCER = 5, "CS_ETM_ETMCCER";
        /// Identification.
        ETMIDR = 6, "CS_ETM_ETMIDR";
    }
}

impl CsEtmv3Word {
    /// Number of words of the block.
    #[doc(alias = "CS_ETM_PRIV_MAX")]
    pub const COUNT: usize = 7;
}

codes! {
    /// The index of a word of the block of a CPU with ETMv4, from the start of the block in version 1.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsEtmv4Word(usize) {
        /// Trace configuration.
        TRCCONFIGR = 3, "CS_ETMV4_TRCCONFIGR";
        /// Trace id.
        TRCTRACEIDR = 4, "CS_ETMV4_TRCTRACEIDR";
        /// Identification 0.
        TRCIDR0 = 5, "CS_ETMV4_TRCIDR0";
        /// Identification 1.
        TRCIDR1 = 6, "CS_ETMV4_TRCIDR1";
        /// Identification 2.
        TRCIDR2 = 7, "CS_ETMV4_TRCIDR2";
        /// Identification 8.
        TRCIDR8 = 8, "CS_ETMV4_TRCIDR8";
        /// Authentication status.
        TRCAUTHSTATUS = 9, "CS_ETMV4_TRCAUTHSTATUS";
        /// The source of time stamps.
        TS_SOURCE = 10, "CS_ETMV4_TS_SOURCE";
    }
}

impl CsEtmv4Word {
    /// Number of words of the block.
    #[doc(alias = "CS_ETMV4_PRIV_MAX")]
    pub const COUNT: usize = 11;
}

codes! {
    /// The index of a word of the block of a CPU with ETE, from the start of the block.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsEteWord(usize) {
        /// Trace configuration.
        TRCCONFIGR = 3, "CS_ETE_TRCCONFIGR";
        /// Trace id.
        TRCTRACEIDR = 4, "CS_ETE_TRCTRACEIDR";
        /// Identification 0.
        TRCIDR0 = 5, "CS_ETE_TRCIDR0";
        /// Identification 1.
        TRCIDR1 = 6, "CS_ETE_TRCIDR1";
        /// Identification 2.
        TRCIDR2 = 7, "CS_ETE_TRCIDR2";
        /// Identification 8.
        TRCIDR8 = 8, "CS_ETE_TRCIDR8";
        /// Authentication status.
        TRCAUTHSTATUS = 9, "CS_ETE_TRCAUTHSTATUS";
        /// Device architecture.
        TRCDEVARCH = 10, "CS_ETE_TRCDEVARCH";
        /// The source of time stamps.
        TS_SOURCE = 11, "CS_ETE_TS_SOURCE";
    }
}

impl CsEteWord {
    /// Number of words of the block.
    #[doc(alias = "CS_ETE_PRIV_MAX")]
    pub const COUNT: usize = 12;
}

codes! {
    /// An exception in an ETMv3 trace.
    ///
    /// Arm IHI 0014Q, table 7-12.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsEtmv3Exception(u32) {
        /// None.
        NONE = 0, "CS_ETMV3_EXC_NONE";
        /// Halt by the debugger.
        DEBUG_HALT = 1, "CS_ETMV3_EXC_DEBUG_HALT";
        /// Secure monitor call.
        SMC = 2, "CS_ETMV3_EXC_SMC";
        /// Entry to the hypervisor.
        HYP = 3, "CS_ETMV3_EXC_HYP";
        /// Asynchronous data abort.
        ASYNC_DATA_ABORT = 4, "CS_ETMV3_EXC_ASYNC_DATA_ABORT";
        /// Jazelle or ThumbEE check.
        JAZELLE_THUMBEE = 5, "CS_ETMV3_EXC_JAZELLE_THUMBEE";
        /// Reset.
        PE_RESET = 8, "CS_ETMV3_EXC_PE_RESET";
        /// Undefined instruction.
        UNDEFINED_INSTR = 9, "CS_ETMV3_EXC_UNDEFINED_INSTR";
        /// System call.
        SVC = 10, "CS_ETMV3_EXC_SVC";
        /// Prefetch abort or software breakpoint.
        PREFETCH_ABORT = 11, "CS_ETMV3_EXC_PREFETCH_ABORT";
        /// Synchronous data abort.
        DATA_FAULT = 12, "CS_ETMV3_EXC_DATA_FAULT";
        /// Generic exception.
        GENERIC = 13, "CS_ETMV3_EXC_GENERIC";
        /// Interrupt.
        IRQ = 14, "CS_ETMV3_EXC_IRQ";
        /// Fast interrupt.
        FIQ = 15, "CS_ETMV3_EXC_FIQ";
    }
}

codes! {
    /// An exception in an ETMv4 trace.
    ///
    /// Arm IHI 0064D, table 6-12.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsEtmv4Exception(u32) {
        /// Reset.
        RESET = 0, "CS_ETMV4_EXC_RESET";
        /// Halt by the debugger.
        DEBUG_HALT = 1, "CS_ETMV4_EXC_DEBUG_HALT";
        /// Call to the kernel, the hypervisor or the secure monitor.
        CALL = 2, "CS_ETMV4_EXC_CALL";
        /// Trap.
        TRAP = 3, "CS_ETMV4_EXC_TRAP";
        /// System error.
        SYSTEM_ERROR = 4, "CS_ETMV4_EXC_SYSTEM_ERROR";
        /// Debug exception of an instruction.
        INST_DEBUG = 6, "CS_ETMV4_EXC_INST_DEBUG";
        /// Debug exception of data.
        DATA_DEBUG = 7, "CS_ETMV4_EXC_DATA_DEBUG";
        /// Alignment fault.
        ALIGNMENT = 10, "CS_ETMV4_EXC_ALIGNMENT";
        /// Instruction fault.
        INST_FAULT = 11, "CS_ETMV4_EXC_INST_FAULT";
        /// Data fault.
        DATA_FAULT = 12, "CS_ETMV4_EXC_DATA_FAULT";
        /// Interrupt.
        IRQ = 14, "CS_ETMV4_EXC_IRQ";
        /// Fast interrupt.
        FIQ = 15, "CS_ETMV4_EXC_FIQ";
    }
}

impl CsEtmv4Exception {
    /// The highest code that the architecture allows.
    #[doc(alias = "CS_ETMV4_EXC_END")]
    pub const END: u32 = 31;
}

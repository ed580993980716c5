//! AUX data in a `perf.data`: who recorded it, and what the recorder said of itself.
//!
//! An AUXTRACE_INFO record has a type and private 64-bit words. The types here that end in `Word` are the indices of
//! those words; where such a type has `COUNT`, that is how many there are.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U64};

codes! {
    /// What recorded AUX data: `type` of an AUXTRACE_INFO record.
    ///
    /// perf: `enum auxtrace_type`, `tools/perf/util/auxtrace.h`.
    pub struct AuxtraceType(u32) {
        /// Not known.
        UNKNOWN = 0, "PERF_AUXTRACE_UNKNOWN";
        /// Intel Processor Trace; its words are [`IntelPtWord`].
        INTEL_PT = 1, "PERF_AUXTRACE_INTEL_PT";
        /// Intel Branch Trace Store; its words are [`IntelBtsWord`].
        INTEL_BTS = 2, "PERF_AUXTRACE_INTEL_BTS";
        /// Arm CoreSight; its words are [`CsWord`], then a block a cpu that begins with [`CsBlockWord`].
        CS_ETM = 3, "PERF_AUXTRACE_CS_ETM";
        /// Arm Statistical Profiling; its words are [`ArmSpeWord`].
        ARM_SPE = 4, "PERF_AUXTRACE_ARM_SPE";
        /// s390 cpu measurement sampling.
        S390_CPUMSF = 5, "PERF_AUXTRACE_S390_CPUMSF";
        /// HiSilicon PCIe Tune and Trace.
        HISI_PTT = 6, "PERF_AUXTRACE_HISI_PTT";
        /// Power dispatch trace log; its words are [`VpaDtlWord`].
        VPA_DTL = 7, "PERF_AUXTRACE_VPA_DTL";
    }
}

codes! {
    /// What the period of synthesised samples counts.
    ///
    /// perf: `enum itrace_period_type`.
    pub struct ItracePeriod(u32) {
        /// Instructions.
        INSTRUCTIONS = 0, "PERF_ITRACE_PERIOD_INSTRUCTIONS";
        /// Ticks of the trace's clock.
        TICKS = 1, "PERF_ITRACE_PERIOD_TICKS";
        /// Nanoseconds.
        NANOSECS = 2, "PERF_ITRACE_PERIOD_NANOSECS";
    }
}

/// An AUXTRACE record is padded to a multiple of this many bytes.
#[doc(alias = "PERF_AUXTRACE_RECORD_ALIGNMENT")]
pub const RECORD_ALIGNMENT: usize = 8;

/// Entries that perf holds in one block of its index of AUXTRACE records; the file's index has no blocks.
#[doc(alias = "PERF_AUXTRACE_INDEX_ENTRY_COUNT")]
pub const INDEX_ENTRY_COUNT: usize = 256;

/// Where an AUXTRACE record is: an entry of the `auxtrace` feature, behind the 64-bit number of entries.
///
/// perf: `struct auxtrace_index_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "auxtrace_index_entry")]
pub struct IndexEntry<O: Endian> {
    /// Bytes from the start of the file to the record.
    pub file_offset: U64<O>,
    /// Bytes of the record and its data. C: `sz`.
    pub size: U64<O>,
}

codes! {
    /// A private word of Intel Processor Trace. Older tools wrote fewer.
    ///
    /// perf: `tools/perf/util/intel-pt.h`.
    pub struct IntelPtWord(usize) {
        /// The type of the PMU.
        PMU_TYPE = 0, "INTEL_PT_PMU_TYPE";
        /// `time_shift` of the control page.
        TIME_SHIFT = 1, "INTEL_PT_TIME_SHIFT";
        /// `time_mult` of the control page.
        TIME_MULT = 2, "INTEL_PT_TIME_MULT";
        /// `time_zero` of the control page.
        TIME_ZERO = 3, "INTEL_PT_TIME_ZERO";
        /// Whether `time_zero` holds.
        CAP_USER_TIME_ZERO = 4, "INTEL_PT_CAP_USER_TIME_ZERO";
        /// The bit of `config` that asks for time stamps.
        TSC_BIT = 5, "INTEL_PT_TSC_BIT";
        /// The bit of `config` that forbids compressed returns.
        NORETCOMP_BIT = 6, "INTEL_PT_NORETCOMP_BIT";
        /// Whether context switches were recorded, and how.
        HAVE_SCHED_SWITCH = 7, "INTEL_PT_HAVE_SCHED_SWITCH";
        /// Whether the trace is a snapshot.
        SNAPSHOT_MODE = 8, "INTEL_PT_SNAPSHOT_MODE";
        /// Whether each cpu had a ring of its own.
        PER_CPU_MMAPS = 9, "INTEL_PT_PER_CPU_MMAPS";
        /// The bit of `config` that asks for the mini time counter.
        MTC_BIT = 10, "INTEL_PT_MTC_BIT";
        /// The bits of `config` that set its frequency.
        MTC_FREQ_BITS = 11, "INTEL_PT_MTC_FREQ_BITS";
        /// Numerator of the time stamp counter to core crystal clock ratio.
        TSC_CTC_N = 12, "INTEL_PT_TSC_CTC_N";
        /// Denominator of that ratio.
        TSC_CTC_D = 13, "INTEL_PT_TSC_CTC_D";
        /// The bit of `config` that asks for cycle counts.
        CYC_BIT = 14, "INTEL_PT_CYC_BIT";
        /// The highest ratio of core to bus clock without turbo.
        MAX_NONTURBO_RATIO = 15, "INTEL_PT_MAX_NONTURBO_RATIO";
        /// Bytes of the address filter, which follows.
        FILTER_STR_LEN = 16, "INTEL_PT_FILTER_STR_LEN";
    }
}

impl IntelPtWord {
    /// Words before the address filter.
    #[doc(alias = "INTEL_PT_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 17;
}

codes! {
    /// A private word of Intel Branch Trace Store.
    ///
    /// perf: `tools/perf/util/intel-bts.h`.
    pub struct IntelBtsWord(usize) {
        /// The type of the PMU.
        PMU_TYPE = 0, "INTEL_BTS_PMU_TYPE";
        /// `time_shift` of the control page.
        TIME_SHIFT = 1, "INTEL_BTS_TIME_SHIFT";
        /// `time_mult` of the control page.
        TIME_MULT = 2, "INTEL_BTS_TIME_MULT";
        /// `time_zero` of the control page.
        TIME_ZERO = 3, "INTEL_BTS_TIME_ZERO";
        /// Whether `time_zero` holds.
        CAP_USER_TIME_ZERO = 4, "INTEL_BTS_CAP_USER_TIME_ZERO";
        /// Whether the trace is a snapshot.
        SNAPSHOT_MODE = 5, "INTEL_BTS_SNAPSHOT_MODE";
    }
}

impl IntelBtsWord {
    /// Words in all.
    #[doc(alias = "INTEL_BTS_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 6;
}

codes! {
    /// A private word of Arm Statistical Profiling, in the first version of its metadata.
    ///
    /// perf: `tools/perf/util/arm-spe.h`.
    pub struct ArmSpeWord(usize) {
        /// The type of the PMU.
        PMU_TYPE = 0, "ARM_SPE_PMU_TYPE";
        /// Whether each cpu had a ring of its own.
        PER_CPU_MMAPS = 1, "ARM_SPE_PER_CPU_MMAPS";
    }
}

impl ArmSpeWord {
    /// Words in all.
    #[doc(alias = "ARM_SPE_AUXTRACE_V1_PRIV_MAX")]
    pub const COUNT: usize = 2;
}

codes! {
    /// A private word of the Power dispatch trace log.
    ///
    /// perf: `tools/perf/util/powerpc-vpadtl.h`.
    pub struct VpaDtlWord(usize) {
        /// The type of the PMU.
        TYPE = 0, "POWERPC_VPADTL_TYPE";
    }
}

impl VpaDtlWord {
    /// Words in all.
    #[doc(alias = "VPADTL_AUXTRACE_PRIV_MAX")]
    pub const COUNT: usize = 1;
}

codes! {
    /// A private word of CoreSight, before the blocks of the cpus.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsWord(usize) {
        /// Version of the metadata: 0 to 2. From 1 on a block tells its length.
        VERSION = 0, "CS_HEADER_VERSION";
        /// The type of the PMU in the high half, how many blocks follow in the low half.
        PMU_TYPE_CPUS = 1, "CS_PMU_TYPE_CPUS";
        /// Whether the trace is a snapshot.
        SNAPSHOT = 2, "CS_ETM_SNAPSHOT";
    }
}

impl CsWord {
    /// Words before the first block.
    #[doc(alias = "CS_HEADER_VERSION_MAX")]
    pub const COUNT: usize = 3;
}

codes! {
    /// A word that the block of a cpu begins with, in CoreSight metadata from version 1 on.
    ///
    /// perf: `tools/perf/util/cs-etm.h`.
    pub struct CsBlockWord(usize) {
        /// What kind of trace unit the cpu has, a [`CsMagic`].
        MAGIC = 0, "CS_ETM_MAGIC";
        /// The cpu.
        CPU = 1, "CS_ETM_CPU";
        /// How many words of the block follow: [`CsEtmv3Word`], [`CsEtmv4Word`] or [`CsEteWord`].
        NR_TRC_PARAMS = 2, "CS_ETM_NR_TRC_PARAMS";
    }
}

impl CsBlockWord {
    /// Words that every block has.
    #[doc(alias = "CS_ETM_COMMON_BLK_MAX_V1")]
    pub const COUNT: usize = 3;
}

codes! {
    /// What kind of trace unit a cpu has: the first word of its block.
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
    /// A word of the block of a cpu with ETMv3 or PTM, from the block's start in version 1.
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
    /// Words of the block.
    #[doc(alias = "CS_ETM_PRIV_MAX")]
    pub const COUNT: usize = 7;
}

codes! {
    /// A word of the block of a cpu with ETMv4, from the block's start in version 1.
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
        /// Where time stamps come from.
        TS_SOURCE = 10, "CS_ETMV4_TS_SOURCE";
    }
}

impl CsEtmv4Word {
    /// Words of the block.
    #[doc(alias = "CS_ETMV4_PRIV_MAX")]
    pub const COUNT: usize = 11;
}

codes! {
    /// A word of the block of a cpu with ETE, from the block's start.
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
        /// Where time stamps come from.
        TS_SOURCE = 11, "CS_ETE_TS_SOURCE";
    }
}

impl CsEteWord {
    /// Words of the block.
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
        /// Generic.
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
        /// Call of the system, the hypervisor or the monitor.
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
    /// The highest code the architecture allows.
    #[doc(alias = "CS_ETMV4_EXC_END")]
    pub const END: u32 = 31;
}

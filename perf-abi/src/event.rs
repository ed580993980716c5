//! Event types: `perf_event_attr.type`, and the `config` of the generic types.

codes! {
    /// The type of an event: `perf_event_attr.type`. Values above 5 are PMUs; sysfs has their numbers.
    ///
    /// Kernel: `enum perf_type_id`.
    pub struct EventType(u32) {
        /// A generalised hardware event, [`HwEvent`]. Since Linux 2.6.31.
        HARDWARE = 0, "PERF_TYPE_HARDWARE";
        /// A software event of the kernel, [`SwId`]. Since Linux 2.6.31.
        SOFTWARE = 1, "PERF_TYPE_SOFTWARE";
        /// A tracepoint; `config` is its id in tracefs. Since Linux 2.6.31.
        TRACEPOINT = 2, "PERF_TYPE_TRACEPOINT";
        /// A cache event, [`HwCacheEvent`]. Since Linux 2.6.31.
        HW_CACHE = 3, "PERF_TYPE_HW_CACHE";
        /// A raw event of the core PMU. Since Linux 2.6.31.
        RAW = 4, "PERF_TYPE_RAW";
        /// A hardware breakpoint. Since Linux 2.6.33.
        BREAKPOINT = 5, "PERF_TYPE_BREAKPOINT";
        /// An event that the perf tool synthesises from AUX data, [`SynthId`]. The kernel does not know it.
        SYNTH = 0x8000_0000, "PERF_TYPE_SYNTH";
    }
}

impl EventType {
    /// One past the highest type that the kernel's header names.
    #[doc(alias = "PERF_TYPE_MAX")]
    pub const MAX: u32 = 6;
}

/// Lowest bit of the PMU's type in the `config` of `HARDWARE` and `HW_CACHE` events. Since Linux 5.13.
#[doc(alias = "PERF_PMU_TYPE_SHIFT")]
pub const PMU_TYPE_SHIFT: u32 = 32;

/// The bits of `config` that give the event, below the PMU's type. Since Linux 5.13.
#[doc(alias = "PERF_HW_EVENT_MASK")]
pub const HW_EVENT_MASK: u64 = 0xffff_ffff;

codes! {
    /// A generalised hardware event: the low half of `config` of [`EventType::HARDWARE`].
    ///
    /// Kernel: `enum perf_hw_id`.
    #[doc(alias = "HardwareEvent")]
    #[doc(alias = "HardwareEventId")]
    pub struct HwId(u32) {
        /// Cycles. Since Linux 2.6.31.
        CPU_CYCLES = 0, "PERF_COUNT_HW_CPU_CYCLES";
        /// Retired instructions. Since Linux 2.6.31.
        INSTRUCTIONS = 1, "PERF_COUNT_HW_INSTRUCTIONS";
        /// Cache accesses, usually of the last level. Since Linux 2.6.31.
        CACHE_REFERENCES = 2, "PERF_COUNT_HW_CACHE_REFERENCES";
        /// Cache misses, usually of the last level. Since Linux 2.6.31.
        CACHE_MISSES = 3, "PERF_COUNT_HW_CACHE_MISSES";
        /// Retired branches. Since Linux 2.6.31.
        BRANCH_INSTRUCTIONS = 4, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS";
        /// Mispredicted branches. Since Linux 2.6.31.
        BRANCH_MISSES = 5, "PERF_COUNT_HW_BRANCH_MISSES";
        /// Bus cycles. Since Linux 2.6.31.
        BUS_CYCLES = 6, "PERF_COUNT_HW_BUS_CYCLES";
        /// Cycles stalled at issue. Since Linux 3.0.
        STALLED_CYCLES_FRONTEND = 7, "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND";
        /// Cycles stalled at retirement. Since Linux 3.0.
        STALLED_CYCLES_BACKEND = 8, "PERF_COUNT_HW_STALLED_CYCLES_BACKEND";
        /// Cycles of a reference clock, independent of frequency scaling. Since Linux 3.3.
        REF_CPU_CYCLES = 9, "PERF_COUNT_HW_REF_CPU_CYCLES";
    }
}

impl HwId {
    /// One past the highest code.
    #[doc(alias = "PERF_COUNT_HW_MAX")]
    pub const MAX: u32 = 10;
}

/// The decoded `config` of an [`EventType::HARDWARE`] event.
///
/// # Examples
///
/// ```
/// use perf_abi::event::{HwEvent, HwId};
/// // Instructions, on the PMU with the number 8 in sysfs, such as `cpu_atom` of a hybrid machine.
/// let event = HwEvent { id: HwId::INSTRUCTIONS, pmu: 8 };
/// assert_eq!(event.config(), 0x8_0000_0001);
/// assert_eq!(HwEvent::of(0x8_0000_0001), event);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HwEvent {
    /// The event.
    pub id: HwId,
    /// The number in sysfs of the PMU that counts; 0 for any PMU that can count the event. Since Linux 5.13.
    pub pmu: u32,
}

impl HwEvent {
    /// Decodes `config`.
    #[must_use]
    pub const fn of(config: u64) -> Self {
        Self { id: HwId((config & HW_EVENT_MASK) as u32), pmu: (config >> PMU_TYPE_SHIFT) as u32 }
    }

    /// Returns the `config` of this event.
    #[must_use]
    pub const fn config(self) -> u64 {
        (self.pmu as u64) << PMU_TYPE_SHIFT | self.id.0 as u64
    }
}

codes! {
    /// A software event of the kernel: `config` of [`EventType::SOFTWARE`].
    ///
    /// Kernel: `enum perf_sw_ids`.
    #[doc(alias = "SoftwareEvent")]
    #[doc(alias = "SoftwareCounterType")]
    pub struct SwId(u64) {
        /// Nanoseconds, counted by a timer of each CPU. Since Linux 2.6.31.
        CPU_CLOCK = 0, "PERF_COUNT_SW_CPU_CLOCK";
        /// Nanoseconds that the task ran. Since Linux 2.6.31.
        TASK_CLOCK = 1, "PERF_COUNT_SW_TASK_CLOCK";
        /// Page faults. Since Linux 2.6.31.
        PAGE_FAULTS = 2, "PERF_COUNT_SW_PAGE_FAULTS";
        /// Context switches. Since Linux 2.6.31.
        CONTEXT_SWITCHES = 3, "PERF_COUNT_SW_CONTEXT_SWITCHES";
        /// Migrations of the task to another CPU. Since Linux 2.6.31.
        CPU_MIGRATIONS = 4, "PERF_COUNT_SW_CPU_MIGRATIONS";
        /// Page faults that needed no disk access. Since Linux 2.6.31.
        PAGE_FAULTS_MIN = 5, "PERF_COUNT_SW_PAGE_FAULTS_MIN";
        /// Page faults that needed a disk access. Since Linux 2.6.31.
        PAGE_FAULTS_MAJ = 6, "PERF_COUNT_SW_PAGE_FAULTS_MAJ";
        /// Unaligned accesses that the kernel had to handle. Since Linux 2.6.33.
        ALIGNMENT_FAULTS = 7, "PERF_COUNT_SW_ALIGNMENT_FAULTS";
        /// Instructions that the kernel had to emulate. Since Linux 2.6.33.
        EMULATION_FAULTS = 8, "PERF_COUNT_SW_EMULATION_FAULTS";
        /// Counts nothing; its ring receives MMAP, COMM and other records. Since Linux 3.12.
        DUMMY = 9, "PERF_COUNT_SW_DUMMY";
        /// Samples whose raw data a BPF program writes. Since Linux 4.4.
        BPF_OUTPUT = 10, "PERF_COUNT_SW_BPF_OUTPUT";
        /// Context switches to a task of another cgroup. Since Linux 5.13.
        CGROUP_SWITCHES = 11, "PERF_COUNT_SW_CGROUP_SWITCHES";
    }
}

impl SwId {
    /// One past the highest code; 11 in the headers of Linux 4.19 and 5.10.
    #[doc(alias = "PERF_COUNT_SW_MAX")]
    pub const MAX: u64 = 12;
}

codes! {
    /// A cache: byte 0 of the `config` of [`EventType::HW_CACHE`].
    ///
    /// Kernel: `enum perf_hw_cache_id`.
    pub struct HwCacheId(u8) {
        /// First-level data cache. Since Linux 2.6.31.
        L1D = 0, "PERF_COUNT_HW_CACHE_L1D";
        /// First-level instruction cache. Since Linux 2.6.31.
        L1I = 1, "PERF_COUNT_HW_CACHE_L1I";
        /// Last-level cache. Since Linux 2.6.31.
        LL = 2, "PERF_COUNT_HW_CACHE_LL";
        /// Data TLB. Since Linux 2.6.31.
        DTLB = 3, "PERF_COUNT_HW_CACHE_DTLB";
        /// Instruction TLB. Since Linux 2.6.31.
        ITLB = 4, "PERF_COUNT_HW_CACHE_ITLB";
        /// Branch prediction unit. Since Linux 2.6.31.
        BPU = 5, "PERF_COUNT_HW_CACHE_BPU";
        /// Memory of the NUMA node. Since Linux 3.1.
        NODE = 6, "PERF_COUNT_HW_CACHE_NODE";
    }
}

impl HwCacheId {
    /// One past the highest code.
    #[doc(alias = "PERF_COUNT_HW_CACHE_MAX")]
    pub const MAX: u8 = 7;
}

codes! {
    /// A kind of cache access: byte 1 of the `config` of [`EventType::HW_CACHE`].
    ///
    /// Kernel: `enum perf_hw_cache_op_id`.
    pub struct HwCacheOpId(u8) {
        /// Reads. Since Linux 2.6.31.
        READ = 0, "PERF_COUNT_HW_CACHE_OP_READ";
        /// Writes. Since Linux 2.6.31.
        WRITE = 1, "PERF_COUNT_HW_CACHE_OP_WRITE";
        /// Prefetches. Since Linux 2.6.31.
        PREFETCH = 2, "PERF_COUNT_HW_CACHE_OP_PREFETCH";
    }
}

impl HwCacheOpId {
    /// One past the highest code.
    #[doc(alias = "PERF_COUNT_HW_CACHE_OP_MAX")]
    pub const MAX: u8 = 3;
}

codes! {
    /// The result of a cache access: byte 2 of the `config` of [`EventType::HW_CACHE`].
    ///
    /// Kernel: `enum perf_hw_cache_op_result_id`.
    pub struct HwCacheOpResultId(u8) {
        /// All accesses, hits and misses. Since Linux 2.6.31.
        ACCESS = 0, "PERF_COUNT_HW_CACHE_RESULT_ACCESS";
        /// Misses. Since Linux 2.6.31.
        MISS = 1, "PERF_COUNT_HW_CACHE_RESULT_MISS";
    }
}

impl HwCacheOpResultId {
    /// One past the highest code.
    #[doc(alias = "PERF_COUNT_HW_CACHE_RESULT_MAX")]
    pub const MAX: u8 = 2;
}

/// The decoded `config` of an [`EventType::HW_CACHE`] event.
///
/// # Examples
///
/// ```
/// use perf_abi::event::{HwCacheEvent, HwCacheId, HwCacheOpId, HwCacheOpResultId};
/// let event = HwCacheEvent {
///     cache: HwCacheId::LL,
///     op: HwCacheOpId::READ,
///     result: HwCacheOpResultId::MISS,
///     pmu: 0,
/// };
/// assert_eq!(event.config(), 0x1_0002);
/// assert_eq!(HwCacheEvent::of(0x1_0002), Some(event));
/// assert_eq!(HwCacheEvent::of(0x100_0000), None); // byte 3 has no meaning
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias = "HardwareCacheEvent")]
pub struct HwCacheEvent {
    /// The cache.
    pub cache: HwCacheId,
    /// The kind of access.
    pub op: HwCacheOpId,
    /// The result of the access.
    pub result: HwCacheOpResultId,
    /// The number in sysfs of the PMU that counts; 0 for any PMU that can count the event. Since Linux 5.13.
    pub pmu: u32,
}

impl HwCacheEvent {
    /// Decodes `config`; returns `None` if byte 3, which has no meaning, is not zero.
    #[must_use]
    pub const fn of(config: u64) -> Option<Self> {
        match config.to_le_bytes() {
            [cache, op, result, 0, pmu @ ..] => Some(Self {
                cache: HwCacheId(cache),
                op: HwCacheOpId(op),
                result: HwCacheOpResultId(result),
                pmu: u32::from_le_bytes(pmu),
            }),
            _ => None,
        }
    }

    /// Returns the `config` of this event.
    #[must_use]
    pub const fn config(self) -> u64 {
        (self.pmu as u64) << PMU_TYPE_SHIFT
            | (self.result.0 as u64) << 16
            | (self.op.0 as u64) << 8
            | self.cache.0 as u64
    }
}

codes! {
    /// The source of a sample that the perf tool synthesised: `config` of [`EventType::SYNTH`].
    ///
    /// The sample's raw data has the details.
    ///
    /// perf: `enum perf_synth_id`, `tools/perf/util/event.h`.
    pub struct SynthId(u64) {
        /// Intel PT: a value that PTWRITE stored in the trace.
        INTEL_PTWRITE = 0, "PERF_SYNTH_INTEL_PTWRITE";
        /// Intel PT: the CPU executed MWAIT.
        INTEL_MWAIT = 1, "PERF_SYNTH_INTEL_MWAIT";
        /// Intel PT: the CPU entered a power state.
        INTEL_PWRE = 2, "PERF_SYNTH_INTEL_PWRE";
        /// Intel PT: execution stopped.
        INTEL_EXSTOP = 3, "PERF_SYNTH_INTEL_EXSTOP";
        /// Intel PT: the CPU left a power state.
        INTEL_PWRX = 4, "PERF_SYNTH_INTEL_PWRX";
        /// Intel PT: the ratio of core to bus clock changed.
        INTEL_CBR = 5, "PERF_SYNTH_INTEL_CBR";
        /// Intel PT: a synchronisation point of the trace.
        INTEL_PSB = 6, "PERF_SYNTH_INTEL_PSB";
        /// Intel PT: an interrupt, exception or other event.
        INTEL_EVT = 7, "PERF_SYNTH_INTEL_EVT";
        /// Intel PT: interrupts were enabled or disabled.
        INTEL_IFLAG_CHG = 8, "PERF_SYNTH_INTEL_IFLAG_CHG";
        /// Powerpc: an entry of the dispatch trace log.
        POWERPC_VPA_DTL = 9, "PERF_SYNTH_POWERPC_VPA_DTL";
    }
}

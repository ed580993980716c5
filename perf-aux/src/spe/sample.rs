//! Samples that perf makes of records.

use perf_abi::branch::BranchFlags;
use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;

/// The event of a sample, in the order in which perf makes the samples of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SampleKind {
    /// Miss of the first-level data cache. Letter `f`.
    L1dMiss,
    /// Access to the first-level data cache. Letter `f`.
    L1dAccess,
    /// Miss of the last-level cache. Letter `m`.
    LlcMiss,
    /// Access to the last-level cache. Letter `m`.
    LlcAccess,
    /// Miss of the TLB. Letter `t`.
    TlbMiss,
    /// Access to the TLB. Letter `t`.
    TlbAccess,
    /// A branch. Letter `b`.
    Branch,
    /// Access to another socket. Letter `a`.
    RemoteAccess,
    /// An access to memory. Letter `M`.
    Memory,
    /// An operation. Letter `i`.
    Instructions,
}

impl SampleKind {
    /// All kinds, in order.
    pub const ALL: [Self; 10] = [
        Self::L1dMiss,
        Self::L1dAccess,
        Self::LlcMiss,
        Self::LlcAccess,
        Self::TlbMiss,
        Self::TlbAccess,
        Self::Branch,
        Self::RemoteAccess,
        Self::Memory,
        Self::Instructions,
    ];

    /// Returns the name that perf gives to the event.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::L1dMiss => "l1d-miss",
            Self::L1dAccess => "l1d-access",
            Self::LlcMiss => "llc-miss",
            Self::LlcAccess => "llc-access",
            Self::TlbMiss => "tlb-miss",
            Self::TlbAccess => "tlb-access",
            Self::Branch => "branch",
            Self::RemoteAccess => "remote-access",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
        }
    }
}

flag_word! {
    /// What a sample of a branch is: the field `flags` of `perf script`.
    ///
    /// perf: `PERF_IP_FLAG_*`, `tools/perf/util/event.h`. Only the flags that SPE sets.
    pub struct IpFlags(u32) {
        /// A branch.
        BRANCH = 1 << 0, "PERF_IP_FLAG_BRANCH";
        /// A call.
        CALL = 1 << 1, "PERF_IP_FLAG_CALL";
        /// A return. perf takes an indirect branch for one, unless it is a call.
        RETURN = 1 << 2, "PERF_IP_FLAG_RETURN";
        /// Conditional.
        CONDITIONAL = 1 << 3, "PERF_IP_FLAG_CONDITIONAL";
        /// In a transaction.
        IN_TX = 1 << 10, "PERF_IP_FLAG_IN_TX";
        /// Mispredicted.
        BRANCH_MISS = 1 << 15, "PERF_IP_FLAG_BRANCH_MISS";
        /// Not taken.
        NOT_TAKEN = 1 << 16, "PERF_IP_FLAG_NOT_TAKEN";
    }
}

/// An entry of a branch stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SpeBranch {
    /// Address of the branch; 0 if unknown.
    pub from: u64,
    /// Address of the target.
    pub to: u64,
    /// Prediction, transaction, type, and the cycles of the operation.
    pub flags: BranchFlags,
    /// Whether the branch was not taken. perf stores it in bit 33 of the flags, which the kernel calls reserved.
    pub not_taken: bool,
}

/// A branch stack of at most two entries: the branch itself, and the last one that was taken before, of which only the
/// target is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Branches {
    /// The branch itself.
    pub(super) own: Option<SpeBranch>,
    /// The branch before it.
    pub(super) previous: Option<SpeBranch>,
}

impl Branches {
    /// Iterates over the entries, latest first.
    pub fn iter(&self) -> impl Iterator<Item = SpeBranch> + use<> {
        self.own.into_iter().chain(self.previous)
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.own.is_none() && self.previous.is_none()
    }
}

/// A sample that perf makes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SpeSample {
    /// The event.
    pub kind: SampleKind,
    /// Address of the instruction.
    pub ip: u64,
    /// Virtual address of the data; of a branch or an `instructions` sample, the target of the branch. 0 if the
    /// record has none.
    pub addr: u64,
    /// Physical address of the data; 0 if the record has none, and of a branch.
    pub phys_addr: u64,
    /// Source of the data; 0 of a branch, and of an operation that accesses no memory.
    pub data_src: DataSrc,
    /// Cycles of the operation.
    pub weight: u64,
    /// The period: that of the options.
    pub period: u64,
    /// User space or kernel, by the address of the instruction.
    pub cpumode: CpuMode,
    /// Time in ticks of the generic timer; 0 if the record has none. `TimeConv::tsc_to_perf_time` of perf-parse
    /// converts it to the nanoseconds of other records.
    pub timestamp: u64,
    /// The thread, if the record has a context. perf uses it only if the capture's events have times; then a record
    /// without one is of the thread of the record before.
    pub context_id: Option<u32>,
    /// What the branch is, of a `branch` or `instructions` sample.
    pub flags: IpFlags,
    /// The branch stack, of a `branch` or `instructions` sample. Empty if the options do not ask for one.
    pub branches: Branches,
}

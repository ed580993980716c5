//! Makes samples of records.

use perf_abi::branch::{BranchFlags, BranchType};
use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;

use super::data_source::{data_src, is_memory};
use super::events::EventFlags;
use super::info::SpeCpu;
use super::operation::Operation;
use super::record::SpeRecord;
use super::sample::{Branches, IpFlags, SampleKind, SpeBranch, SpeSample};

flag_word! {
    /// A set of [`SampleKind`]s, in the order of their bits.
    pub struct SampleKinds(u16) {
        /// Misses of the first-level data cache, and accesses: letter `f` of `--itrace`.
        FIRST_LEVEL_CACHE = 0b11, "flc";
        /// Misses of the last-level cache, and accesses: letter `m`.
        LAST_LEVEL_CACHE = 0b1100, "llc";
        /// Misses of the TLB, and accesses: letter `t`.
        TLB = 0b11_0000, "tlb";
        /// Branches: letter `b`.
        BRANCHES = 1 << 6, "branches";
        /// Accesses to another socket: letter `a`.
        REMOTE_ACCESS = 1 << 7, "remote_access";
        /// Accesses to memory: letter `M`.
        MEMORY = 1 << 8, "mem";
        /// All operations: letter `i`.
        INSTRUCTIONS = 1 << 9, "instructions";
    }
}

impl SampleKinds {
    /// All kinds.
    pub const ALL: Self = Self((1 << SampleKind::ALL.len()) - 1);

    /// Returns the kinds that a letter of perf's `--itrace` selects; `None` for a letter that selects none of SPE.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::spe::{SampleKind, SampleKinds};
    /// let kinds = SampleKinds::of_letter('t').unwrap();
    /// assert!(kinds.has(SampleKind::TlbMiss) && kinds.has(SampleKind::TlbAccess));
    /// assert_eq!(SampleKinds::of_letter('l'), None);
    /// ```
    #[must_use]
    pub const fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'f' => Some(Self::FIRST_LEVEL_CACHE),
            'm' => Some(Self::LAST_LEVEL_CACHE),
            't' => Some(Self::TLB),
            'b' => Some(Self::BRANCHES),
            'a' => Some(Self::REMOTE_ACCESS),
            'M' => Some(Self::MEMORY),
            'i' => Some(Self::INSTRUCTIONS),
            _ => None,
        }
    }

    /// Returns whether the set has a kind.
    #[must_use]
    pub const fn has(self, kind: SampleKind) -> bool {
        self.contains(Self::of(kind))
    }

    const fn of(kind: SampleKind) -> Self {
        Self(1 << kind as u16)
    }
}

/// Which samples are made, and what they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// The kinds.
    pub kinds: SampleKinds,
    /// Samples are made of every record of this number: the n-th of n. 0 and 1 are all. The number in `i1000i`.
    pub period: u64,
    /// The largest number of entries of a branch stack: 0 for none, 1 for the branch itself, 2 for the target of the
    /// branch before it too. More is 2. The number after `l`, without which it is 64.
    pub branch_stack: u32,
    /// The lowest address of the kernel.
    pub kernel_start: u64,
    // `#[non_exhaustive]` would also forbid `..SampleOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

impl Default for SampleOptions {
    /// Returns what perf does without `--itrace`: all kinds of all records, without branch stacks.
    fn default() -> Self {
        Self {
            kinds: SampleKinds::ALL,
            period: 1,
            branch_stack: 0,
            kernel_start: 1 << 63,
            non_exhaustive: (),
        }
    }
}

/// Makes the samples of the records of one AUX area. See the [module](super) for an example.
#[derive(Clone, Debug)]
pub struct Synthesis {
    options: SampleOptions,
    /// Number of records since the last one of which samples were made.
    passed: u64,
}

impl Synthesis {
    /// Returns a synthesis of an AUX area of which no record was seen.
    #[must_use]
    pub const fn new(options: SampleOptions) -> Self {
        Self { options, passed: 0 }
    }

    /// Returns the samples of the next record, which `cpu` wrote. Without an event that is selected there are none.
    ///
    /// perf: `arm_spe_sample`.
    #[inline]
    pub fn samples(&mut self, record: &SpeRecord, cpu: &SpeCpu) -> SpeSamples {
        self.passed = self.passed.saturating_add(1);
        let kinds = if self.passed < self.options.period {
            SampleKinds::NONE
        } else {
            self.passed = 0;
            SampleKinds(self.options.kinds.0 & kinds(record).0)
        };
        if kinds == SampleKinds::NONE {
            return SpeSamples { kinds, record: *record, data_src: DataSrc(0), options: self.options };
        }
        SpeSamples { kinds, record: *record, data_src: data_src(record, cpu), options: self.options }
    }
}

/// Returns the kinds of samples that a record makes.
fn kinds(record: &SpeRecord) -> SampleKinds {
    let by_event = [
        (EventFlags::L1D_REFILL, SampleKind::L1dMiss),
        (EventFlags::L1D_ACCESS, SampleKind::L1dAccess),
        (EventFlags::LLC_MISS, SampleKind::LlcMiss),
        (EventFlags::LLC_ACCESS, SampleKind::LlcAccess),
        (EventFlags::TLB_WALK, SampleKind::TlbMiss),
        (EventFlags::TLB_ACCESS, SampleKind::TlbAccess),
        (EventFlags::REMOTE_ACCESS, SampleKind::RemoteAccess),
    ];
    let mut kinds = SampleKinds::INSTRUCTIONS;
    for (event, kind) in by_event {
        if record.events.contains(event) {
            kinds |= SampleKinds::of(kind);
        }
    }
    if record.op.contains(Operation::BRANCH_ERET) {
        kinds |= SampleKinds::BRANCHES;
    }
    if is_memory(record.op) {
        kinds |= SampleKinds::MEMORY;
    }
    kinds
}

/// The samples of one record, in perf's order.
#[derive(Clone, Debug)]
pub struct SpeSamples {
    /// The kinds that are left.
    kinds: SampleKinds,
    record: SpeRecord,
    data_src: DataSrc,
    options: SampleOptions,
}

impl Iterator for SpeSamples {
    type Item = SpeSample;

    #[inline]
    fn next(&mut self) -> Option<SpeSample> {
        let kind = *SampleKind::ALL.get(self.kinds.0.trailing_zeros() as usize)?;
        self.kinds.0 &= self.kinds.0.wrapping_sub(1);
        let record = &self.record;
        let is_kernel = record.from_ip >= self.options.kernel_start;
        let sample = SpeSample {
            kind,
            ip: record.from_ip,
            addr: record.virt_addr,
            phys_addr: record.phys_addr,
            data_src: self.data_src,
            weight: record.latency.into(),
            period: self.options.period,
            cpumode: if is_kernel { CpuMode::KERNEL } else { CpuMode::USER },
            timestamp: record.timestamp,
            context_id: record.context_id,
            flags: IpFlags::NONE,
            branches: Branches::default(),
        };
        let of_branch = || SpeSample {
            addr: record.to_ip,
            flags: flags(record),
            branches: branches(record, self.options.branch_stack),
            ..sample
        };
        Some(match kind {
            SampleKind::Branch => SpeSample { phys_addr: 0, data_src: DataSrc(0), ..of_branch() },
            SampleKind::Instructions => of_branch(),
            _ => sample,
        })
    }
}

impl core::iter::FusedIterator for SpeSamples {}

/// perf: `arm_spe__sample_flags`.
fn flags(record: &SpeRecord) -> IpFlags {
    let SpeRecord { op, events, .. } = *record;
    if !op.contains(Operation::BRANCH_ERET) {
        return IpFlags::NONE;
    }
    let when = |is: bool, flag: IpFlags| if is { flag } else { IpFlags::NONE };
    let is_call = op.contains(Operation::BR_CR_BL);
    let is_return = !is_call && op.intersects(Operation::BR_CR_RET | Operation::BR_INDIRECT);
    IpFlags::BRANCH
        | when(events.contains(EventFlags::MISPRED), IpFlags::BRANCH_MISS)
        | when(events.contains(EventFlags::NOT_TAKEN), IpFlags::NOT_TAKEN)
        | when(events.contains(EventFlags::TRANSACTIONAL), IpFlags::IN_TX)
        | when(op.contains(Operation::BR_COND), IpFlags::CONDITIONAL)
        | when(is_call, IpFlags::CALL)
        | when(is_return, IpFlags::RETURN)
}

/// perf: `arm_spe__prep_branch_stack`.
fn branches(record: &SpeRecord, most: u32) -> Branches {
    let is_branch = record.op.contains(Operation::BRANCH_ERET);
    let own = (is_branch && most > 0).then(|| SpeBranch {
        from: record.from_ip,
        to: record.to_ip,
        flags: branch_flags(record),
        not_taken: record.events.contains(EventFlags::NOT_TAKEN),
    });
    let has_room = most > u32::from(own.is_some());
    let previous = (has_room && record.prev_br_tgt != 0)
        .then(|| SpeBranch { to: record.prev_br_tgt, ..SpeBranch::default() });
    Branches { own, previous }
}

fn branch_flags(record: &SpeRecord) -> BranchFlags {
    let SpeRecord { op, events, .. } = *record;
    let is_conditional = op.contains(Operation::BR_COND);
    let of = |conditional, other| if is_conditional { conditional } else { other };
    let kind = if op.contains(Operation::BR_CR_BL) {
        of(BranchType::COND_CALL, BranchType::CALL)
    } else if op.intersects(Operation::BR_CR_RET | Operation::BR_INDIRECT) {
        of(BranchType::COND_RET, BranchType::RET)
    } else if op.contains(Operation::BR_CR_NON_BL_RET) {
        of(BranchType::COND, BranchType::UNCOND)
    } else {
        of(BranchType::COND, BranchType::UNKNOWN)
    };
    let is_missed = events.contains(EventFlags::MISPRED);
    let mut flags = if is_missed { BranchFlags::MISPRED } else { BranchFlags::PREDICTED };
    if events.contains(EventFlags::TRANSACTIONAL) {
        flags |= BranchFlags::IN_TX;
    }
    flags.with_kind(kind).with_cycles(record.latency)
}

//! Branch stacks: which branches to record (`perf_event_attr.branch_sample_type`), and the recorded entries.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, Endianness, U64, bitfields_from_be, bitfields_to_be};

flags! {
    /// Selects the branches to record, and the fields of each entry.
    ///
    /// Kernel: `enum perf_branch_sample_type`.
    pub struct BranchSampleType(u64) {
        /// Branches whose target is in user space. Since Linux 3.4.
        USER = 1 << 0, "PERF_SAMPLE_BRANCH_USER";
        /// Branches whose target is in the kernel. Since Linux 3.4.
        KERNEL = 1 << 1, "PERF_SAMPLE_BRANCH_KERNEL";
        /// Branches whose target is in the hypervisor. Since Linux 3.4.
        HV = 1 << 2, "PERF_SAMPLE_BRANCH_HV";
        /// Branches of any kind. Since Linux 3.4.
        ANY = 1 << 3, "PERF_SAMPLE_BRANCH_ANY";
        /// Calls of any kind. Since Linux 3.4.
        ANY_CALL = 1 << 4, "PERF_SAMPLE_BRANCH_ANY_CALL";
        /// Returns of any kind. Since Linux 3.4.
        ANY_RETURN = 1 << 5, "PERF_SAMPLE_BRANCH_ANY_RETURN";
        /// Indirect calls. Since Linux 3.4.
        IND_CALL = 1 << 6, "PERF_SAMPLE_BRANCH_IND_CALL";
        /// Transactional aborts. Since Linux 3.11.
        ABORT_TX = 1 << 7, "PERF_SAMPLE_BRANCH_ABORT_TX";
        /// Branches inside a transaction. Since Linux 3.11.
        IN_TX = 1 << 8, "PERF_SAMPLE_BRANCH_IN_TX";
        /// Branches outside a transaction. Since Linux 3.11.
        NO_TX = 1 << 9, "PERF_SAMPLE_BRANCH_NO_TX";
        /// Conditional branches. Since Linux 3.16.
        COND = 1 << 10, "PERF_SAMPLE_BRANCH_COND";
        /// Call stack mode: a return removes its call from the stack. Since Linux 4.1.
        CALL_STACK = 1 << 11, "PERF_SAMPLE_BRANCH_CALL_STACK";
        /// Indirect jumps. Since Linux 4.2.
        IND_JUMP = 1 << 12, "PERF_SAMPLE_BRANCH_IND_JUMP";
        /// Direct calls. Since Linux 4.4.
        CALL = 1 << 13, "PERF_SAMPLE_BRANCH_CALL";
        /// Leaves the flags out of the entries. Since Linux 4.5.
        NO_FLAGS = 1 << 14, "PERF_SAMPLE_BRANCH_NO_FLAGS";
        /// Leaves the cycle counts out of the entries. Since Linux 4.5.
        NO_CYCLES = 1 << 15, "PERF_SAMPLE_BRANCH_NO_CYCLES";
        /// Records the type of each branch. Since Linux 4.14.
        TYPE_SAVE = 1 << 16, "PERF_SAMPLE_BRANCH_TYPE_SAVE";
        /// Records the index of the hardware's raw branch record (LBR top of stack); -1 if
        /// unknown. Since Linux 5.7.
        HW_INDEX = 1 << 17, "PERF_SAMPLE_BRANCH_HW_INDEX";
        /// Records the privilege level of each branch. Since Linux 6.1.
        PRIV_SAVE = 1 << 18, "PERF_SAMPLE_BRANCH_PRIV_SAVE";
        /// Records how often the group's events occurred since the last branch, one word per
        /// entry. Since Linux 6.8.
        COUNTERS = 1 << 19, "PERF_SAMPLE_BRANCH_COUNTERS";
    }
}

impl BranchSampleType {
    /// One past the highest known bit.
    #[doc(alias = "PERF_SAMPLE_BRANCH_MAX")]
    pub const MAX: u64 = 1 << Self::MAX_SHIFT;

    /// The number of known bits.
    #[doc(alias = "PERF_SAMPLE_BRANCH_MAX_SHIFT")]
    pub const MAX_SHIFT: u32 = 20;

    /// The privilege levels. If none is set, the kernel uses those of the event. Since Linux 3.4.
    #[doc(alias = "PERF_SAMPLE_BRANCH_PLM_ALL")]
    pub const PLM_ALL: Self = Self::USER.union(Self::KERNEL).union(Self::HV);
}

codes! {
    /// The bit number of a flag of [`BranchSampleType`].
    ///
    /// Kernel: `enum perf_branch_sample_type_shift`.
    pub struct BranchSampleShift(u32) {
        /// [`BranchSampleType::USER`]. Since Linux 3.4.
        USER = 0, "PERF_SAMPLE_BRANCH_USER_SHIFT";
        /// [`BranchSampleType::KERNEL`]. Since Linux 3.4.
        KERNEL = 1, "PERF_SAMPLE_BRANCH_KERNEL_SHIFT";
        /// [`BranchSampleType::HV`]. Since Linux 3.4.
        HV = 2, "PERF_SAMPLE_BRANCH_HV_SHIFT";
        /// [`BranchSampleType::ANY`]. Since Linux 3.4.
        ANY = 3, "PERF_SAMPLE_BRANCH_ANY_SHIFT";
        /// [`BranchSampleType::ANY_CALL`]. Since Linux 3.4.
        ANY_CALL = 4, "PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT";
        /// [`BranchSampleType::ANY_RETURN`]. Since Linux 3.4.
        ANY_RETURN = 5, "PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT";
        /// [`BranchSampleType::IND_CALL`]. Since Linux 3.4.
        IND_CALL = 6, "PERF_SAMPLE_BRANCH_IND_CALL_SHIFT";
        /// [`BranchSampleType::ABORT_TX`]. Since Linux 3.11.
        ABORT_TX = 7, "PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT";
        /// [`BranchSampleType::IN_TX`]. Since Linux 3.11.
        IN_TX = 8, "PERF_SAMPLE_BRANCH_IN_TX_SHIFT";
        /// [`BranchSampleType::NO_TX`]. Since Linux 3.11.
        NO_TX = 9, "PERF_SAMPLE_BRANCH_NO_TX_SHIFT";
        /// [`BranchSampleType::COND`]. Since Linux 3.16.
        COND = 10, "PERF_SAMPLE_BRANCH_COND_SHIFT";
        /// [`BranchSampleType::CALL_STACK`]. Since Linux 4.1.
        CALL_STACK = 11, "PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT";
        /// [`BranchSampleType::IND_JUMP`]. Since Linux 4.2.
        IND_JUMP = 12, "PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT";
        /// [`BranchSampleType::CALL`]. Since Linux 4.4.
        CALL = 13, "PERF_SAMPLE_BRANCH_CALL_SHIFT";
        /// [`BranchSampleType::NO_FLAGS`]. Since Linux 4.5.
        NO_FLAGS = 14, "PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT";
        /// [`BranchSampleType::NO_CYCLES`]. Since Linux 4.5.
        NO_CYCLES = 15, "PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT";
        /// [`BranchSampleType::TYPE_SAVE`]. Since Linux 4.14.
        TYPE_SAVE = 16, "PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT";
        /// [`BranchSampleType::HW_INDEX`]. Since Linux 5.7.
        HW_INDEX = 17, "PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT";
        /// [`BranchSampleType::PRIV_SAVE`]. Since Linux 6.1.
        PRIV_SAVE = 18, "PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT";
        /// [`BranchSampleType::COUNTERS`]. Since Linux 6.8.
        COUNTERS = 19, "PERF_SAMPLE_BRANCH_COUNTERS_SHIFT";
    }
}

codes! {
    /// The kind of branch (`perf_branch_entry.type`), four bits.
    ///
    /// Recorded with [`BranchSampleType::TYPE_SAVE`]. Kernel: the `PERF_BR_*` enum.
    pub struct BranchType(u8) {
        /// Not classified. Since Linux 4.14.
        UNKNOWN = 0, "PERF_BR_UNKNOWN";
        /// Conditional. Since Linux 4.14.
        COND = 1, "PERF_BR_COND";
        /// Unconditional. Since Linux 4.14.
        UNCOND = 2, "PERF_BR_UNCOND";
        /// Indirect. Since Linux 4.14.
        IND = 3, "PERF_BR_IND";
        /// Function call. Since Linux 4.14.
        CALL = 4, "PERF_BR_CALL";
        /// Indirect function call. Since Linux 4.14.
        IND_CALL = 5, "PERF_BR_IND_CALL";
        /// Function return. Since Linux 4.14.
        RET = 6, "PERF_BR_RET";
        /// System call. Since Linux 4.14.
        SYSCALL = 7, "PERF_BR_SYSCALL";
        /// System call return. Since Linux 4.14.
        SYSRET = 8, "PERF_BR_SYSRET";
        /// Conditional function call. Since Linux 4.14.
        COND_CALL = 9, "PERF_BR_COND_CALL";
        /// Conditional function return. Since Linux 4.14.
        COND_RET = 10, "PERF_BR_COND_RET";
        /// Exception return. Since Linux 5.18.
        ERET = 11, "PERF_BR_ERET";
        /// Interrupt. Since Linux 5.18.
        IRQ = 12, "PERF_BR_IRQ";
        /// System error. Since Linux 6.1.
        SERROR = 13, "PERF_BR_SERROR";
        /// Not in a transaction. Since Linux 6.1.
        NO_TX = 14, "PERF_BR_NO_TX";
        /// The type is in `new_type`. Since Linux 6.1.
        EXTEND_ABI = 15, "PERF_BR_EXTEND_ABI";
    }
}

impl BranchType {
    /// One past the highest code.
    #[doc(alias = "PERF_BR_MAX")]
    pub const MAX: u8 = 16;
}

codes! {
    /// The kind of branch if `type` is [`BranchType::EXTEND_ABI`] (`perf_branch_entry.new_type`), four bits.
    ///
    /// Kernel: the `PERF_BR_NEW_*` enum.
    pub struct BranchNewType(u8) {
        /// Alignment fault. Since Linux 6.1.
        FAULT_ALGN = 0, "PERF_BR_NEW_FAULT_ALGN";
        /// Data fault. Since Linux 6.1.
        FAULT_DATA = 1, "PERF_BR_NEW_FAULT_DATA";
        /// Instruction fault. Since Linux 6.1.
        FAULT_INST = 2, "PERF_BR_NEW_FAULT_INST";
        /// Architecture-specific, 1. Since Linux 6.1.
        ARCH_1 = 3, "PERF_BR_NEW_ARCH_1";
        /// Architecture-specific, 2. Since Linux 6.1.
        ARCH_2 = 4, "PERF_BR_NEW_ARCH_2";
        /// Architecture-specific, 3. Since Linux 6.1.
        ARCH_3 = 5, "PERF_BR_NEW_ARCH_3";
        /// Architecture-specific, 4. Since Linux 6.1.
        ARCH_4 = 6, "PERF_BR_NEW_ARCH_4";
        /// Architecture-specific, 5. Since Linux 6.1.
        ARCH_5 = 7, "PERF_BR_NEW_ARCH_5";
    }
}

impl BranchNewType {
    /// One past the highest code. Since Linux 6.1.
    #[doc(alias = "PERF_BR_NEW_MAX")]
    pub const MAX: u8 = 8;
    /// `ARCH_1` on arm64: fast interrupt. Since Linux 6.1.
    #[doc(alias = "PERF_BR_ARM64_FIQ")]
    pub const ARM64_FIQ: Self = Self::ARCH_1;
    /// `ARCH_2` on arm64: debug halt. Since Linux 6.1.
    #[doc(alias = "PERF_BR_ARM64_DEBUG_HALT")]
    pub const ARM64_DEBUG_HALT: Self = Self::ARCH_2;
    /// `ARCH_3` on arm64: debug exit. Since Linux 6.1.
    #[doc(alias = "PERF_BR_ARM64_DEBUG_EXIT")]
    pub const ARM64_DEBUG_EXIT: Self = Self::ARCH_3;
    /// `ARCH_4` on arm64: instruction debug exception. Since Linux 6.1.
    #[doc(alias = "PERF_BR_ARM64_DEBUG_INST")]
    pub const ARM64_DEBUG_INST: Self = Self::ARCH_4;
    /// `ARCH_5` on arm64: data debug exception. Since Linux 6.1.
    #[doc(alias = "PERF_BR_ARM64_DEBUG_DATA")]
    pub const ARM64_DEBUG_DATA: Self = Self::ARCH_5;
}

codes! {
    /// The outcome of speculation for a branch (`perf_branch_entry.spec`), two bits.
    ///
    /// Kernel: the `PERF_BR_SPEC_*` enum.
    pub struct BranchSpec(u8) {
        /// Not available. Since Linux 6.1.
        NA = 0, "PERF_BR_SPEC_NA";
        /// Speculative, on the wrong path. Since Linux 6.1.
        WRONG_PATH = 1, "PERF_BR_SPEC_WRONG_PATH";
        /// Not speculative, on the correct path. Since Linux 6.1.
        NON_SPEC_CORRECT_PATH = 2, "PERF_BR_NON_SPEC_CORRECT_PATH";
        /// Speculative, on the correct path. Since Linux 6.1.
        CORRECT_PATH = 3, "PERF_BR_SPEC_CORRECT_PATH";
    }
}

impl BranchSpec {
    /// One past the highest code. Since Linux 6.1.
    #[doc(alias = "PERF_BR_SPEC_MAX")]
    pub const MAX: u8 = 4;
}

codes! {
    /// The privilege level at which a branch ran (`perf_branch_entry.priv`), three bits.
    ///
    /// Recorded with [`BranchSampleType::PRIV_SAVE`]. Kernel: the `PERF_BR_PRIV_*` enum.
    pub struct BranchPriv(u8) {
        /// Unknown. Since Linux 6.1.
        UNKNOWN = 0, "PERF_BR_PRIV_UNKNOWN";
        /// User space. Since Linux 6.1.
        USER = 1, "PERF_BR_PRIV_USER";
        /// Kernel. Since Linux 6.1.
        KERNEL = 2, "PERF_BR_PRIV_KERNEL";
        /// Hypervisor. Since Linux 6.1.
        HV = 3, "PERF_BR_PRIV_HV";
    }
}

flags! {
    /// The third word of a branch entry, in its little-endian layout.
    ///
    /// A big-endian machine allocates the fields from the highest bit; [`BranchEntry::flags`] converts them.
    ///
    /// Kernel: `struct perf_branch_entry`.
    pub struct BranchFlags(u64) {
        /// The target was mispredicted. Since Linux 3.4.
        MISPRED = 1 << 0, "mispred";
        /// The target was predicted. Since Linux 3.4.
        PREDICTED = 1 << 1, "predicted";
        /// In a transaction. Since Linux 3.11.
        IN_TX = 1 << 2, "in_tx";
        /// A transaction was aborted. Since Linux 3.11.
        ABORT = 1 << 3, "abort";
    }
    fields {
        /// Cycles since the last branch; 0 if unknown. Since Linux 4.3.
        cycles / with_cycles: u16(u16) = 4, 16;
        /// The kind of branch. Since Linux 4.14.
        kind / with_kind: BranchType(u8) = 20, 4, "type";
        /// The outcome of speculation. Since Linux 6.1.
        spec / with_spec: BranchSpec(u8) = 24, 2;
        /// The kind of branch if `kind` is `EXTEND_ABI`. Since Linux 6.1.
        new_type / with_new_type: BranchNewType(u8) = 26, 4;
        /// The privilege level. Since Linux 6.1.
        privilege / with_privilege: BranchPriv(u8) = 30, 3, "priv";
    }
    reserved { 33, 31 }
}

impl BranchFlags {
    /// The number of bits in use, counted from the lowest. Since Linux 6.8.
    #[doc(alias = "PERF_BRANCH_ENTRY_INFO_BITS_MAX")]
    pub const INFO_BITS_MAX: u32 = 33;

    /// Returns the flags of the word that a record in byte order `O` contains.
    #[must_use]
    #[inline]
    pub fn from_word<O: Endian>(word: U64<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(bitfields_from_be(word.get(), Self::FIELDS)),
        }
    }

    /// Returns the word for a record in byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U64<O> {
        match O::ENDIANNESS {
            Endianness::Little => U64::new(self.0),
            Endianness::Big => U64::new(bitfields_to_be(self.0, Self::FIELDS)),
        }
    }
}

/// One branch: its address, its target and its flags.
///
/// Kernel: `struct perf_branch_entry`; since Linux 3.4.
///
/// # Examples
///
/// ```
/// use perf_abi::branch::{BranchEntry, BranchFlags, BranchType};
/// use perf_abi::endian::BigEndian;
/// let flags = BranchFlags::PREDICTED.with_cycles(12).with_kind(BranchType::CALL);
/// let entry = BranchEntry::<BigEndian>::new(0x1000, 0x2000, flags);
/// assert_eq!(entry.flags().to_string(), "PREDICTED cycles=12 type=CALL");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_branch_entry")]
pub struct BranchEntry<O: Endian> {
    /// Address of the branch instruction.
    pub from: U64<O>,
    /// Address of the target.
    pub to: U64<O>,
    /// The word of bit-fields as recorded; [`flags`](Self::flags) decodes it.
    pub raw_flags: U64<O>,
}

impl<O: Endian> BranchEntry<O> {
    /// Returns an entry with these native values.
    #[must_use]
    pub fn new(from: u64, to: u64, flags: BranchFlags) -> Self {
        Self { from: U64::new(from), to: U64::new(to), raw_flags: flags.to_word() }
    }

    /// Returns the flags of the branch, in the same layout for both byte orders.
    #[must_use]
    #[inline]
    pub fn flags(&self) -> BranchFlags {
        BranchFlags::from_word(self.raw_flags)
    }

    /// Returns whether the perf tool marked the branch as not taken, in a branch stack
    /// synthesised from AUX data.
    ///
    /// The bit is `not_taken` of the tool's `struct branch_flags`. The kernel calls it reserved. It is bit 33
    /// of a little-endian word and bit 30 of a big-endian one.
    #[must_use]
    pub fn not_taken(&self) -> bool {
        let bit = match O::ENDIANNESS {
            Endianness::Little => 1 << 33,
            Endianness::Big => 1 << 30,
        };
        self.raw_flags.get() & bit != 0
    }
}

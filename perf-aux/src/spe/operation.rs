//! Operation type packets: the class in the header, the subclass in the payload.

code_word! {
    /// The class of an operation: the low two bits of the packet's header.
    ///
    /// perf: `SPE_OP_PKT_HDR_CLASS_*`.
    pub struct OperationClass(u8) {
        /// Neither of the others; vector and matrix operations that access no memory.
        OTHER = 0, "SPE_OP_PKT_HDR_CLASS_OTHER";
        /// A load, a store, or an atomic access.
        LOAD_STORE = 1, "SPE_OP_PKT_HDR_CLASS_LD_ST_ATOMIC";
        /// A branch or an exception return.
        BRANCH = 2, "SPE_OP_PKT_HDR_CLASS_BR_ERET";
    }
}

flag_word! {
    /// What a record's operation is. The class is one of the three low bits.
    ///
    /// The bits of branches are also used by loads and stores, so they have a meaning only together with the class.
    /// perf's decoder uses the same numbers.
    ///
    /// perf: `enum arm_spe_op_type`, `enum arm_spe_2nd_op_ldst`, `enum arm_spe_2nd_op_branch`.
    pub struct Operation(u32) {
        /// Class: other.
        OTHER = 1 << 0, "ARM_SPE_OP_OTHER";
        /// Class: a load or store.
        LDST = 1 << 1, "ARM_SPE_OP_LDST";
        /// Class: a branch or exception return.
        BRANCH_ERET = 1 << 2, "ARM_SPE_OP_BRANCH_ERET";

        /// Accesses general-purpose registers.
        GP_REG = 1 << 8, "ARM_SPE_OP_GP_REG";
        /// Accesses registers that are not specified.
        UNSPEC_REG = 1 << 9, "ARM_SPE_OP_UNSPEC_REG";
        /// Accesses a system register in memory, in nested virtualisation.
        NV_SYSREG = 1 << 10, "ARM_SPE_OP_NV_SYSREG";
        /// Accesses SIMD and floating-point registers.
        SIMD_FP = 1 << 11, "ARM_SPE_OP_SIMD_FP";
        /// A vector operation (SVE).
        SVE = 1 << 12, "ARM_SPE_OP_SVE";
        /// Accesses memory tags (MTE).
        MTE_TAG = 1 << 13, "ARM_SPE_OP_MTE_TAG";
        /// Copies memory.
        MEMCPY = 1 << 14, "ARM_SPE_OP_MEMCPY";
        /// Sets memory.
        MEMSET = 1 << 15, "ARM_SPE_OP_MEMSET";
        /// Accesses the guarded control stack.
        GCS = 1 << 16, "ARM_SPE_OP_GCS";
        /// A matrix operation (SME).
        SME = 1 << 17, "ARM_SPE_OP_SME";
        /// An Advanced SIMD operation.
        ASE = 1 << 18, "ARM_SPE_OP_ASE";
        /// A load.
        LD = 1 << 20, "ARM_SPE_OP_LD";
        /// A store.
        ST = 1 << 21, "ARM_SPE_OP_ST";
        /// An atomic access.
        ATOMIC = 1 << 22, "ARM_SPE_OP_ATOMIC";
        /// An exclusive access.
        EXCL = 1 << 23, "ARM_SPE_OP_EXCL";
        /// Acquires or releases.
        AR = 1 << 24, "ARM_SPE_OP_AR";
        /// Processes data.
        DP = 1 << 25, "ARM_SPE_OP_DP";
        /// Predicated.
        PRED = 1 << 26, "ARM_SPE_OP_PRED";
        /// Gathers or scatters.
        SG = 1 << 27, "ARM_SPE_OP_SG";
        /// A common operation of the guarded control stack.
        COMM = 1 << 28, "ARM_SPE_OP_COMM";
        /// Floating-point.
        FP = 1 << 29, "ARM_SPE_OP_FP";
        /// Conditional.
        COND = 1 << 30, "ARM_SPE_OP_COND";

        /// Of a branch: conditional.
        BR_COND = 1 << 8, "ARM_SPE_OP_BR_COND";
        /// Of a branch: indirect.
        BR_INDIRECT = 1 << 9, "ARM_SPE_OP_BR_INDIRECT";
        /// Of a branch: uses the guarded control stack.
        BR_GCS = 1 << 10, "ARM_SPE_OP_BR_GCS";
        /// Of a branch: with link, a call.
        BR_CR_BL = 1 << 11, "ARM_SPE_OP_BR_CR_BL";
        /// Of a branch: a return.
        BR_CR_RET = 1 << 12, "ARM_SPE_OP_BR_CR_RET";
        /// Of a branch: neither with link nor a return.
        BR_CR_NON_BL_RET = 1 << 13, "ARM_SPE_OP_BR_CR_NON_BL_RET";
    }
}

/// An operation type packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationPacket {
    /// The class: 0 to 3.
    pub class: OperationClass,
    /// The payload: the subclass and its details.
    pub payload: u8,
}

/// Returns the second flag if the bits of the first are set in `payload`.
const fn when(payload: u8, bits: u8, flag: Operation) -> u32 {
    if payload & bits == bits { flag.0 } else { 0 }
}

impl OperationPacket {
    /// Returns what the packet says of an operation; `None` for class 3, which is reserved.
    ///
    /// A subclass that is not known adds no flag to the class.
    ///
    /// perf: `arm_spe_read_record`.
    #[must_use]
    #[inline]
    pub const fn operation(self) -> Option<Operation> {
        match self.class {
            OperationClass::OTHER => Some(Operation(Operation::OTHER.0 | other(self.payload))),
            OperationClass::LOAD_STORE => Some(Operation(Operation::LDST.0 | load_store(self.payload))),
            OperationClass::BRANCH => Some(Operation(Operation::BRANCH_ERET.0 | branch(self.payload))),
            _ => None,
        }
    }

    /// Returns the effective vector length of an SVE operation, in bits. Only meaningful for one of these.
    pub(super) const fn vector_length(self) -> u32 {
        32 << (self.payload >> 4 & 7)
    }

    /// Returns the effective vector length or tile size of an SME operation, in bits. Only meaningful for one of these.
    pub(super) const fn tile_size(self) -> u32 {
        128 << (self.payload >> 3 & 0xe | self.payload >> 2 & 1)
    }

    /// Returns the size of the vectors or tiles of an SVE or SME operation, in bits; `None` for another operation.
    #[must_use]
    pub const fn effective_length(self) -> Option<u32> {
        match (self.class, Other::of(self.payload), LoadStore::of(self.payload)) {
            (OperationClass::OTHER, Some(Other::Sve), _) => Some(self.vector_length()),
            (OperationClass::OTHER, Some(Other::Sme), _) => Some(self.tile_size()),
            (OperationClass::LOAD_STORE, _, Some(LoadStore::Sve)) => Some(self.vector_length()),
            _ => None,
        }
    }
}

/// The subclasses of the class [`OperationClass::OTHER`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Scalar,
    Sve,
    Sme,
}

impl Other {
    /// Returns the subclass of a payload; `None` if the value is reserved.
    pub(super) const fn of(payload: u8) -> Option<Self> {
        match payload {
            _ if payload & 0x89 == 0x08 => Some(Self::Sve),
            _ if payload & 0x89 == 0x88 => Some(Self::Sme),
            _ if payload & 0xf8 == 0 => Some(Self::Scalar),
            _ => None,
        }
    }
}

const fn other(payload: u8) -> u32 {
    match Other::of(payload) {
        Some(Other::Sve) => {
            Operation::SVE.0
                | Operation::DP.0
                | when(payload, 2, Operation::FP)
                | when(payload, 4, Operation::PRED)
        }
        Some(Other::Sme) => Operation::SME.0 | when(payload, 2, Operation::FP),
        Some(Other::Scalar) => {
            when(payload, 4, Operation::ASE)
                | when(payload, 2, Operation::FP)
                | when(payload, 1, Operation::COND)
        }
        None => 0,
    }
}

/// The subclasses of the class [`OperationClass::LOAD_STORE`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadStore {
    Extended,
    SimdFp,
    GpReg,
    UnspecReg,
    NvSysreg,
    MteTag,
    Memcpy,
    Memset,
    Sve,
    Gcs,
}

impl LoadStore {
    /// Returns the subclass of a payload, whose lowest bit tells stores from loads; `None` if the value is reserved.
    pub(super) const fn of(payload: u8) -> Option<Self> {
        match payload & 0xfe {
            0x00 => Some(Self::GpReg),
            0x04 => Some(Self::SimdFp),
            0x10 => Some(Self::UnspecReg),
            0x14 => Some(Self::MteTag),
            0x20 => Some(Self::Memcpy),
            0x30 => Some(Self::NvSysreg),
            // Memory is set by stores only.
            0x24 if payload & 1 != 0 => Some(Self::Memset),
            bits if bits & 0xe2 == 0x02 => Some(Self::Extended),
            bits if bits & 0x0a == 0x08 => Some(Self::Sve),
            bits if bits & 0xfa == 0x40 => Some(Self::Gcs),
            _ => None,
        }
    }
}

const fn load_store(payload: u8) -> u32 {
    let direction = if payload & 1 != 0 { Operation::ST } else { Operation::LD };
    let subclass = match LoadStore::of(payload) {
        Some(LoadStore::GpReg) => Operation::GP_REG.0,
        Some(LoadStore::SimdFp) => Operation::SIMD_FP.0,
        Some(LoadStore::UnspecReg) => Operation::UNSPEC_REG.0,
        Some(LoadStore::NvSysreg) => Operation::NV_SYSREG.0,
        Some(LoadStore::MteTag) => Operation::MTE_TAG.0,
        Some(LoadStore::Memcpy) => Operation::MEMCPY.0,
        Some(LoadStore::Memset) => Operation::MEMSET.0,
        Some(LoadStore::Extended) => {
            when(payload, 4, Operation::ATOMIC)
                | when(payload, 8, Operation::EXCL)
                | when(payload, 0x10, Operation::AR)
        }
        Some(LoadStore::Sve) => {
            Operation::SVE.0 | when(payload, 4, Operation::PRED) | when(payload, 0x80, Operation::SG)
        }
        Some(LoadStore::Gcs) => Operation::GCS.0 | when(payload, 4, Operation::COMM),
        None => 0,
    };
    direction.0 | subclass
}

const fn branch(payload: u8) -> u32 {
    let control = match payload >> 3 & 3 {
        1 => Operation::BR_CR_BL.0,
        2 => Operation::BR_CR_RET.0,
        3 => Operation::BR_CR_NON_BL_RET.0,
        _ => 0,
    };
    control
        | when(payload, 1, Operation::BR_COND)
        | when(payload, 2, Operation::BR_INDIRECT)
        | when(payload, 4, Operation::BR_GCS)
}

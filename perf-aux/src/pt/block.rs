//! Blocks of values, such as the registers of a PEBS record.

/// Bytes of the values of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockSize {
    /// 4 bytes.
    Four,
    /// 8 bytes.
    Eight,
}

impl BlockSize {
    /// Returns the number of bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// Type of the values of a block, 5 bits.
///
/// perf: `enum intel_pt_blk_type`, `tools/perf/util/intel-pt-decoder/intel-pt-decoder.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockType(pub u8);

impl BlockType {
    /// General-purpose registers, flags and instruction pointer.
    #[doc(alias = "INTEL_PT_GP_REGS")]
    pub const GP_REGS: Self = Self(1);
    /// PEBS: the basic group.
    #[doc(alias = "INTEL_PT_PEBS_BASIC")]
    pub const PEBS_BASIC: Self = Self(4);
    /// PEBS: the memory access.
    #[doc(alias = "INTEL_PT_PEBS_MEM")]
    pub const PEBS_MEM: Self = Self(5);
    /// Last branch records 0 to 9.
    #[doc(alias = "INTEL_PT_LBR_0")]
    pub const LBR_0: Self = Self(8);
    /// Last branch records 10 to 19.
    #[doc(alias = "INTEL_PT_LBR_1")]
    pub const LBR_1: Self = Self(9);
    /// Last branch records 20 to 29.
    #[doc(alias = "INTEL_PT_LBR_2")]
    pub const LBR_2: Self = Self(10);
    /// XMM registers.
    #[doc(alias = "INTEL_PT_XMM")]
    pub const XMM: Self = Self(16);
}

//! The registers of Power, 32 and 64 bits.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/powerpc/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// General register R0.
        R0 = 0, "PERF_REG_POWERPC_R0";
        /// General register R1.
        R1 = 1, "PERF_REG_POWERPC_R1";
        /// General register R2.
        R2 = 2, "PERF_REG_POWERPC_R2";
        /// General register R3.
        R3 = 3, "PERF_REG_POWERPC_R3";
        /// General register R4.
        R4 = 4, "PERF_REG_POWERPC_R4";
        /// General register R5.
        R5 = 5, "PERF_REG_POWERPC_R5";
        /// General register R6.
        R6 = 6, "PERF_REG_POWERPC_R6";
        /// General register R7.
        R7 = 7, "PERF_REG_POWERPC_R7";
        /// General register R8.
        R8 = 8, "PERF_REG_POWERPC_R8";
        /// General register R9.
        R9 = 9, "PERF_REG_POWERPC_R9";
        /// General register R10.
        R10 = 10, "PERF_REG_POWERPC_R10";
        /// General register R11.
        R11 = 11, "PERF_REG_POWERPC_R11";
        /// General register R12.
        R12 = 12, "PERF_REG_POWERPC_R12";
        /// General register R13.
        R13 = 13, "PERF_REG_POWERPC_R13";
        /// General register R14.
        R14 = 14, "PERF_REG_POWERPC_R14";
        /// General register R15.
        R15 = 15, "PERF_REG_POWERPC_R15";
        /// General register R16.
        R16 = 16, "PERF_REG_POWERPC_R16";
        /// General register R17.
        R17 = 17, "PERF_REG_POWERPC_R17";
        /// General register R18.
        R18 = 18, "PERF_REG_POWERPC_R18";
        /// General register R19.
        R19 = 19, "PERF_REG_POWERPC_R19";
        /// General register R20.
        R20 = 20, "PERF_REG_POWERPC_R20";
        /// General register R21.
        R21 = 21, "PERF_REG_POWERPC_R21";
        /// General register R22.
        R22 = 22, "PERF_REG_POWERPC_R22";
        /// General register R23.
        R23 = 23, "PERF_REG_POWERPC_R23";
        /// General register R24.
        R24 = 24, "PERF_REG_POWERPC_R24";
        /// General register R25.
        R25 = 25, "PERF_REG_POWERPC_R25";
        /// General register R26.
        R26 = 26, "PERF_REG_POWERPC_R26";
        /// General register R27.
        R27 = 27, "PERF_REG_POWERPC_R27";
        /// General register R28.
        R28 = 28, "PERF_REG_POWERPC_R28";
        /// General register R29.
        R29 = 29, "PERF_REG_POWERPC_R29";
        /// General register R30.
        R30 = 30, "PERF_REG_POWERPC_R30";
        /// General register R31.
        R31 = 31, "PERF_REG_POWERPC_R31";
        /// Next instruction pointer.
        NIP = 32, "PERF_REG_POWERPC_NIP";
        /// Machine state.
        MSR = 33, "PERF_REG_POWERPC_MSR";
        /// R3 at system call entry.
        ORIG_R3 = 34, "PERF_REG_POWERPC_ORIG_R3";
        /// Count register.
        CTR = 35, "PERF_REG_POWERPC_CTR";
        /// Link register.
        LINK = 36, "PERF_REG_POWERPC_LINK";
        /// Fixed-point exception register.
        XER = 37, "PERF_REG_POWERPC_XER";
        /// Condition register.
        CCR = 38, "PERF_REG_POWERPC_CCR";
        /// The kernel's soft interrupt mask.
        SOFTE = 39, "PERF_REG_POWERPC_SOFTE";
        /// Number of the interrupt.
        TRAP = 40, "PERF_REG_POWERPC_TRAP";
        /// Data address.
        DAR = 41, "PERF_REG_POWERPC_DAR";
        /// Data storage interrupt status.
        DSISR = 42, "PERF_REG_POWERPC_DSISR";
        /// Sampled instruction event register.
        SIER = 43, "PERF_REG_POWERPC_SIER";
        /// Monitor mode control A.
        MMCRA = 44, "PERF_REG_POWERPC_MMCRA";
        /// Monitor mode control 0.
        MMCR0 = 45, "PERF_REG_POWERPC_MMCR0";
        /// Monitor mode control 1.
        MMCR1 = 46, "PERF_REG_POWERPC_MMCR1";
        /// Monitor mode control 2.
        MMCR2 = 47, "PERF_REG_POWERPC_MMCR2";
        /// Monitor mode control 3.
        MMCR3 = 48, "PERF_REG_POWERPC_MMCR3";
        /// Sampled instruction event register 2.
        SIER2 = 49, "PERF_REG_POWERPC_SIER2";
        /// Sampled instruction event register 3.
        SIER3 = 50, "PERF_REG_POWERPC_SIER3";
        /// Performance monitor counter 1.
        PMC1 = 51, "PERF_REG_POWERPC_PMC1";
        /// Performance monitor counter 2.
        PMC2 = 52, "PERF_REG_POWERPC_PMC2";
        /// Performance monitor counter 3.
        PMC3 = 53, "PERF_REG_POWERPC_PMC3";
        /// Performance monitor counter 4.
        PMC4 = 54, "PERF_REG_POWERPC_PMC4";
        /// Performance monitor counter 5.
        PMC5 = 55, "PERF_REG_POWERPC_PMC5";
        /// Performance monitor counter 6.
        PMC6 = 56, "PERF_REG_POWERPC_PMC6";
        /// Sampled data address.
        SDAR = 57, "PERF_REG_POWERPC_SDAR";
        /// Sampled instruction address.
        SIAR = 58, "PERF_REG_POWERPC_SIAR";
    }
}

impl Reg {
    /// One past the highest register that every machine has.
    #[doc(alias = "PERF_REG_POWERPC_MAX")]
    pub const MAX: u8 = 45;
    /// One past the highest register.
    #[doc(alias = "PERF_REG_EXTENDED_MAX")]
    pub const EXTENDED_MAX: u8 = 59;
    /// The registers that every machine has.
    #[doc(alias = "PERF_REG_PMU_MASK")]
    pub const PMU_MASK: u64 = (1 << Self::MAX) - 1;
    /// The additional registers of POWER9 (ISA 3.0).
    #[doc(alias = "PERF_REG_PMU_MASK_300")]
    pub const PMU_MASK_300: u64 = 0x7f8_e000_0000_0000;
    /// The additional registers of POWER10 (ISA 3.1).
    #[doc(alias = "PERF_REG_PMU_MASK_31")]
    pub const PMU_MASK_31: u64 = 0x7ff_e000_0000_0000;
}

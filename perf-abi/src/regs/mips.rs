//! The registers of MIPS.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/mips/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// Program counter, instead of the zero register.
        PC = 0, "PERF_REG_MIPS_PC";
        /// General register R1.
        R1 = 1, "PERF_REG_MIPS_R1";
        /// General register R2.
        R2 = 2, "PERF_REG_MIPS_R2";
        /// General register R3.
        R3 = 3, "PERF_REG_MIPS_R3";
        /// General register R4.
        R4 = 4, "PERF_REG_MIPS_R4";
        /// General register R5.
        R5 = 5, "PERF_REG_MIPS_R5";
        /// General register R6.
        R6 = 6, "PERF_REG_MIPS_R6";
        /// General register R7.
        R7 = 7, "PERF_REG_MIPS_R7";
        /// General register R8.
        R8 = 8, "PERF_REG_MIPS_R8";
        /// General register R9.
        R9 = 9, "PERF_REG_MIPS_R9";
        /// General register R10.
        R10 = 10, "PERF_REG_MIPS_R10";
        /// General register R11.
        R11 = 11, "PERF_REG_MIPS_R11";
        /// General register R12.
        R12 = 12, "PERF_REG_MIPS_R12";
        /// General register R13.
        R13 = 13, "PERF_REG_MIPS_R13";
        /// General register R14.
        R14 = 14, "PERF_REG_MIPS_R14";
        /// General register R15.
        R15 = 15, "PERF_REG_MIPS_R15";
        /// General register R16.
        R16 = 16, "PERF_REG_MIPS_R16";
        /// General register R17.
        R17 = 17, "PERF_REG_MIPS_R17";
        /// General register R18.
        R18 = 18, "PERF_REG_MIPS_R18";
        /// General register R19.
        R19 = 19, "PERF_REG_MIPS_R19";
        /// General register R20.
        R20 = 20, "PERF_REG_MIPS_R20";
        /// General register R21.
        R21 = 21, "PERF_REG_MIPS_R21";
        /// General register R22.
        R22 = 22, "PERF_REG_MIPS_R22";
        /// General register R23.
        R23 = 23, "PERF_REG_MIPS_R23";
        /// General register R24.
        R24 = 24, "PERF_REG_MIPS_R24";
        /// General register R25.
        R25 = 25, "PERF_REG_MIPS_R25";
        /// General register R26.
        R26 = 26, "PERF_REG_MIPS_R26";
        /// General register R27.
        R27 = 27, "PERF_REG_MIPS_R27";
        /// General register R28.
        R28 = 28, "PERF_REG_MIPS_R28";
        /// General register R29.
        R29 = 29, "PERF_REG_MIPS_R29";
        /// General register R30.
        R30 = 30, "PERF_REG_MIPS_R30";
        /// General register R31.
        R31 = 31, "PERF_REG_MIPS_R31";
    }
}

impl Reg {
    /// One past the highest register.
    #[doc(alias = "PERF_REG_MIPS_MAX")]
    pub const MAX: u8 = 32;
}

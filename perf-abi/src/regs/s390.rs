//! The registers of s390.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/s390/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// General register R0.
        R0 = 0, "PERF_REG_S390_R0";
        /// General register R1.
        R1 = 1, "PERF_REG_S390_R1";
        /// General register R2.
        R2 = 2, "PERF_REG_S390_R2";
        /// General register R3.
        R3 = 3, "PERF_REG_S390_R3";
        /// General register R4.
        R4 = 4, "PERF_REG_S390_R4";
        /// General register R5.
        R5 = 5, "PERF_REG_S390_R5";
        /// General register R6.
        R6 = 6, "PERF_REG_S390_R6";
        /// General register R7.
        R7 = 7, "PERF_REG_S390_R7";
        /// General register R8.
        R8 = 8, "PERF_REG_S390_R8";
        /// General register R9.
        R9 = 9, "PERF_REG_S390_R9";
        /// General register R10.
        R10 = 10, "PERF_REG_S390_R10";
        /// General register R11.
        R11 = 11, "PERF_REG_S390_R11";
        /// General register R12.
        R12 = 12, "PERF_REG_S390_R12";
        /// General register R13.
        R13 = 13, "PERF_REG_S390_R13";
        /// General register R14.
        R14 = 14, "PERF_REG_S390_R14";
        /// General register R15.
        R15 = 15, "PERF_REG_S390_R15";
        /// Floating-point register 0.
        FP0 = 16, "PERF_REG_S390_FP0";
        /// Floating-point register 1.
        FP1 = 17, "PERF_REG_S390_FP1";
        /// Floating-point register 2.
        FP2 = 18, "PERF_REG_S390_FP2";
        /// Floating-point register 3.
        FP3 = 19, "PERF_REG_S390_FP3";
        /// Floating-point register 4.
        FP4 = 20, "PERF_REG_S390_FP4";
        /// Floating-point register 5.
        FP5 = 21, "PERF_REG_S390_FP5";
        /// Floating-point register 6.
        FP6 = 22, "PERF_REG_S390_FP6";
        /// Floating-point register 7.
        FP7 = 23, "PERF_REG_S390_FP7";
        /// Floating-point register 8.
        FP8 = 24, "PERF_REG_S390_FP8";
        /// Floating-point register 9.
        FP9 = 25, "PERF_REG_S390_FP9";
        /// Floating-point register 10.
        FP10 = 26, "PERF_REG_S390_FP10";
        /// Floating-point register 11.
        FP11 = 27, "PERF_REG_S390_FP11";
        /// Floating-point register 12.
        FP12 = 28, "PERF_REG_S390_FP12";
        /// Floating-point register 13.
        FP13 = 29, "PERF_REG_S390_FP13";
        /// Floating-point register 14.
        FP14 = 30, "PERF_REG_S390_FP14";
        /// Floating-point register 15.
        FP15 = 31, "PERF_REG_S390_FP15";
        /// Mask half of the program status word.
        MASK = 32, "PERF_REG_S390_MASK";
        /// Address half of the program status word.
        PC = 33, "PERF_REG_S390_PC";
    }
}

impl Reg {
    /// One past the highest register.
    #[doc(alias = "PERF_REG_S390_MAX")]
    pub const MAX: u8 = 34;
}

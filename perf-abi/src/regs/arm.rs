//! The registers of 32-bit Arm.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/arm/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// General register R0.
        R0 = 0, "PERF_REG_ARM_R0";
        /// General register R1.
        R1 = 1, "PERF_REG_ARM_R1";
        /// General register R2.
        R2 = 2, "PERF_REG_ARM_R2";
        /// General register R3.
        R3 = 3, "PERF_REG_ARM_R3";
        /// General register R4.
        R4 = 4, "PERF_REG_ARM_R4";
        /// General register R5.
        R5 = 5, "PERF_REG_ARM_R5";
        /// General register R6.
        R6 = 6, "PERF_REG_ARM_R6";
        /// General register R7.
        R7 = 7, "PERF_REG_ARM_R7";
        /// General register R8.
        R8 = 8, "PERF_REG_ARM_R8";
        /// General register R9.
        R9 = 9, "PERF_REG_ARM_R9";
        /// General register R10.
        R10 = 10, "PERF_REG_ARM_R10";
        /// Frame pointer, R11.
        FP = 11, "PERF_REG_ARM_FP";
        /// Intra-procedure scratch, R12.
        IP = 12, "PERF_REG_ARM_IP";
        /// Stack pointer, R13.
        SP = 13, "PERF_REG_ARM_SP";
        /// Link register, R14.
        LR = 14, "PERF_REG_ARM_LR";
        /// Program counter, R15.
        PC = 15, "PERF_REG_ARM_PC";
    }
}

impl Reg {
    /// One past the highest register.
    #[doc(alias = "PERF_REG_ARM_MAX")]
    pub const MAX: u8 = 16;
}

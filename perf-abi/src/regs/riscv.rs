//! The registers of RISC-V.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/riscv/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// Program counter.
        PC = 0, "PERF_REG_RISCV_PC";
        /// Return address.
        RA = 1, "PERF_REG_RISCV_RA";
        /// Stack pointer.
        SP = 2, "PERF_REG_RISCV_SP";
        /// Global pointer.
        GP = 3, "PERF_REG_RISCV_GP";
        /// Thread pointer.
        TP = 4, "PERF_REG_RISCV_TP";
        /// Temporary 0.
        T0 = 5, "PERF_REG_RISCV_T0";
        /// Temporary 1.
        T1 = 6, "PERF_REG_RISCV_T1";
        /// Temporary 2.
        T2 = 7, "PERF_REG_RISCV_T2";
        /// Saved register 0.
        S0 = 8, "PERF_REG_RISCV_S0";
        /// Saved register 1.
        S1 = 9, "PERF_REG_RISCV_S1";
        /// Argument 0.
        A0 = 10, "PERF_REG_RISCV_A0";
        /// Argument 1.
        A1 = 11, "PERF_REG_RISCV_A1";
        /// Argument 2.
        A2 = 12, "PERF_REG_RISCV_A2";
        /// Argument 3.
        A3 = 13, "PERF_REG_RISCV_A3";
        /// Argument 4.
        A4 = 14, "PERF_REG_RISCV_A4";
        /// Argument 5.
        A5 = 15, "PERF_REG_RISCV_A5";
        /// Argument 6.
        A6 = 16, "PERF_REG_RISCV_A6";
        /// Argument 7.
        A7 = 17, "PERF_REG_RISCV_A7";
        /// Saved register 2.
        S2 = 18, "PERF_REG_RISCV_S2";
        /// Saved register 3.
        S3 = 19, "PERF_REG_RISCV_S3";
        /// Saved register 4.
        S4 = 20, "PERF_REG_RISCV_S4";
        /// Saved register 5.
        S5 = 21, "PERF_REG_RISCV_S5";
        /// Saved register 6.
        S6 = 22, "PERF_REG_RISCV_S6";
        /// Saved register 7.
        S7 = 23, "PERF_REG_RISCV_S7";
        /// Saved register 8.
        S8 = 24, "PERF_REG_RISCV_S8";
        /// Saved register 9.
        S9 = 25, "PERF_REG_RISCV_S9";
        /// Saved register 10.
        S10 = 26, "PERF_REG_RISCV_S10";
        /// Saved register 11.
        S11 = 27, "PERF_REG_RISCV_S11";
        /// Temporary 3.
        T3 = 28, "PERF_REG_RISCV_T3";
        /// Temporary 4.
        T4 = 29, "PERF_REG_RISCV_T4";
        /// Temporary 5.
        T5 = 30, "PERF_REG_RISCV_T5";
        /// Temporary 6.
        T6 = 31, "PERF_REG_RISCV_T6";
    }
}

impl Reg {
    /// One past the highest register.
    #[doc(alias = "PERF_REG_RISCV_MAX")]
    pub const MAX: u8 = 32;
}

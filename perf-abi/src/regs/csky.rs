//! The registers of C-SKY.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/csky/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// Thread pointer.
        TLS = 0, "PERF_REG_CSKY_TLS";
        /// Link register.
        LR = 1, "PERF_REG_CSKY_LR";
        /// Program counter.
        PC = 2, "PERF_REG_CSKY_PC";
        /// Status.
        SR = 3, "PERF_REG_CSKY_SR";
        /// Stack pointer.
        SP = 4, "PERF_REG_CSKY_SP";
        /// A0 at system call entry.
        ORIG_A0 = 5, "PERF_REG_CSKY_ORIG_A0";
        /// Argument 0.
        A0 = 6, "PERF_REG_CSKY_A0";
        /// Argument 1.
        A1 = 7, "PERF_REG_CSKY_A1";
        /// Argument 2.
        A2 = 8, "PERF_REG_CSKY_A2";
        /// Argument 3.
        A3 = 9, "PERF_REG_CSKY_A3";
        /// General register 0 of those a call preserves.
        REGS0 = 10, "PERF_REG_CSKY_REGS0";
        /// General register 1 of those a call preserves.
        REGS1 = 11, "PERF_REG_CSKY_REGS1";
        /// General register 2 of those a call preserves.
        REGS2 = 12, "PERF_REG_CSKY_REGS2";
        /// General register 3 of those a call preserves.
        REGS3 = 13, "PERF_REG_CSKY_REGS3";
        /// General register 4 of those a call preserves.
        REGS4 = 14, "PERF_REG_CSKY_REGS4";
        /// General register 5 of those a call preserves.
        REGS5 = 15, "PERF_REG_CSKY_REGS5";
        /// General register 6 of those a call preserves.
        REGS6 = 16, "PERF_REG_CSKY_REGS6";
        /// General register 7 of those a call preserves.
        REGS7 = 17, "PERF_REG_CSKY_REGS7";
        /// General register 8 of those a call preserves.
        REGS8 = 18, "PERF_REG_CSKY_REGS8";
        /// General register 9 of those a call preserves.
        REGS9 = 19, "PERF_REG_CSKY_REGS9";
        /// Extended general register 0.
        EXREGS0 = 20, "PERF_REG_CSKY_EXREGS0";
        /// Extended general register 1.
        EXREGS1 = 21, "PERF_REG_CSKY_EXREGS1";
        /// Extended general register 2.
        EXREGS2 = 22, "PERF_REG_CSKY_EXREGS2";
        /// Extended general register 3.
        EXREGS3 = 23, "PERF_REG_CSKY_EXREGS3";
        /// Extended general register 4.
        EXREGS4 = 24, "PERF_REG_CSKY_EXREGS4";
        /// Extended general register 5.
        EXREGS5 = 25, "PERF_REG_CSKY_EXREGS5";
        /// Extended general register 6.
        EXREGS6 = 26, "PERF_REG_CSKY_EXREGS6";
        /// Extended general register 7.
        EXREGS7 = 27, "PERF_REG_CSKY_EXREGS7";
        /// Extended general register 8.
        EXREGS8 = 28, "PERF_REG_CSKY_EXREGS8";
        /// Extended general register 9.
        EXREGS9 = 29, "PERF_REG_CSKY_EXREGS9";
        /// Extended general register 10.
        EXREGS10 = 30, "PERF_REG_CSKY_EXREGS10";
        /// Extended general register 11.
        EXREGS11 = 31, "PERF_REG_CSKY_EXREGS11";
        /// Extended general register 12.
        EXREGS12 = 32, "PERF_REG_CSKY_EXREGS12";
        /// Extended general register 13.
        EXREGS13 = 33, "PERF_REG_CSKY_EXREGS13";
        /// Extended general register 14.
        EXREGS14 = 34, "PERF_REG_CSKY_EXREGS14";
        /// Upper half of the multiply accumulator.
        HI = 35, "PERF_REG_CSKY_HI";
        /// Lower half of the multiply accumulator.
        LO = 36, "PERF_REG_CSKY_LO";
        /// DSP control and status.
        DCSR = 37, "PERF_REG_CSKY_DCSR";
    }
}

impl Reg {
    /// One past the highest register.
    #[doc(alias = "PERF_REG_CSKY_MAX")]
    pub const MAX: u8 = 38;
}

//! The registers of 64-bit Arm.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// Kernel: `arch/arm64/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// General register X0.
        X0 = 0, "PERF_REG_ARM64_X0";
        /// General register X1.
        X1 = 1, "PERF_REG_ARM64_X1";
        /// General register X2.
        X2 = 2, "PERF_REG_ARM64_X2";
        /// General register X3.
        X3 = 3, "PERF_REG_ARM64_X3";
        /// General register X4.
        X4 = 4, "PERF_REG_ARM64_X4";
        /// General register X5.
        X5 = 5, "PERF_REG_ARM64_X5";
        /// General register X6.
        X6 = 6, "PERF_REG_ARM64_X6";
        /// General register X7.
        X7 = 7, "PERF_REG_ARM64_X7";
        /// General register X8.
        X8 = 8, "PERF_REG_ARM64_X8";
        /// General register X9.
        X9 = 9, "PERF_REG_ARM64_X9";
        /// General register X10.
        X10 = 10, "PERF_REG_ARM64_X10";
        /// General register X11.
        X11 = 11, "PERF_REG_ARM64_X11";
        /// General register X12.
        X12 = 12, "PERF_REG_ARM64_X12";
        /// General register X13.
        X13 = 13, "PERF_REG_ARM64_X13";
        /// General register X14.
        X14 = 14, "PERF_REG_ARM64_X14";
        /// General register X15.
        X15 = 15, "PERF_REG_ARM64_X15";
        /// General register X16.
        X16 = 16, "PERF_REG_ARM64_X16";
        /// General register X17.
        X17 = 17, "PERF_REG_ARM64_X17";
        /// General register X18.
        X18 = 18, "PERF_REG_ARM64_X18";
        /// General register X19.
        X19 = 19, "PERF_REG_ARM64_X19";
        /// General register X20.
        X20 = 20, "PERF_REG_ARM64_X20";
        /// General register X21.
        X21 = 21, "PERF_REG_ARM64_X21";
        /// General register X22.
        X22 = 22, "PERF_REG_ARM64_X22";
        /// General register X23.
        X23 = 23, "PERF_REG_ARM64_X23";
        /// General register X24.
        X24 = 24, "PERF_REG_ARM64_X24";
        /// General register X25.
        X25 = 25, "PERF_REG_ARM64_X25";
        /// General register X26.
        X26 = 26, "PERF_REG_ARM64_X26";
        /// General register X27.
        X27 = 27, "PERF_REG_ARM64_X27";
        /// General register X28.
        X28 = 28, "PERF_REG_ARM64_X28";
        /// General register X29.
        X29 = 29, "PERF_REG_ARM64_X29";
        /// Link register, X30.
        LR = 30, "PERF_REG_ARM64_LR";
        /// Stack pointer.
        SP = 31, "PERF_REG_ARM64_SP";
        /// Program counter.
        PC = 32, "PERF_REG_ARM64_PC";
        /// Vector granule of SVE: 64-bit elements of a vector.
        VG = 46, "PERF_REG_ARM64_VG";
    }
}

impl Reg {
    /// One past the highest general register.
    #[doc(alias = "PERF_REG_ARM64_MAX")]
    pub const MAX: u8 = 33;
    /// One past the highest register.
    #[doc(alias = "PERF_REG_ARM64_EXTENDED_MAX")]
    pub const EXTENDED_MAX: u8 = 47;
    /// The registers that only some machines have.
    #[doc(alias = "PERF_REG_EXTENDED_MASK")]
    pub const EXTENDED_MASK: u64 = 1 << Self::VG.0;
}

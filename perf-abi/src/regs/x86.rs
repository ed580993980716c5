//! The registers of x86, 32 and 64 bits.

codes! {
    /// A register, by its bit in `sample_regs_user` and `sample_regs_intr`.
    ///
    /// A vector register takes two bits and two words, the low half first. Its constant is the first bit.
    ///
    /// Kernel: `arch/x86/include/uapi/asm/perf_regs.h`.
    pub struct Reg(u8) {
        /// Accumulator.
        AX = 0, "PERF_REG_X86_AX";
        /// Base.
        BX = 1, "PERF_REG_X86_BX";
        /// Counter.
        CX = 2, "PERF_REG_X86_CX";
        /// Data.
        DX = 3, "PERF_REG_X86_DX";
        /// Source index.
        SI = 4, "PERF_REG_X86_SI";
        /// Destination index.
        DI = 5, "PERF_REG_X86_DI";
        /// Frame pointer.
        BP = 6, "PERF_REG_X86_BP";
        /// Stack pointer.
        SP = 7, "PERF_REG_X86_SP";
        /// Instruction pointer.
        IP = 8, "PERF_REG_X86_IP";
        /// Flags.
        FLAGS = 9, "PERF_REG_X86_FLAGS";
        /// Code segment.
        CS = 10, "PERF_REG_X86_CS";
        /// Stack segment.
        SS = 11, "PERF_REG_X86_SS";
        /// Data segment.
        DS = 12, "PERF_REG_X86_DS";
        /// Extra segment.
        ES = 13, "PERF_REG_X86_ES";
        /// Segment FS.
        FS = 14, "PERF_REG_X86_FS";
        /// Segment GS.
        GS = 15, "PERF_REG_X86_GS";
        /// General register R8.
        R8 = 16, "PERF_REG_X86_R8";
        /// General register R9.
        R9 = 17, "PERF_REG_X86_R9";
        /// General register R10.
        R10 = 18, "PERF_REG_X86_R10";
        /// General register R11.
        R11 = 19, "PERF_REG_X86_R11";
        /// General register R12.
        R12 = 20, "PERF_REG_X86_R12";
        /// General register R13.
        R13 = 21, "PERF_REG_X86_R13";
        /// General register R14.
        R14 = 22, "PERF_REG_X86_R14";
        /// General register R15.
        R15 = 23, "PERF_REG_X86_R15";
        /// Vector register XMM0, the first of its two bits.
        XMM0 = 32, "PERF_REG_X86_XMM0";
        /// Vector register XMM1, the first of its two bits.
        XMM1 = 34, "PERF_REG_X86_XMM1";
        /// Vector register XMM2, the first of its two bits.
        XMM2 = 36, "PERF_REG_X86_XMM2";
        /// Vector register XMM3, the first of its two bits.
        XMM3 = 38, "PERF_REG_X86_XMM3";
        /// Vector register XMM4, the first of its two bits.
        XMM4 = 40, "PERF_REG_X86_XMM4";
        /// Vector register XMM5, the first of its two bits.
        XMM5 = 42, "PERF_REG_X86_XMM5";
        /// Vector register XMM6, the first of its two bits.
        XMM6 = 44, "PERF_REG_X86_XMM6";
        /// Vector register XMM7, the first of its two bits.
        XMM7 = 46, "PERF_REG_X86_XMM7";
        /// Vector register XMM8, the first of its two bits.
        XMM8 = 48, "PERF_REG_X86_XMM8";
        /// Vector register XMM9, the first of its two bits.
        XMM9 = 50, "PERF_REG_X86_XMM9";
        /// Vector register XMM10, the first of its two bits.
        XMM10 = 52, "PERF_REG_X86_XMM10";
        /// Vector register XMM11, the first of its two bits.
        XMM11 = 54, "PERF_REG_X86_XMM11";
        /// Vector register XMM12, the first of its two bits.
        XMM12 = 56, "PERF_REG_X86_XMM12";
        /// Vector register XMM13, the first of its two bits.
        XMM13 = 58, "PERF_REG_X86_XMM13";
        /// Vector register XMM14, the first of its two bits.
        XMM14 = 60, "PERF_REG_X86_XMM14";
        /// Vector register XMM15, the first of its two bits.
        XMM15 = 62, "PERF_REG_X86_XMM15";
    }
}

impl Reg {
    /// One past the highest general register of a 32-bit kernel.
    #[doc(alias = "PERF_REG_X86_32_MAX")]
    pub const MAX_32: u8 = 16;
    /// One past the highest general register of a 64-bit kernel.
    #[doc(alias = "PERF_REG_X86_64_MAX")]
    pub const MAX_64: u8 = 24;
    /// One past the highest bit of the vector registers.
    #[doc(alias = "PERF_REG_X86_XMM_MAX")]
    pub const XMM_MAX: u8 = 64;
    /// The bits of the vector registers. Only some events may request them.
    #[doc(alias = "PERF_REG_EXTENDED_MASK")]
    pub const EXTENDED_MASK: u64 = 0xffff_ffff_0000_0000;

    /// Returns the register of a bit of the mask.
    ///
    /// The second bit of a vector register returns the register of the first bit. Other bits are
    /// their own register.
    #[must_use]
    pub const fn of_bit(bit: u8) -> Self {
        match bit {
            32.. => Self(bit & !1),
            _ => Self(bit),
        }
    }
}

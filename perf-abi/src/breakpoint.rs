//! Hardware breakpoints: `perf_event_attr.bp_type` and `bp_len`.

flags! {
    /// The accesses that trigger a breakpoint (`perf_event_attr.bp_type`).
    ///
    /// Kernel: `include/uapi/linux/hw_breakpoint.h`.
    pub struct BreakpointType(u32) {
        /// Reads. Since Linux 2.6.33.
        R = 1, "HW_BREAKPOINT_R";
        /// Writes. Since Linux 2.6.33.
        W = 2, "HW_BREAKPOINT_W";
        /// Execution; cannot be combined with the other accesses. Since Linux 2.6.33.
        X = 4, "HW_BREAKPOINT_X";
    }
}

impl BreakpointType {
    /// No access.
    #[doc(alias = "HW_BREAKPOINT_EMPTY")]
    pub const EMPTY: Self = Self::NONE;
    /// Reads and writes.
    #[doc(alias = "HW_BREAKPOINT_RW")]
    pub const RW: Self = Self::R.union(Self::W);
    /// Reads, writes and execution. The kernel refuses it.
    #[doc(alias = "HW_BREAKPOINT_INVALID")]
    pub const INVALID: Self = Self::RW.union(Self::X);
}

codes! {
    /// The number of bytes that a breakpoint watches (`perf_event_attr.bp_len`).
    ///
    /// The machine determines which lengths it supports.
    ///
    /// Kernel: `include/uapi/linux/hw_breakpoint.h`.
    pub struct BreakpointLen(u64) {
        /// 1 byte. Since Linux 2.6.33.
        LEN_1 = 1, "HW_BREAKPOINT_LEN_1";
        /// 2 bytes. Since Linux 2.6.33.
        LEN_2 = 2, "HW_BREAKPOINT_LEN_2";
        /// 3 bytes. Since Linux 4.10.
        LEN_3 = 3, "HW_BREAKPOINT_LEN_3";
        /// 4 bytes. Since Linux 2.6.33.
        LEN_4 = 4, "HW_BREAKPOINT_LEN_4";
        /// 5 bytes. Since Linux 4.10.
        LEN_5 = 5, "HW_BREAKPOINT_LEN_5";
        /// 6 bytes. Since Linux 4.10.
        LEN_6 = 6, "HW_BREAKPOINT_LEN_6";
        /// 7 bytes. Since Linux 4.10.
        LEN_7 = 7, "HW_BREAKPOINT_LEN_7";
        /// 8 bytes. Since Linux 2.6.33.
        LEN_8 = 8, "HW_BREAKPOINT_LEN_8";
    }
}

//! Capabilities of Instruction-Based Sampling.

flag_word! {
    /// Capabilities of Instruction-Based Sampling: the first word of the raw data.
    ///
    /// Kernel: `IBS_CAPS_*`, `arch/x86/include/asm/perf_event.h`. AMD: CPUID Fn8000_001B_EAX.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::IbsCaps;
    ///
    /// let caps = IbsCaps(0x8bff);
    /// assert!(caps.contains(IbsCaps::ZEN4) && !caps.contains(IbsCaps::OPDATA4));
    /// ```
    pub struct IbsCaps(u32) {
        /// The other bits are valid.
        AVAIL = 1 << 0, "IBS_CAPS_AVAIL";
        /// Fetches can be sampled.
        FETCHSAM = 1 << 1, "IBS_CAPS_FETCHSAM";
        /// Operations can be sampled.
        OPSAM = 1 << 2, "IBS_CAPS_OPSAM";
        /// The count of operations can be read and written.
        RDWROPCNT = 1 << 3, "IBS_CAPS_RDWROPCNT";
        /// Operations can be counted instead of cycles.
        OPCNT = 1 << 4, "IBS_CAPS_OPCNT";
        /// Samples of operations have the target of the branch.
        BRNTRGT = 1 << 5, "IBS_CAPS_BRNTRGT";
        /// The counts of operations have 27 bits.
        OPCNTEXT = 1 << 6, "IBS_CAPS_OPCNTEXT";
        /// [`OpData::op_rip_invalid`](super::OpData::op_rip_invalid) is supported.
        RIPINVALIDCHK = 1 << 7, "IBS_CAPS_RIPINVALIDCHK";
        /// [`OpData::op_brn_fuse`](super::OpData::op_brn_fuse) is supported.
        OPBRNFUSE = 1 << 8, "IBS_CAPS_OPBRNFUSE";
        /// Samples of fetches have [`FetchCtlExtd`](super::FetchCtlExtd).
        FETCHCTLEXTD = 1 << 9, "IBS_CAPS_FETCHCTLEXTD";
        /// Samples of operations have a fourth word of data.
        OPDATA4 = 1 << 10, "IBS_CAPS_OPDATA4";
        /// The extensions of Zen 4: data sources of five bits, and samples of misses of the third-level cache only.
        ZEN4 = 1 << 11, "IBS_CAPS_ZEN4";
        /// Loads can be sampled by latency. Since Linux 6.15.
        OPLDLAT = 1 << 12, "IBS_CAPS_OPLDLAT";
        /// Sampling can be disabled by a second control register. Since Linux 7.1.
        DIS = 1 << 13, "IBS_CAPS_DIS";
        /// Fetches can be sampled by latency. Since Linux 7.1.
        FETCHLAT = 1 << 14, "IBS_CAPS_FETCHLAT";
        /// Samples can be selected by bit 63 of the address. Since Linux 7.1.
        BIT63_FILTER = 1 << 15, "IBS_CAPS_BIT63_FILTER";
        /// Streaming stores and accesses to other sockets are marked. Since Linux 7.1.
        STRMST_RMTSOCKET = 1 << 16, "IBS_CAPS_STRMST_RMTSOCKET";
        /// Samples of operations have the size of the page. Since Linux 6.15.
        OPDTLBPGSIZE = 1 << 19, "IBS_CAPS_OPDTLBPGSIZE";
    }
}

impl IbsCaps {
    /// Returns the capabilities that a capture's header states for `ibs_op`: the names of its `PMU_CAPS` feature.
    ///
    /// perf decides by these names how it prints samples. The capabilities in a sample may be more: the kernel shows a
    /// name only if it supports the capability.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::IbsCaps;
    ///
    /// let names: [&[u8]; 2] = [b"zen4_ibs_extensions", b"ldlat"];
    /// assert_eq!(IbsCaps::of_names(names), IbsCaps(IbsCaps::ZEN4.0 | IbsCaps::OPLDLAT.0));
    /// ```
    #[must_use]
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let caps = names.into_iter().map(|name| match name {
            b"zen4_ibs_extensions" => Self::ZEN4,
            b"ldlat" => Self::OPLDLAT,
            b"dtlb_pgsize" => Self::OPDTLBPGSIZE,
            b"rmtsocket" | b"strmst" => Self::STRMST_RMTSOCKET,
            _ => Self(0),
        });
        caps.fold(Self(0), |all, caps| Self(all.0 | caps.0))
    }
}

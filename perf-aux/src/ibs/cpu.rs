//! The CPU that took a sample: what the registers mean depends on it.

/// Family and model of an AMD CPU. 0 if they are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AmdCpu {
    /// Family, such as 0x19 for Zen 3 and Zen 4.
    pub family: u32,
    /// Model.
    pub model: u32,
}

impl AmdCpu {
    /// Returns the CPU of a capture by the `CPUID` feature of its header: a vendor, family, model and stepping in decimal.
    /// `None` if the vendor is not AMD, or the family or model is not a number.
    ///
    /// perf: `evlist__init_trace_event_sample_raw`, `tools/perf/util/sample-raw.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::AmdCpu;
    ///
    /// assert_eq!(AmdCpu::of_cpuid(b"AuthenticAMD,25,17,1"), Some(AmdCpu { family: 0x19, model: 0x11 }));
    /// assert_eq!(AmdCpu::of_cpuid(b"GenuineIntel,6,85,7"), None);
    /// ```
    #[must_use]
    pub fn of_cpuid(cpuid: &[u8]) -> Option<Self> {
        let mut parts = core::str::from_utf8(cpuid).ok()?.split(',');
        if !parts.next()?.starts_with("AuthenticAMD") {
            return None;
        }
        Some(Self { family: parts.next()?.parse().ok()?, model: parts.next()?.parse().ok()? })
    }

    /// Returns whether errata 1238, 1293 and 1347 apply: family 0x19, models up to 0xf.
    ///
    /// Then [`FetchCtl::ic_miss`](super::FetchCtl::ic_miss) is invalid. So are
    /// [`OpData3::l2_miss`](super::OpData3::l2_miss),
    /// [`OpData3::op_dc_miss_open_mem_reqs`](super::OpData3::op_dc_miss_open_mem_reqs) and [`OpData2`](super::OpData2) of
    /// software prefetches and of accesses without a miss address buffer.
    ///
    /// AMD: 56683, revision guide for family 19h models 00h-0Fh.
    #[must_use]
    pub const fn has_zen3_errata(self) -> bool {
        self.family == 0x19 && self.model < 0x10
    }

    /// Returns whether the result of a fetch is valid only if its physical address is.
    ///
    /// perf: `fetch_ctl_depends_on_phy_addr_valid`, `tools/perf/util/amd-sample-raw.c`.
    #[must_use]
    pub const fn fetch_needs_phy_addr(self) -> bool {
        self.family > 0x1a
            || (self.family == 0x1a && matches!(self.model, 0x50..=0x5f | 0x80..=0xaf | 0xc0..=0xcf))
    }

    /// Returns whether [`OpData2::cache_hit_st`](super::OpData2::cache_hit_st) is valid.
    ///
    /// Kernel: `perf_ibs_cache_hit_st_valid`, `arch/x86/events/amd/ibs.c`.
    #[must_use]
    pub const fn has_cache_hit_state(self) -> bool {
        !(self.family == 0x19 && matches!(self.model, 0..=0xf | 0x20..=0x5f))
    }
}

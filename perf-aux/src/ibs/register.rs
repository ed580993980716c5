//! The registers that the kernel copies into a sample.

/// Defines the word of a register: `flag NAME = bit;` and `field NAME: type = lowest bit, width;`.
macro_rules! register {
    (
        $(#[$meta:meta])*
        pub struct $Type:ident($c:literal) {
            $( $(#[$fmeta:meta])* $kind:ident $get:ident $(: $int:ident)? = $lsb:literal $(, $width:literal)?; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[doc(alias = $c)]
        pub struct $Type(pub u64);

        impl $Type {
            /// The bit-fields as (name, lowest bit, width), from the lowest bit on.
            pub const FIELDS: &'static [(&'static str, u32, u32)] =
                &[ $( (stringify!($get), $lsb, register!(@width $($width)?)), )* ];

            $( register! { @$kind $(#[$fmeta])* $get $(: $int)? = $lsb $(, $width)? } )*
        }

        impl From<u64> for $Type {
            fn from(value: u64) -> Self {
                Self(value)
            }
        }

        impl core::fmt::Debug for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($Type), "({:#x})"), self.0)
            }
        }
    };
    (@width) => { 1 };
    (@width $width:literal) => { $width };
    (@flag $(#[$fmeta:meta])* $get:ident = $bit:literal) => {
        $(#[$fmeta])*
        #[must_use]
        pub const fn $get(self) -> bool {
            self.0 >> $bit & 1 != 0
        }
    };
    (@field $(#[$fmeta:meta])* $get:ident: $int:ident = $lsb:literal, $width:literal) => {
        $(#[$fmeta])*
        #[must_use]
        #[allow(clippy::cast_possible_truncation, reason = "the mask keeps the value within the field's width")]
        pub const fn $get(self) -> $int {
            (self.0 >> $lsb & ((1 << $width) - 1)) as $int
        }
    };
}

register! {
    /// Fetch control: the settings of the sampling of instruction fetches, and the result of the sampled fetch.
    ///
    /// Kernel: `union ibs_fetch_ctl`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_1030.
    pub struct FetchCtl("IBS_FETCH_CTL") {
        /// Upper 16 bits of the maximum count; a fetch is sampled after `16 * fetch_maxcnt` fetches.
        field fetch_maxcnt: u16 = 0, 16;
        /// Upper 16 bits of the count of fetches.
        field fetch_cnt: u16 = 16, 16;
        /// Latency of the fetch, in cycles.
        field fetch_lat: u16 = 32, 16;
        /// Whether sampling is enabled.
        flag fetch_en = 48;
        /// Whether a fetch was sampled.
        flag fetch_val = 49;
        /// Whether the fetch completed.
        flag fetch_comp = 50;
        /// Whether the fetch missed the instruction cache.
        flag ic_miss = 51;
        /// Whether the physical address is valid.
        flag phy_addr_valid = 52;
        /// Size of the page in the first-level TLB, if [`phy_addr_valid`](Self::phy_addr_valid): 0 for 4 KiB, 1 for 2 MiB,
        /// 2 for 1 GiB. On [CPUs with errata](super::AmdCpu::has_zen3_errata) 1 is 16 KiB, 2 is 2 MiB and 3 is 1 GiB.
        field l1tlb_pgsz: u8 = 53, 2;
        /// Whether the fetch missed the first-level TLB.
        flag l1tlb_miss = 55;
        /// Whether the fetch missed the second-level TLB.
        flag l2tlb_miss = 56;
        /// Whether the low bits of the count start at random.
        flag rand_en = 57;
        /// Whether the fetch missed the second-level cache, if [`fetch_comp`](Self::fetch_comp).
        flag fetch_l2_miss = 58;
        /// Whether only fetches that missed the third-level cache are sampled. Zen 4 and later.
        flag l3_miss_only = 59;
        /// Whether the fetch missed the cache of decoded operations. Zen 4 and later.
        flag fetch_oc_miss = 60;
        /// Whether the fetch missed the third-level cache. Zen 4 and later.
        flag fetch_l3_miss = 61;
    }
}

register! {
    /// Extended fetch control.
    ///
    /// Kernel: `union ic_ibs_extd_ctl`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_103C.
    pub struct FetchCtlExtd("IC_IBS_EXTD_CTL") {
        /// Cycles until the instruction TLB was refilled.
        field itlb_refill_lat: u16 = 0, 16;
    }
}

register! {
    /// Execution control: the settings of the sampling of operations.
    ///
    /// Kernel: `union ibs_op_ctl`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_1033.
    pub struct OpCtl("IBS_OP_CTL") {
        /// Bits 4 to 19 of the maximum count.
        field opmaxcnt: u16 = 0, 16;
        /// Whether only operations that missed the third-level cache are sampled. Zen 4 and later.
        flag l3_miss_only = 16;
        /// Whether sampling is enabled.
        flag op_en = 17;
        /// Whether an operation was sampled.
        flag op_val = 18;
        /// Whether dispatched operations are counted; otherwise cycles.
        flag cnt_ctl = 19;
        /// Bits 20 to 26 of the maximum count.
        field opmaxcnt_ext: u8 = 20, 7;
        /// The count of cycles or operations.
        field opcurcnt: u32 = 32, 27;
        /// The threshold of load latency is `128 * (ldlat_thrsh + 1)` cycles. Zen 5 and later.
        field ldlat_thrsh: u8 = 59, 4;
        /// Whether only loads above the threshold of latency are sampled. Zen 5 and later.
        flag ldlat_en = 63;
    }
}

impl OpCtl {
    /// Returns the maximum count: an operation is sampled after this number of cycles or operations.
    #[must_use]
    pub const fn max_count(self) -> u32 {
        (self.opmaxcnt_ext() as u32) << 20 | (self.opmaxcnt() as u32) << 4
    }
}

register! {
    /// The result of the operation: its times, and its branch.
    ///
    /// Kernel: `union ibs_op_data`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_1035.
    pub struct OpData("IBS_OP_DATA") {
        /// Cycles from the completion of the operation to its retirement.
        field comp_to_ret_ctr: u16 = 0, 16;
        /// Cycles from the tagging of the operation to its retirement.
        field tag_to_ret_ctr: u16 = 16, 16;
        /// Whether it is a return.
        flag op_return = 34;
        /// Whether it is a branch that was taken.
        flag op_brn_taken = 35;
        /// Whether it is a branch that was mispredicted.
        flag op_brn_misp = 36;
        /// Whether it is a branch that retired.
        flag op_brn_ret = 37;
        /// Whether the address of the instruction is invalid.
        flag op_rip_invalid = 38;
        /// Whether it is a branch fused with the instruction before it.
        flag op_brn_fuse = 39;
        /// Whether microcode issued it.
        flag op_microcode = 40;
    }
}

register! {
    /// The origin of the data of a load that missed the first two levels of cache.
    ///
    /// Kernel: `union ibs_op_data2`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_1036.
    pub struct OpData2("IBS_OP_DATA2") {
        /// Low bits of the data source; all of it before Zen 4.
        field data_src_lo: u8 = 0, 3;
        /// Whether the data came from another NUMA node.
        flag rmt_node = 4;
        /// State of the line in the cache that it came from: owned if set, otherwise modified.
        flag cache_hit_st = 5;
        /// High bits of the data source. Zen 4 and later.
        field data_src_hi: u8 = 6, 2;
        /// Whether it is a streaming store. Requires [`STRMST_RMTSOCKET`](super::IbsCaps::STRMST_RMTSOCKET).
        flag strm_st = 8;
        /// Whether the data came from another socket. Requires [`STRMST_RMTSOCKET`](super::IbsCaps::STRMST_RMTSOCKET).
        flag rmt_socket = 9;
    }
}

register! {
    /// The access of a load or store to the data cache and its TLB.
    ///
    /// Kernel: `union ibs_op_data3`, `arch/x86/include/asm/amd/ibs.h`. AMD: MSRC001_1037.
    pub struct OpData3("IBS_OP_DATA3") {
        /// Whether it is a load.
        flag ld_op = 0;
        /// Whether it is a store.
        flag st_op = 1;
        /// Whether it missed the first-level TLB.
        flag dc_l1tlb_miss = 2;
        /// Whether it missed the second-level TLB.
        flag dc_l2tlb_miss = 3;
        /// Whether it hit a page of 2 MiB in the first-level TLB.
        ///
        /// With [`OPDTLBPGSIZE`](super::IbsCaps::OPDTLBPGSIZE) it is the low bit of the size of the page: 0 for 4 KiB,
        /// 1 for 2 MiB, 2 for 1 GiB.
        flag dc_l1tlb_hit_2m = 4;
        /// Whether it hit a page of 1 GiB in the first-level TLB, or the high bit of the size of the page.
        flag dc_l1tlb_hit_1g = 5;
        /// Whether it hit a page of 2 MiB in the second-level TLB.
        flag dc_l2tlb_hit_2m = 6;
        /// Whether it missed the first-level cache.
        flag dc_miss = 7;
        /// Whether it crosses a boundary that makes it slower.
        flag dc_mis_acc = 8;
        /// Whether it accesses write-combining memory.
        flag dc_wc_mem_acc = 13;
        /// Whether it accesses uncacheable memory.
        flag dc_uc_mem_acc = 14;
        /// Whether it is locked.
        flag dc_locked_op = 15;
        /// Whether it waits for a line that an earlier access requested. C: no miss address buffer was allocated.
        flag dc_miss_no_mab_alloc = 16;
        /// Whether the linear address is valid.
        flag dc_lin_addr_valid = 17;
        /// Whether the physical address is valid.
        flag dc_phy_addr_valid = 18;
        /// Whether it hit a page of 1 GiB in the second-level TLB.
        flag dc_l2_tlb_hit_1g = 19;
        /// Whether it missed the second-level cache.
        flag l2_miss = 20;
        /// Whether it is a software prefetch.
        flag sw_pf = 21;
        /// Size of the access: `1 << (op_mem_width - 1)` bytes; 0 if unknown.
        field op_mem_width: u8 = 22, 4;
        /// Number of outstanding requests of the data cache.
        field op_dc_miss_open_mem_reqs: u8 = 26, 6;
        /// Cycles until the data arrived, if it missed the first-level cache.
        field dc_miss_lat: u16 = 32, 16;
        /// Cycles until the TLB was refilled.
        field tlb_refill_lat: u16 = 48, 16;
    }
}

impl OpData3 {
    /// Returns the bytes of the access; `None` if the size is unknown.
    #[must_use]
    pub const fn width(self) -> Option<u32> {
        match self.op_mem_width() {
            0 => None,
            width => Some(1 << (width - 1)),
        }
    }
}

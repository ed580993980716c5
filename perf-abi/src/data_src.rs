//! The data source of a memory access: `PERF_SAMPLE_DATA_SRC`.
//!
//! [`DataSrc`] is the word; each of its fields has its own type. Two fields give the level of the memory
//! hierarchy: [`MemLvl`], the original encoding, and since Linux 4.14 [`MemLvlNum`] with `remote`,
//! `snoopx` and `hops`.

flags! {
    /// The data source of a memory access.
    ///
    /// The kernel's header orders the bit-fields so that the number is the same in both byte orders. A
    /// big-endian word therefore needs only a byte swap.
    ///
    /// Kernel: `union perf_mem_data_src`; since Linux 3.10.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::data_src::{DataSrc, MemLvl, MemOp};
    /// let hit = DataSrc(0).with_op(MemOp::LOAD).with_lvl(MemLvl::HIT | MemLvl::L1);
    /// assert_eq!(hit.to_string(), "op=LOAD lvl=HIT|L1");
    /// assert_eq!(DataSrc::NA.lvl(), MemLvl::NA);
    /// ```
    pub struct DataSrc(u64) {}
    fields {
        /// The kind of access. C: `mem_op`. Since Linux 3.10.
        op / with_op: MemOp(u8) = 0, 5;
        /// The level of the memory hierarchy. C: `mem_lvl`. Since Linux 3.10.
        lvl / with_lvl: MemLvl(u16) = 5, 14;
        /// The result of the snoop. C: `mem_snoop`. Since Linux 3.10.
        snoop / with_snoop: MemSnoop(u8) = 19, 5;
        /// Whether the access was locked. C: `mem_lock`. Since Linux 3.10.
        lock / with_lock: MemLock(u8) = 24, 2;
        /// The TLB access of the address translation. C: `mem_dtlb`. Since Linux 3.10.
        dtlb / with_dtlb: MemTlb(u8) = 26, 7;
        /// The number of the level of the memory hierarchy. C: `mem_lvl_num`. Since Linux 4.14.
        lvl_num / with_lvl_num: MemLvlNum(u8) = 33, 4;
        /// Whether the level belongs to another socket or node. C: `mem_remote`. Since Linux 4.14.
        remote / with_remote: MemRemote(u8) = 37, 1;
        /// Further results of the snoop. C: `mem_snoopx`. Since Linux 4.14.
        snoopx / with_snoopx: MemSnoopx(u8) = 38, 2;
        /// The reason why the access was blocked. C: `mem_blk`. Since Linux 5.12.
        blk / with_blk: MemBlk(u8) = 40, 3;
        /// The distance to the data, in hops. C: `mem_hops`. Since Linux 5.16.
        hops / with_hops: MemHops(u8) = 43, 3;
        /// The region of cache or memory. C: `mem_region`. Since Linux 7.0.
        region / with_region: MemRegion(u8) = 46, 5;
    }
    reserved { 51, 13 }
}

impl DataSrc {
    /// The word that the kernel writes if the PMU provided no data source: every field is `NA`.
    ///
    /// Kernels up to about 6.0 wrote 0x5080021, in which `lvl_num` is 0.
    #[doc(alias("PERF_MEM_NA", "PERF_MEM_DATA_SRC_NONE"))]
    pub const NA: Self = Self(0x1e_0508_0021);

    /// Lowest bit of `op`. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_OP_SHIFT")]
    pub const OP_SHIFT: u32 = 0;
    /// Lowest bit of `lvl`. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_LVL_SHIFT")]
    pub const LVL_SHIFT: u32 = 5;
    /// Lowest bit of `snoop`. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_SNOOP_SHIFT")]
    pub const SNOOP_SHIFT: u32 = 19;
    /// Lowest bit of `lock`. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_LOCK_SHIFT")]
    pub const LOCK_SHIFT: u32 = 24;
    /// Lowest bit of `dtlb`. Since Linux 3.10.
    #[doc(alias = "PERF_MEM_TLB_SHIFT")]
    pub const TLB_SHIFT: u32 = 26;
    /// Lowest bit of `lvl_num`. Since Linux 4.14.
    #[doc(alias = "PERF_MEM_LVLNUM_SHIFT")]
    pub const LVLNUM_SHIFT: u32 = 33;
    /// Lowest bit of `remote`. Since Linux 4.14.
    #[doc(alias = "PERF_MEM_REMOTE_SHIFT")]
    pub const REMOTE_SHIFT: u32 = 37;
    /// Lowest bit of `snoopx`. Since Linux 4.14.
    ///
    /// Headers up to 4.19 defined it as 37, which is the bit of `remote`. The bit-field was at 38 even then,
    /// but programs that composed the word with the shift set `remote` instead of `FWD`.
    #[doc(alias = "PERF_MEM_SNOOPX_SHIFT")]
    pub const SNOOPX_SHIFT: u32 = 38;
    /// Lowest bit of `blk`. Since Linux 5.12.
    #[doc(alias = "PERF_MEM_BLK_SHIFT")]
    pub const BLK_SHIFT: u32 = 40;
    /// Lowest bit of `hops`. Since Linux 5.16.
    #[doc(alias = "PERF_MEM_HOPS_SHIFT")]
    pub const HOPS_SHIFT: u32 = 43;
    /// Lowest bit of `region`. Since Linux 7.0.
    #[doc(alias = "PERF_MEM_REGION_SHIFT")]
    pub const REGION_SHIFT: u32 = 46;
}

flags! {
    /// The kind of access: [`DataSrc::op`], five bits.
    ///
    /// Kernel: `PERF_MEM_OP_*`.
    pub struct MemOp(u8) {
        /// Not available. Since Linux 3.10.
        NA = 0x01, "PERF_MEM_OP_NA";
        /// A load. Since Linux 3.10.
        LOAD = 0x02, "PERF_MEM_OP_LOAD";
        /// A store. Since Linux 3.10.
        STORE = 0x04, "PERF_MEM_OP_STORE";
        /// A prefetch. Since Linux 3.10.
        PFETCH = 0x08, "PERF_MEM_OP_PFETCH";
        /// An instruction fetch. Since Linux 3.10.
        EXEC = 0x10, "PERF_MEM_OP_EXEC";
    }
}

flags! {
    /// The level of the memory hierarchy, and whether the access hit it: [`DataSrc::lvl`], fourteen bits.
    ///
    /// Kernel: `PERF_MEM_LVL_*`.
    pub struct MemLvl(u16) {
        /// Not available. Since Linux 3.10.
        NA = 0x01, "PERF_MEM_LVL_NA";
        /// A hit at the level. Since Linux 3.10.
        HIT = 0x02, "PERF_MEM_LVL_HIT";
        /// A miss at the level. Since Linux 3.10.
        MISS = 0x04, "PERF_MEM_LVL_MISS";
        /// First-level cache. Since Linux 3.10.
        L1 = 0x08, "PERF_MEM_LVL_L1";
        /// Line fill buffer. Since Linux 3.10.
        LFB = 0x10, "PERF_MEM_LVL_LFB";
        /// Second-level cache. Since Linux 3.10.
        L2 = 0x20, "PERF_MEM_LVL_L2";
        /// Third-level cache. Since Linux 3.10.
        L3 = 0x40, "PERF_MEM_LVL_L3";
        /// Local memory. Since Linux 3.10.
        LOC_RAM = 0x80, "PERF_MEM_LVL_LOC_RAM";
        /// Remote memory, one hop away. Since Linux 3.10.
        REM_RAM1 = 0x100, "PERF_MEM_LVL_REM_RAM1";
        /// Remote memory, two hops away. Since Linux 3.10.
        REM_RAM2 = 0x200, "PERF_MEM_LVL_REM_RAM2";
        /// Remote cache, one hop away. Since Linux 3.10.
        REM_CCE1 = 0x400, "PERF_MEM_LVL_REM_CCE1";
        /// Remote cache, two hops away. Since Linux 3.10.
        REM_CCE2 = 0x800, "PERF_MEM_LVL_REM_CCE2";
        /// I/O memory. Since Linux 3.10.
        IO = 0x1000, "PERF_MEM_LVL_IO";
        /// Uncached memory. Since Linux 3.10.
        UNC = 0x2000, "PERF_MEM_LVL_UNC";
    }
}

flags! {
    /// The result of the snoop: [`DataSrc::snoop`], five bits.
    ///
    /// Kernel: `PERF_MEM_SNOOP_*`.
    pub struct MemSnoop(u8) {
        /// Not available. Since Linux 3.10.
        NA = 0x01, "PERF_MEM_SNOOP_NA";
        /// No snoop. Since Linux 3.10.
        NO_SNOOP = 0x02, "PERF_MEM_SNOOP_NONE";
        /// Another cache had the line. Since Linux 3.10.
        HIT = 0x04, "PERF_MEM_SNOOP_HIT";
        /// No other cache had the line. Since Linux 3.10.
        MISS = 0x08, "PERF_MEM_SNOOP_MISS";
        /// Another cache had the modified line. Since Linux 3.10.
        HITM = 0x10, "PERF_MEM_SNOOP_HITM";
    }
}

flags! {
    /// Whether the access was locked: [`DataSrc::lock`], two bits.
    ///
    /// Kernel: `PERF_MEM_LOCK_*`.
    pub struct MemLock(u8) {
        /// Not available. Since Linux 3.10.
        NA = 0x01, "PERF_MEM_LOCK_NA";
        /// Locked. Since Linux 3.10.
        LOCKED = 0x02, "PERF_MEM_LOCK_LOCKED";
    }
}

flags! {
    /// The TLB access of the address translation: [`DataSrc::dtlb`], seven bits.
    ///
    /// Kernel: `PERF_MEM_TLB_*`.
    pub struct MemTlb(u8) {
        /// Not available. Since Linux 3.10.
        NA = 0x01, "PERF_MEM_TLB_NA";
        /// A hit at the level. Since Linux 3.10.
        HIT = 0x02, "PERF_MEM_TLB_HIT";
        /// A miss at the level. Since Linux 3.10.
        MISS = 0x04, "PERF_MEM_TLB_MISS";
        /// First level. Since Linux 3.10.
        L1 = 0x08, "PERF_MEM_TLB_L1";
        /// Second level. Since Linux 3.10.
        L2 = 0x10, "PERF_MEM_TLB_L2";
        /// The hardware walked the page tables. Since Linux 3.10.
        WK = 0x20, "PERF_MEM_TLB_WK";
        /// The operating system handled a fault. Since Linux 3.10.
        OS = 0x40, "PERF_MEM_TLB_OS";
    }
}

codes! {
    /// The number of the level of the memory hierarchy: [`DataSrc::lvl_num`], four bits.
    ///
    /// It is 0 in words of older kernels.
    ///
    /// Kernel: `PERF_MEM_LVLNUM_*`.
    pub struct MemLvlNum(u8) {
        /// First-level cache. Since Linux 4.14.
        L1 = 0x01, "PERF_MEM_LVLNUM_L1";
        /// Second-level cache. Since Linux 4.14.
        L2 = 0x02, "PERF_MEM_LVLNUM_L2";
        /// Third-level cache. Since Linux 4.14.
        L3 = 0x03, "PERF_MEM_LVLNUM_L3";
        /// Fourth-level cache. Since Linux 4.14.
        L4 = 0x04, "PERF_MEM_LVLNUM_L4";
        /// Miss handling buffer of the second-level cache. Since Linux 6.11.
        L2_MHB = 0x05, "PERF_MEM_LVLNUM_L2_MHB";
        /// Memory-side cache. Since Linux 6.11.
        MSC = 0x06, "PERF_MEM_LVLNUM_MSC";
        /// The cache before the first level. Since Linux 7.0.
        L0 = 0x07, "PERF_MEM_LVLNUM_L0";
        /// Uncached memory. Since Linux 6.6.
        UNC = 0x08, "PERF_MEM_LVLNUM_UNC";
        /// Memory attached through CXL. Since Linux 6.1.
        CXL = 0x09, "PERF_MEM_LVLNUM_CXL";
        /// I/O. Since Linux 6.1.
        IO = 0x0a, "PERF_MEM_LVLNUM_IO";
        /// Any cache. Since Linux 4.14.
        ANY_CACHE = 0x0b, "PERF_MEM_LVLNUM_ANY_CACHE";
        /// Line fill buffer. Since Linux 4.14.
        LFB = 0x0c, "PERF_MEM_LVLNUM_LFB";
        /// Memory. Since Linux 4.14.
        RAM = 0x0d, "PERF_MEM_LVLNUM_RAM";
        /// Persistent memory. Since Linux 4.14.
        PMEM = 0x0e, "PERF_MEM_LVLNUM_PMEM";
        /// Not available. Since Linux 4.14.
        NA = 0x0f, "PERF_MEM_LVLNUM_NA";
    }
}

flags! {
    /// Whether the level belongs to another socket or node: [`DataSrc::remote`], one bit.
    ///
    /// Kernel: `PERF_MEM_REMOTE_*`.
    pub struct MemRemote(u8) {
        /// Remote. Since Linux 4.14.
        REMOTE = 0x01, "PERF_MEM_REMOTE_REMOTE";
    }
}

flags! {
    /// Further results of the snoop: [`DataSrc::snoopx`], two bits.
    ///
    /// Kernel: `PERF_MEM_SNOOPX_*`.
    pub struct MemSnoopx(u8) {
        /// Another cache forwarded the line. Since Linux 4.14.
        FWD = 0x01, "PERF_MEM_SNOOPX_FWD";
        /// A peer transferred the line. Since Linux 6.0.
        PEER = 0x02, "PERF_MEM_SNOOPX_PEER";
    }
}

flags! {
    /// The reason why the access was blocked: [`DataSrc::blk`], three bits.
    ///
    /// Kernel: `PERF_MEM_BLK_*`.
    pub struct MemBlk(u8) {
        /// Not available. Since Linux 5.12.
        NA = 0x01, "PERF_MEM_BLK_NA";
        /// The data of an earlier store could not be forwarded. Since Linux 5.12.
        DATA = 0x02, "PERF_MEM_BLK_DATA";
        /// The address conflicts with that of an earlier store. Since Linux 5.12.
        ADDR = 0x04, "PERF_MEM_BLK_ADDR";
    }
}

codes! {
    /// The distance to the data, in hops: [`DataSrc::hops`], three bits; 0 if unknown.
    ///
    /// Kernel: `PERF_MEM_HOPS_*`.
    pub struct MemHops(u8) {
        /// Another core of the same node. Since Linux 5.16.
        HOPS_0 = 0x01, "PERF_MEM_HOPS_0";
        /// Another node of the same socket. Since Linux 5.17.
        HOPS_1 = 0x02, "PERF_MEM_HOPS_1";
        /// Another socket of the same board. Since Linux 5.17.
        HOPS_2 = 0x03, "PERF_MEM_HOPS_2";
        /// Another board. Since Linux 5.17.
        HOPS_3 = 0x04, "PERF_MEM_HOPS_3";
    }
}

codes! {
    /// The region of cache or memory: [`DataSrc::region`], five bits.
    ///
    /// Kernel: `PERF_MEM_REGION_*`.
    pub struct MemRegion(u8) {
        /// Not available. Since Linux 7.0.
        NA = 0x00, "PERF_MEM_REGION_NA";
        /// Reserved. Since Linux 7.0.
        RSVD = 0x01, "PERF_MEM_REGION_RSVD";
        /// Shared cache of the local caching agent. Since Linux 7.0.
        L_SHARE = 0x02, "PERF_MEM_REGION_L_SHARE";
        /// Non-shared cache of the local caching agent. Since Linux 7.0.
        L_NON_SHARE = 0x03, "PERF_MEM_REGION_L_NON_SHARE";
        /// Device of another caching agent. Since Linux 7.0.
        O_IO = 0x04, "PERF_MEM_REGION_O_IO";
        /// Shared cache of another caching agent. Since Linux 7.0.
        O_SHARE = 0x05, "PERF_MEM_REGION_O_SHARE";
        /// Non-shared cache of another caching agent. Since Linux 7.0.
        O_NON_SHARE = 0x06, "PERF_MEM_REGION_O_NON_SHARE";
        /// Registers of a device. Since Linux 7.0.
        MMIO = 0x07, "PERF_MEM_REGION_MMIO";
        /// Memory region 0. Since Linux 7.0.
        MEM0 = 0x08, "PERF_MEM_REGION_MEM0";
        /// Memory region 1. Since Linux 7.0.
        MEM1 = 0x09, "PERF_MEM_REGION_MEM1";
        /// Memory region 2. Since Linux 7.0.
        MEM2 = 0x0a, "PERF_MEM_REGION_MEM2";
        /// Memory region 3. Since Linux 7.0.
        MEM3 = 0x0b, "PERF_MEM_REGION_MEM3";
        /// Memory region 4. Since Linux 7.0.
        MEM4 = 0x0c, "PERF_MEM_REGION_MEM4";
        /// Memory region 5. Since Linux 7.0.
        MEM5 = 0x0d, "PERF_MEM_REGION_MEM5";
        /// Memory region 6. Since Linux 7.0.
        MEM6 = 0x0e, "PERF_MEM_REGION_MEM6";
        /// Memory region 7. Since Linux 7.0.
        MEM7 = 0x0f, "PERF_MEM_REGION_MEM7";
    }
}

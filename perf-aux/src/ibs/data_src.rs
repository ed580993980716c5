//! The data source and weight of an operation, as the kernel derives them.

use perf_abi::data_src::{DataSrc, MemHops, MemLock, MemLvl, MemLvlNum, MemOp, MemRemote, MemSnoop, MemTlb};
use perf_abi::weight::WeightStruct;

use super::{AmdCpu, IbsCaps, OpData2, OpSample};

/// The data source of the registers: three bits before Zen 4, five bits since.
const LOCAL_CACHE: u8 = 1;
const NEAR_CACHE: u8 = 2;
const DRAM: u8 = 3;
const FAR_CACHE: u8 = 5;
const LONG_LATENCY_DIMM: u8 = 6;
const IO: u8 = 7;
const EXTENSION_MEMORY: u8 = 8;

/// The same before Zen 4, where they differ.
const NODE_CACHE: u8 = 2;
const REMOTE_NODE_CACHE: u8 = 4;

impl OpData2 {
    /// Returns the number of the data source: five bits with [`IbsCaps::ZEN4`], otherwise three.
    #[must_use]
    pub const fn data_src(self, caps: IbsCaps) -> u8 {
        if caps.contains(IbsCaps::ZEN4) {
            self.data_src_hi() << 3 | self.data_src_lo()
        } else {
            self.data_src_lo()
        }
    }
}

/// A hit at a level in both encodings.
fn hit(lvl: MemLvl, num: MemLvlNum) -> DataSrc {
    DataSrc(0).with_lvl(lvl | MemLvl::HIT).with_lvl_num(num)
}

fn remote(at: DataSrc, hops: MemHops) -> DataSrc {
    at.with_remote(MemRemote::REMOTE).with_hops(hops)
}

impl OpSample<'_> {
    /// Returns the data source of the access, as Linux 6.6 and later write it into `PERF_SAMPLE_DATA_SRC` of the sample.
    /// [`DataSrc::NA`] if the operation is neither a load nor a store.
    ///
    /// Linux 6.1 to 6.5 state fewer levels by number and no distances. Kernels before 6.1 state no data source. Kernels
    /// before 6.15 do not know [`IbsCaps::OPDTLBPGSIZE`], and state the TLB also of accesses without a physical address.
    ///
    /// Kernel: `perf_ibs_get_data_src`, `arch/x86/events/amd/ibs.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::{AmdCpu, IbsCaps, OpSample};
    ///
    /// // A load of Zen 4 that missed two levels of cache: DcMiss, L2Miss, and a data source of 3.
    /// let mut raw = [0; 4 + 7 * 8];
    /// raw[..4].copy_from_slice(&IbsCaps::ZEN4.0.to_le_bytes());
    /// raw[28] = 3;
    /// raw[36..44].copy_from_slice(&(1_u64 | 1 << 7 | 1 << 20).to_le_bytes());
    /// let source = OpSample::parse(&raw)?.data_src(AmdCpu { family: 0x19, model: 0x11 });
    /// assert_eq!(source.to_string(), "op=LOAD lvl=HIT|LOC_RAM snoop=NA lock=NA dtlb=NA lvl_num=RAM");
    /// # Ok::<(), perf_aux::ibs::IbsError>(())
    /// ```
    #[must_use]
    pub fn data_src(&self, cpu: AmdCpu) -> DataSrc {
        let op = if self.data3.ld_op() {
            MemOp::LOAD
        } else if self.data3.st_op() {
            MemOp::STORE
        } else {
            return DataSrc::NA;
        };
        let data2 = if self.is_without_data2(cpu) { OpData2(0) } else { self.data2 };
        let lock = if self.data3.dc_locked_op() { MemLock::LOCKED } else { MemLock::NA };
        let source = self.level(cpu, op, data2);
        let snoop = self.snoop(cpu, op, data2, source.lvl());
        source.with_op(op).with_snoop(snoop).with_lock(lock).with_dtlb(self.tlb())
    }

    /// Returns the latency of a load that missed the first-level cache and the time from the tag to the retirement, in
    /// cycles, as the kernel writes them into `PERF_SAMPLE_WEIGHT_STRUCT` since Linux 6.1. `None` for other operations, for
    /// which the kernel writes 0.
    ///
    /// `PERF_SAMPLE_WEIGHT` has the latency alone: [`WeightStruct::var1_dw`].
    ///
    /// Kernel: `perf_ibs_parse_ld_st_data`, `arch/x86/events/amd/ibs.c`.
    #[must_use]
    pub fn weight(&self) -> Option<WeightStruct> {
        let latency = u32::from(self.data3.dc_miss_lat());
        let weight = WeightStruct(0).with_var1_dw(latency).with_var2_w(self.data.tag_to_ret_ctr());
        (self.data3.ld_op() && self.data3.dc_miss()).then_some(weight)
    }

    /// Returns whether the origin of the data is invalid: erratum 1293.
    pub(super) const fn is_without_data2(&self, cpu: AmdCpu) -> bool {
        cpu.has_zen3_errata() && (self.data3.sw_pf() || self.data3.dc_miss_no_mab_alloc())
    }

    fn level(&self, cpu: AmdCpu, op: MemOp, data2: OpData2) -> DataSrc {
        let data3 = self.data3;
        let source = data2.data_src(self.caps);
        // The other bits are invalid for uncached accesses.
        if data3.dc_uc_mem_acc() && source != IO {
            return hit(MemLvl::UNC, MemLvlNum::UNC);
        }
        if !data3.dc_miss() {
            return hit(MemLvl::L1, MemLvlNum::L1);
        }
        if !data3.l2_miss() && !self.is_without_data2(cpu) {
            return hit(MemLvl::L2, MemLvlNum::L2);
        }
        // Only loads have an origin.
        let origin = if op != MemOp::LOAD {
            None
        } else if self.caps.contains(IbsCaps::ZEN4) {
            zen4_origin(source, data2.rmt_node())
        } else {
            early_origin(source, data2.rmt_node())
        };
        // The line that another access waits for may come from anywhere, so that its origin is preferred.
        origin.unwrap_or_else(|| match data3.dc_miss_no_mab_alloc() {
            true => hit(MemLvl::LFB, MemLvlNum::LFB),
            false => DataSrc(0).with_lvl(MemLvl::NA).with_lvl_num(MemLvlNum::NA),
        })
    }

    fn snoop(&self, cpu: AmdCpu, op: MemOp, data2: OpData2, lvl: MemLvl) -> MemSnoop {
        let is_cache = match (self.caps.contains(IbsCaps::ZEN4), data2.data_src(self.caps)) {
            (true, source) => matches!(source, LOCAL_CACHE | NEAR_CACHE | FAR_CACHE),
            (false, source) => source == NODE_CACHE,
        };
        let is_beyond_l2 = op == MemOp::LOAD && !lvl.intersects(MemLvl::L1 | MemLvl::L2);
        if is_cache && is_beyond_l2 && cpu.has_cache_hit_state() && !data2.cache_hit_st() {
            MemSnoop::HITM
        } else {
            MemSnoop::NA
        }
    }

    fn tlb(&self) -> MemTlb {
        let data3 = self.data3;
        let is_valid = data3.dc_lin_addr_valid()
            && (data3.dc_phy_addr_valid() || !self.caps.contains(IbsCaps::OPDTLBPGSIZE));
        match (is_valid, data3.dc_l1tlb_miss(), data3.dc_l2tlb_miss()) {
            (false, _, _) => MemTlb::NA,
            (true, false, _) => MemTlb::L1 | MemTlb::HIT,
            (true, true, false) => MemTlb::L2 | MemTlb::HIT,
            (true, true, true) => MemTlb::L2 | MemTlb::MISS,
        }
    }
}

/// Returns where the data came from, by the numbers of Zen 4; `None` if the number has no meaning.
fn zen4_origin(source: u8, is_remote: bool) -> Option<DataSrc> {
    // The registers do not state whether another node is on another socket.
    let node = |at| if is_remote { remote(at, MemHops::HOPS_1) } else { at };
    Some(match source {
        LOCAL_CACHE => hit(MemLvl::L3, MemLvlNum::L3),
        NEAR_CACHE => remote(hit(MemLvl::REM_CCE1, MemLvlNum::ANY_CACHE), MemHops::HOPS_0),
        DRAM => dram(is_remote),
        FAR_CACHE => remote(hit(MemLvl::REM_CCE2, MemLvlNum::ANY_CACHE), MemHops::HOPS_1),
        LONG_LATENCY_DIMM => node(DataSrc(0).with_lvl_num(MemLvlNum::PMEM)),
        IO => hit(MemLvl::IO, MemLvlNum::IO),
        EXTENSION_MEMORY => node(DataSrc(0).with_lvl_num(MemLvlNum::CXL)),
        _ => return None,
    })
}

/// The same by the numbers before Zen 4.
fn early_origin(source: u8, is_remote: bool) -> Option<DataSrc> {
    Some(match source {
        NODE_CACHE => hit(MemLvl::L3 | MemLvl::REM_CCE1, MemLvlNum::ANY_CACHE).with_hops(MemHops::HOPS_0),
        DRAM => dram(is_remote),
        REMOTE_NODE_CACHE => remote(hit(MemLvl::REM_CCE2, MemLvlNum::ANY_CACHE), MemHops::HOPS_1),
        IO => hit(MemLvl::IO, MemLvlNum::IO),
        _ => return None,
    })
}

fn dram(is_remote: bool) -> DataSrc {
    match is_remote {
        true => remote(hit(MemLvl::REM_RAM1, MemLvlNum::RAM), MemHops::HOPS_1),
        false => hit(MemLvl::LOC_RAM, MemLvlNum::RAM),
    }
}

//! Samples as text, as `perf script -D` prints them.

use core::fmt::{self, Display, Formatter};

use super::{
    AmdCpu, FetchCtl, FetchCtlExtd, FetchSample, IbsCaps, OpCtl, OpData, OpData2, OpData3, OpSample,
};
use crate::perf_text::PerfText;

/// What the text of a sample depends on besides its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IbsText {
    /// The CPU that took the sample.
    pub cpu: AmdCpu,
    /// The capabilities that perf knows of: [those in the header](IbsCaps::of_names) of the capture. A capture through a
    /// pipe may have none; perf then prints samples as those of early CPUs. Use [those of the sample](OpSample::caps) to
    /// print all fields that it has.
    pub caps: IbsCaps,
    /// The release of perf.
    pub release: PerfText,
}

impl IbsText {
    /// Returns whether perf prints what the capability adds. perf 6.1 knows of those of Zen 4 only.
    fn has(&self, cap: IbsCaps) -> bool {
        self.caps.contains(cap) && (cap == IbsCaps::ZEN4 || self.release != PerfText::V6_1)
    }

    /// Returns whether the result of the fetch is left out because it is invalid.
    fn lacks_result(&self, ctl: FetchCtl) -> bool {
        self.release != PerfText::V6_1 && self.cpu.fetch_needs_phy_addr() && !ctl.phy_addr_valid()
    }
}

/// The lines of a sample of `ibs_fetch`, separated by newlines. [`FetchSample::text`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct FetchText<'a> {
    sample: FetchSample<'a>,
    text: IbsText,
}

/// The lines of a sample of `ibs_op`, separated by newlines. [`OpSample::text`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct OpText<'a> {
    sample: OpSample<'a>,
    text: IbsText,
}

impl<'a> FetchSample<'a> {
    /// Returns the lines that perf prints of the sample.
    ///
    /// perf prints an extended control register of every sample. Without [`IbsCaps::FETCHCTLEXTD`] it prints the bytes
    /// after the raw data instead; this text leaves the line out.
    ///
    /// perf: `amd_dump_ibs_fetch`, `tools/perf/util/amd-sample-raw.c`.
    #[must_use]
    pub const fn text(&self, text: IbsText) -> FetchText<'a> {
        FetchText { sample: *self, text }
    }
}

impl<'a> OpSample<'a> {
    /// Returns the lines that perf prints of the sample.
    ///
    /// perf takes the first word after the seven registers that every sample has for the target of the branch. This text
    /// has no target without [`IbsCaps::BRNTRGT`].
    ///
    /// perf: `amd_dump_ibs_op`, `tools/perf/util/amd-sample-raw.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::{IbsText, OpSample};
    ///
    /// let raw = [0_u8; 4 + 7 * 8];
    /// let sample = OpSample::parse(&raw)?;
    /// let text = sample.text(IbsText { caps: sample.caps, ..IbsText::default() }).to_string();
    /// assert!(text.starts_with("ibs_op_ctl:\t0000000000000000 MaxCnt         0 En 0 Val 0 CntCtl 0=cycles CurCnt "));
    /// # Ok::<(), perf_aux::ibs::IbsError>(())
    /// ```
    #[must_use]
    pub const fn text(&self, text: IbsText) -> OpText<'a> {
        OpText { sample: *self, text }
    }
}

impl Display for FetchText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { sample, text } = self;
        fetch_ctl(f, sample.ctl, text)?;
        write!(f, "\nIbsFetchLinAd:\t{:016x}", sample.lin_addr)?;
        if sample.ctl.phy_addr_valid() {
            write!(f, "\nIbsFetchPhysAd:\t{:016x}", sample.phys_addr)?;
        }
        match sample.ctl_extd {
            Some(FetchCtlExtd(word)) if !text.lacks_result(sample.ctl) => {
                let latency = FetchCtlExtd(word).itlb_refill_lat();
                write!(f, "\nic_ibs_ext_ctl:\t{word:016x} IbsItlbRefillLat {latency:3}")
            }
            _ => Ok(()),
        }
    }
}

fn fetch_ctl(f: &mut Formatter<'_>, ctl: FetchCtl, text: &IbsText) -> fmt::Result {
    let (max, count) = (u32::from(ctl.fetch_maxcnt()) << 4, u32::from(ctl.fetch_cnt()) << 4);
    write!(f, "ibs_fetch_ctl:\t{:016x} MaxCnt {max:7} Cnt {count:7}", ctl.0)?;
    let lacks_result = text.lacks_result(ctl);
    if !lacks_result {
        write!(f, " Lat {:5}", ctl.fetch_lat())?;
    }
    flags(f, &[("En", ctl.fetch_en()), ("Val", ctl.fetch_val()), ("Comp", ctl.fetch_comp())])?;
    if lacks_result {
        return flags(
            f,
            &[("PhyAddrValid", false), ("RandEn", ctl.rand_en()), ("L3MissOnly", ctl.l3_miss_only())],
        );
    }
    if !text.cpu.has_zen3_errata() {
        flags(f, &[("IcMiss", ctl.ic_miss())])?;
    }
    flags(f, &[("PhyAddrValid", ctl.phy_addr_valid())])?;
    if ctl.phy_addr_valid() {
        f.write_str(match (ctl.l1tlb_pgsz(), text.cpu.has_zen3_errata()) {
            (0, _) => " L1TlbPgSz 4KB",
            (1, true) => " L1TlbPgSz 16KB",
            (1, false) | (2, true) => " L1TlbPgSz 2MB",
            (2, false) | (_, true) => " L1TlbPgSz 1GB",
            (_, false) => " L1TlbPgSz RESERVED",
        })?;
    }
    flags(f, &[("L1TlbMiss", ctl.l1tlb_miss()), ("L2TlbMiss", ctl.l2tlb_miss()), ("RandEn", ctl.rand_en())])?;
    if ctl.fetch_comp() {
        flags(f, &[("L2Miss", ctl.fetch_l2_miss())])?;
    }
    if text.has(IbsCaps::ZEN4) {
        flags(
            f,
            &[
                ("L3MissOnly", ctl.l3_miss_only()),
                ("FetchOcMiss", ctl.fetch_oc_miss()),
                ("FetchL3Miss", ctl.fetch_l3_miss()),
            ],
        )?;
    }
    Ok(())
}

impl Display for OpText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { sample, text } = self;
        let (data, data3) = (sample.data, sample.data3);
        op_ctl(f, sample.ctl, text)?;
        if !data.op_rip_invalid() {
            write!(f, "\nIbsOpRip:\t{:016x}", sample.rip)?;
        }
        op_data(f, data)?;
        let is_without_data2 = sample.is_without_data2(text.cpu);
        if !is_without_data2 {
            op_data2(f, sample.data2, text)?;
        }
        op_data3(f, data3, is_without_data2, text)?;
        if data3.dc_lin_addr_valid() {
            write!(f, "\nIbsDCLinAd:\t{:016x}", sample.dc_lin_addr)?;
        }
        if data3.dc_phy_addr_valid() && self.shows_phys_addr() {
            write!(f, "\nIbsDCPhysAd:\t{:016x}", sample.dc_phys_addr)?;
        }
        match sample.branch_target {
            Some(target) if data.op_brn_ret() && target != 0 => write!(f, "\nIbsBrTarget:\t{target:016x}"),
            _ => Ok(()),
        }
    }
}

impl OpText<'_> {
    /// Returns whether a valid physical address is printed.
    fn shows_phys_addr(&self) -> bool {
        let Self { sample, text } = self;
        text.release == PerfText::V6_1
            || (sample.dc_phys_addr != 0 && (!text.has(IbsCaps::ZEN4) || sample.data3.dc_lin_addr_valid()))
    }
}

fn op_ctl(f: &mut Formatter<'_>, ctl: OpCtl, text: &IbsText) -> fmt::Result {
    write!(f, "ibs_op_ctl:\t{:016x} MaxCnt {:9}", ctl.0, ctl.max_count())?;
    if text.has(IbsCaps::ZEN4) {
        flags(f, &[("L3MissOnly", ctl.l3_miss_only())])?;
    }
    flags(f, &[("En", ctl.op_en()), ("Val", ctl.op_val()), ("CntCtl", ctl.cnt_ctl())])?;
    let unit = if ctl.cnt_ctl() { "uOps" } else { "cycles" };
    write!(f, "={unit} CurCnt {:9}", ctl.opcurcnt())?;
    if text.has(IbsCaps::OPLDLAT) {
        write!(f, " LdLatThrsh {:2}", ctl.ldlat_thrsh())?;
        flags(f, &[("LdLatEn", ctl.ldlat_en())])?;
    }
    Ok(())
}

fn op_data(f: &mut Formatter<'_>, data: OpData) -> fmt::Result {
    let (completion, tag) = (data.comp_to_ret_ctr(), data.tag_to_ret_ctr());
    write!(f, "\nibs_op_data:\t{:016x} CompToRetCtr {completion:5} TagToRetCtr {tag:5}", data.0)?;
    if data.op_brn_ret() {
        flags(
            f,
            &[
                ("OpReturn", data.op_return()),
                ("OpBrnTaken", data.op_brn_taken()),
                ("OpBrnMisp", data.op_brn_misp()),
            ],
        )?;
    }
    flags(f, &[("BrnRet", data.op_brn_ret())])?;
    f.write_str(" ")?;
    flags(
        f,
        &[
            ("RipInvalid", data.op_rip_invalid()),
            ("BrnFuse", data.op_brn_fuse()),
            ("Microcode", data.op_microcode()),
        ],
    )
}

fn op_data2(f: &mut Formatter<'_>, data: OpData2, text: &IbsText) -> fmt::Result {
    write!(f, "\nibs_op_data2:\t{:016x}", data.0)?;
    if text.has(IbsCaps::STRMST_RMTSOCKET) {
        flags(f, &[("RmtSocket", data.rmt_socket()), ("StrmSt", data.strm_st())])?;
    }
    let source = data.data_src(text.caps);
    let (name, is_cache) =
        if text.has(IbsCaps::ZEN4) { zen4_source(source, text.release) } else { early_source(source) };
    if is_cache {
        f.write_str(if data.cache_hit_st() { " CacheHitSt 1=O-State" } else { " CacheHitSt 0=M-state" })?;
    }
    flags(f, &[("RmtNode", data.rmt_node())])?;
    match name {
        Some(name) => write!(f, " DataSrc {source}={name}"),
        None => Ok(()),
    }
}

/// Returns the name of a data source since Zen 4, and whether it is a cache.
fn zen4_source(source: u8, release: PerfText) -> (Option<&'static str>, bool) {
    let is_old = release == PerfText::V6_1;
    let name = match source {
        1 => "Local L3 or other L1/L2 in CCX",
        2 if is_old => "A peer cache in a near CCX",
        2 => "Another CCX cache in the same NUMA node",
        3 if is_old => "Data returned from DRAM",
        3 => "DRAM",
        5 if is_old => "A peer cache in a far CCX",
        5 => "Another CCX cache in a different NUMA node",
        6 if is_old => "DRAM address map with \"long latency\" bit set",
        6 => "Long-latency DIMM",
        7 if is_old => "Data returned from MMIO/Config/PCI/APIC",
        7 => "MMIO/Config/PCI/APIC",
        8 if is_old => "Extension Memory (S-Link, GenZ, etc)",
        8 => "Extension Memory",
        12 if is_old => "Peer Agent Memory",
        12 => "Coherent Memory of a different processor type",
        4 | 9..=11 => "(reserved)",
        _ => return (None, false),
    };
    (Some(name), matches!(source, 1 | 2 | 5))
}

/// The same before Zen 4.
fn early_source(source: u8) -> (Option<&'static str>, bool) {
    let name = match source {
        2 => "Local node cache",
        3 => "DRAM",
        4 => "Remote node cache",
        7 => "Other",
        1 | 5 | 6 => "(reserved)",
        _ => return (None, false),
    };
    (Some(name), source == 2)
}

fn op_data3(f: &mut Formatter<'_>, data: OpData3, is_without_data2: bool, text: &IbsText) -> fmt::Result {
    write!(f, "\nibs_op_data3:\t{:016x}", data.0)?;
    flags(f, &[("LdOp", data.ld_op()), ("StOp", data.st_op())])?;
    let has_page_size = text.has(IbsCaps::OPDTLBPGSIZE);
    let tlb_misses = [("DcL1TlbMiss", data.dc_l1tlb_miss()), ("DcL2TlbMiss", data.dc_l2tlb_miss())];
    if !has_page_size {
        flags(f, &tlb_misses)?;
        flags(
            f,
            &[
                ("DcL1TlbHit2M", data.dc_l1tlb_hit_2m()),
                ("DcL1TlbHit1G", data.dc_l1tlb_hit_1g()),
                ("DcL2TlbHit2M", data.dc_l2tlb_hit_2m()),
            ],
        )?;
    } else if data.dc_phy_addr_valid() {
        flags(f, &tlb_misses)?;
        f.write_str(match (data.dc_l1tlb_hit_1g(), data.dc_l1tlb_hit_2m()) {
            (false, false) => " DcPageSize   4K",
            (false, true) => " DcPageSize   2M",
            (true, false) => " DcPageSize   1G",
            (true, true) => " DcPageSize   ??",
        })?;
    }
    flags(
        f,
        &[
            ("DcMiss", data.dc_miss()),
            ("DcMisAcc", data.dc_mis_acc()),
            ("DcWcMemAcc", data.dc_wc_mem_acc()),
            ("DcUcMemAcc", data.dc_uc_mem_acc()),
            ("DcLockedOp", data.dc_locked_op()),
            ("DcMissNoMabAlloc", data.dc_miss_no_mab_alloc()),
            ("DcLinAddrValid", data.dc_lin_addr_valid()),
            ("DcPhyAddrValid", data.dc_phy_addr_valid()),
        ],
    )?;
    if !has_page_size {
        flags(f, &[("DcL2TlbHit1G", data.dc_l2_tlb_hit_1g())])?;
    }
    if !is_without_data2 {
        flags(f, &[("L2Miss", data.l2_miss())])?;
    }
    flags(f, &[("SwPf", data.sw_pf())])?;
    if let Some(width) = data.width() {
        write!(f, " OpMemWidth {width:2} bytes")?;
    }
    if !is_without_data2 {
        write!(f, " OpDcMissOpenMemReqs {:2}", data.op_dc_miss_open_mem_reqs())?;
    }
    write!(f, " DcMissLat {:5}", data.dc_miss_lat())?;
    if text.release == PerfText::V6_1 || !text.has(IbsCaps::ZEN4) || data.dc_phy_addr_valid() {
        write!(f, " TlbRefillLat {:5}", data.tlb_refill_lat())?;
    }
    Ok(())
}

/// Prints bits by name.
fn flags(f: &mut Formatter<'_>, flags: &[(&str, bool)]) -> fmt::Result {
    flags.iter().try_for_each(|(name, set)| write!(f, " {name} {}", u8::from(*set)))
}

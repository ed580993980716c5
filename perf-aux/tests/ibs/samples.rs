//! Raw data: registers, their fields, and what follows from them.

use std::collections::BTreeSet;

use perf_abi::data_src::DataSrc;
use perf_abi::event::EventType;
use perf_aux::ibs::{
    AmdCpu, FetchCtl, FetchCtlExtd, FetchSample, IbsCaps, IbsError, IbsPmu, IbsPmus, IbsText, OpCtl, OpData,
    OpData2, OpData3, OpSample,
};
use perf_aux::perf_text::PerfText;
use proptest::prelude::*;
use testdata::amd_ibs;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    registers_in_order,
    raw_data_that_ends_within_a_register,
    any_bytes,
    fields_do_not_overlap,
    fields_of_every_bit,
    capabilities,
    cpus,
    pmus,
    data_sources_of_loads_that_missed,
    data_sources_before_the_caches,
    snoops_and_tlbs,
    weights,
];

const ALL: u32 = u32::MAX;

fn registers_in_order() {
    let words: Vec<u64> = (1..=10).map(|it| it * 0x0101_0101_0101_0101).collect();
    let raw = amd_ibs::raw(ALL, &words[..9]);
    let op = OpSample::parse(&raw).unwrap();
    let found = [op.ctl.0, op.rip, op.data.0, op.data2.0, op.data3.0, op.dc_lin_addr, op.dc_phys_addr];
    assert_eq!((op.caps, &found[..]), (IbsCaps(ALL), &words[..7]));
    assert_eq!((op.branch_target, op.data4, op.rest), (Some(words[7]), Some(words[8]), &[][..]));
    let fetch = FetchSample::parse(&raw).unwrap();
    assert_eq!([fetch.ctl.0, fetch.lin_addr, fetch.phys_addr], words[..3]);
    assert_eq!((fetch.ctl_extd, fetch.rest), (Some(FetchCtlExtd(words[3])), &raw[36..]));

    // Each optional register takes the place of the one before it.
    let with = |caps: IbsCaps| amd_ibs::raw(caps.0, &words[..8]);
    let (target, data4) = (with(IbsCaps::BRNTRGT), with(IbsCaps::OPDATA4));
    let op = OpSample::parse(&target).unwrap();
    assert_eq!((op.branch_target, op.data4), (Some(words[7]), None));
    let op = OpSample::parse(&data4).unwrap();
    assert_eq!((op.branch_target, op.data4), (None, Some(words[7])));
    let none = with(IbsCaps(0));
    assert_eq!(OpSample::parse(&none).unwrap().rest, &none[60..]);
    assert_eq!(FetchSample::parse(&none).unwrap().ctl_extd, None);
}

fn raw_data_that_ends_within_a_register() {
    let op = ["IBS_OP_CTL", "IBS_OP_RIP", "IBS_OP_DATA", "IBS_OP_DATA2", "IBS_OP_DATA3", "IBS_DC_LINAD"];
    let op = [&op[..], &["IBS_DC_PHYSAD", "IBS_BR_TARGET", "IBS_OP_DATA4"]].concat();
    let fetch = ["IBS_FETCH_CTL", "IBS_FETCH_LINAD", "IBS_FETCH_PHYSAD", "IC_IBS_EXTD_CTL"];
    let raw = amd_ibs::raw(ALL, &[0; 9]);
    let expected = |len: usize, names: &[&'static str]| {
        let (register, offset, needed) = match len.checked_sub(4) {
            None => ("caps", 0, 4),
            Some(len) => (*names.get(len / 8)?, 4 + len / 8 * 8, 8),
        };
        Some(IbsError { register, offset, needed, available: len - offset })
    };
    for len in 0..=raw.len() {
        assert_eq!(OpSample::parse(&raw[..len]).err(), expected(len, &op));
        assert_eq!(FetchSample::parse(&raw[..len]).err(), expected(len, &fetch));
    }
    let error = OpSample::parse(&raw[..3]).unwrap_err();
    assert_eq!(error.to_string(), "caps at byte 0 of the raw data needs 4 bytes; 3 are left");
}

/// No bytes panic, and every byte is in a register or after them.
fn any_bytes() {
    let text = (any::<u32>(), any::<u32>(), any::<u32>(), any::<bool>());
    proptest!(|(raw in prop::collection::vec(any::<u8>(), 0..100), (family, model, caps, is_old) in text)| {
        let release = if is_old { PerfText::V6_1 } else { PerfText::V7_2 };
        // Families that have rules, and others.
        let cpu = AmdCpu { family: 0x17 + family % 8, model: model % 256 };
        let text = IbsText { cpu, caps: IbsCaps(caps), release };
        if let Ok(op) = OpSample::parse(&raw) {
            let words = 7 + usize::from(op.branch_target.is_some()) + usize::from(op.data4.is_some());
            prop_assert_eq!(4 + 8 * words + op.rest.len(), raw.len());
            let shown = op.text(text).to_string();
            prop_assert!(shown.starts_with("ibs_op_ctl:\t") && !shown.ends_with('\n'));
            prop_assert_eq!(model_data_src(&op, cpu), op.data_src(cpu));
        }
        if let Ok(fetch) = FetchSample::parse(&raw) {
            let words = 3 + usize::from(fetch.ctl_extd.is_some());
            prop_assert_eq!(4 + 8 * words + fetch.rest.len(), raw.len());
            prop_assert!(fetch.text(text).to_string().starts_with("ibs_fetch_ctl:\t"));
        }
    });
}

/// Reserved bits of each register: those that no field covers.
fn fields_do_not_overlap() {
    let reserved = |fields: &[(&str, u32, u32)]| {
        let mut bits: BTreeSet<u32> = (0..64).collect();
        for (name, lsb, width) in fields {
            assert!((*lsb..lsb + width).all(|bit| bits.remove(&bit)), "{name}");
        }
        bits.into_iter().collect::<Vec<_>>()
    };
    let range = |low: u32, high: u32| (low..=high).collect::<Vec<_>>();
    assert_eq!(reserved(FetchCtl::FIELDS), range(62, 63));
    assert_eq!(reserved(FetchCtlExtd::FIELDS), range(16, 63));
    assert_eq!(reserved(OpCtl::FIELDS), range(27, 31));
    assert_eq!(reserved(OpData::FIELDS), [range(32, 33), range(41, 63)].concat());
    assert_eq!(reserved(OpData2::FIELDS), [range(3, 3), range(10, 63)].concat());
    assert_eq!(reserved(OpData3::FIELDS), range(9, 12));
}

/// A getter returns the bits of its field and no others, here of a field of each width. The texts of perf check the places.
fn fields_of_every_bit() {
    let bit = |word: u64, lsb: u32| word >> lsb & 1;
    for at in 0..64 {
        let word = 1_u64 << at;
        let (ctl, op, data3) = (FetchCtl(word), OpCtl(word), OpData3(word));
        assert_eq!(u64::from(ctl.fetch_lat()), word >> 32 & 0xffff);
        assert_eq!(u64::from(ctl.l1tlb_pgsz()), word >> 53 & 3);
        assert_eq!(u64::from(ctl.rand_en()), bit(word, 57));
        assert_eq!(u64::from(op.opcurcnt()), word >> 32 & 0x7ff_ffff);
        assert_eq!(u64::from(op.max_count()), (word & 0xffff) << 4 | (word >> 20 & 0x7f) << 20);
        assert_eq!(u64::from(data3.op_mem_width()), word >> 22 & 15);
        assert_eq!(u64::from(data3.tlb_refill_lat()), word >> 48);
        assert_eq!(u64::from(OpData(word).op_microcode()), bit(word, 40));
        assert_eq!(u64::from(OpData2(word).data_src(IbsCaps(0))), word & 7);
        assert_eq!(u64::from(OpData2(word).data_src(IbsCaps::ZEN4)), (word >> 6 & 3) << 3 | word & 7);
    }
    let widths: Vec<_> = (0..16).map(|it| OpData3(it << 22).width()).collect();
    assert_eq!(widths[0], None);
    assert!((1..16).all(|it| widths[it] == Some(1 << (it - 1))));
    assert_eq!(format!("{:?}", OpData(0x10)), "OpData(0x10)");
}

fn capabilities() {
    assert_eq!(IbsCaps(0).to_string(), "0x0");
    assert_eq!(IbsCaps(0x8002_0807).to_string(), "AVAIL|FETCHSAM|OPSAM|ZEN4|0x80020000");
    assert_eq!(format!("{:?}", IbsCaps::OPDATA4), "IbsCaps(OPDATA4)");
    let of = |names: &[&str]| IbsCaps::of_names(names.iter().map(|name| name.as_bytes()));
    assert_eq!(of(&["ldlat", "other", "zen4_ibs_extensions"]).to_string(), "ZEN4|OPLDLAT");
    assert_eq!(of(&["dtlb_pgsize"]), IbsCaps::OPDTLBPGSIZE);
    assert_eq!((of(&["strmst"]), of(&["rmtsocket"])), (IbsCaps::STRMST_RMTSOCKET, IbsCaps::STRMST_RMTSOCKET));
}

fn cpus() {
    let cpu = |family, model| AmdCpu { family, model };
    assert_eq!(AmdCpu::of_cpuid(b"AuthenticAMD,26,80,0"), Some(cpu(0x1a, 0x50)));
    for wrong in
        ["", "AuthenticAMD", "AuthenticAMD,26", "AuthenticAMD,x,1", "AuthenticAMD,1,x", "HygonGenuine,24,1,1"]
    {
        assert_eq!(AmdCpu::of_cpuid(wrong.as_bytes()), None, "{wrong}");
    }
    assert_eq!(AmdCpu::of_cpuid(b"AuthenticAMD,\xff,1"), None);
    let all = |is: fn(AmdCpu) -> bool, family| (0..0x100).filter(|model| is(cpu(family, *model))).count();
    assert_eq!([0x18, 0x19, 0x1a].map(|family| all(AmdCpu::has_zen3_errata, family)), [0, 16, 0]);
    assert_eq!([0x19, 0x1a, 0x1b].map(|family| all(AmdCpu::fetch_needs_phy_addr, family)), [0, 80, 256]);
    assert_eq!([0x18, 0x19, 0x1a].map(|family| all(AmdCpu::has_cache_hit_state, family)), [256, 176, 256]);
}

fn pmus() {
    let pmus = |names: &[(u32, &'static str)]| {
        IbsPmus::of_mappings(names.iter().map(|(kind, name)| (EventType(*kind), name.as_bytes())))
    };
    assert_eq!(pmus(&[(1, "software"), (8, "ibs"), (9, "xibs_op")]), IbsPmus::default());
    let found = pmus(&[(8, "ibs_op"), (9, "ibs_fetch"), (11, "ibs_op")]);
    let of = |kind| found.pmu(EventType(kind));
    assert_eq!((of(11), of(9), of(8), of(0)), (Some(IbsPmu::Op), Some(IbsPmu::Fetch), None, None));
}

const ZEN2: AmdCpu = AmdCpu { family: 0x17, model: 0x31 };
const ZEN3: AmdCpu = AmdCpu { family: 0x19, model: 0x01 };
const ZEN4: AmdCpu = AmdCpu { family: 0x19, model: 0x61 };

fn op(caps: IbsCaps, data: u64, data2: u64, data3: u64) -> OpSample<'static> {
    let raw = amd_ibs::raw(caps.0, &[0, 0, data, data2, data3, 0, 0]);
    OpSample { rest: &[], ..OpSample::parse(&raw.leak()[..60]).unwrap() }
}

const LOAD: u64 = 1;
const STORE: u64 = 2;
const L1_MISS: u64 = 1 << 7;
const L2_MISS: u64 = 1 << 20;
const UNCACHED: u64 = 1 << 14;
const LOCKED: u64 = 1 << 15;
const NO_MAB: u64 = 1 << 16;
const REMOTE: u64 = 1 << 4;
const OWNED: u64 = 1 << 5;

fn data_sources_of_loads_that_missed() {
    let of = |caps, cpu, source: u64, more| {
        let data2 = source & 7 | (source >> 3) << 6 | OWNED | more;
        let text = op(caps, 0, data2, LOAD | L1_MISS | L2_MISS).data_src(cpu).to_string();
        text.replace("op=LOAD ", "").replace("snoop=NA lock=NA dtlb=NA ", "")
    };
    let zen4: Vec<_> = (0..32).map(|source| of(IbsCaps::ZEN4, ZEN4, source, 0)).collect();
    let unknown = "lvl=NA lvl_num=NA";
    let expected = [
        unknown,
        "lvl=HIT|L3 lvl_num=L3",
        "lvl=HIT|REM_CCE1 lvl_num=ANY_CACHE remote=REMOTE hops=HOPS_0",
        "lvl=HIT|LOC_RAM lvl_num=RAM",
        unknown,
        "lvl=HIT|REM_CCE2 lvl_num=ANY_CACHE remote=REMOTE hops=HOPS_1",
        "lvl_num=PMEM",
        "lvl=HIT|IO lvl_num=IO",
        "lvl_num=CXL",
    ];
    for (source, text) in zen4.iter().enumerate() {
        assert_eq!(text, expected.get(source).unwrap_or(&unknown), "{source}");
    }
    assert_eq!(of(IbsCaps::ZEN4, ZEN4, 3, REMOTE), "lvl=HIT|REM_RAM1 lvl_num=RAM remote=REMOTE hops=HOPS_1");
    assert!(of(IbsCaps::ZEN4, ZEN4, 6, REMOTE).ends_with("lvl_num=PMEM remote=REMOTE hops=HOPS_1"));
    assert!(of(IbsCaps::ZEN4, ZEN4, 8, REMOTE).ends_with("lvl_num=CXL remote=REMOTE hops=HOPS_1"));
    assert_eq!(of(IbsCaps::ZEN4, ZEN4, 1, REMOTE), expected[1]);

    let zen2: Vec<_> = (0..8).map(|source| of(IbsCaps(0), ZEN2, source, 0)).collect();
    assert_eq!(zen2[2], "lvl=HIT|L3|REM_CCE1 lvl_num=ANY_CACHE hops=HOPS_0");
    assert_eq!(zen2[3], "lvl=HIT|LOC_RAM lvl_num=RAM");
    assert_eq!(zen2[4], "lvl=HIT|REM_CCE2 lvl_num=ANY_CACHE remote=REMOTE hops=HOPS_1");
    assert_eq!(zen2[7], "lvl=HIT|IO lvl_num=IO");
    assert!([0, 1, 5, 6].iter().all(|source| zen2[*source] == unknown));
    // Three bits only.
    assert_eq!(of(IbsCaps(0), ZEN2, 8 + 3, 0), zen2[3]);
}

fn data_sources_before_the_caches() {
    let level = |cpu, data2, data3| {
        let source = op(IbsCaps(0), 0, data2, data3).data_src(cpu);
        format!("{} {}", source.lvl(), source.lvl_num())
    };
    assert_eq!(op(IbsCaps(0), 0, 3, L1_MISS | L2_MISS).data_src(ZEN2), DataSrc::NA);
    assert_eq!(level(ZEN2, 3, LOAD), "HIT|L1 L1");
    assert_eq!(level(ZEN2, 3, LOAD | L1_MISS), "HIT|L2 L2");
    // A load and store counts as a load.
    assert_eq!(op(IbsCaps(0), 0, 0, LOAD | STORE | LOCKED).data_src(ZEN2).op().to_string(), "LOAD");
    assert_eq!(op(IbsCaps(0), 0, 0, LOAD | LOCKED).data_src(ZEN2).lock().to_string(), "LOCKED");
    // Stores have no origin.
    assert_eq!(level(ZEN2, 3, STORE | L1_MISS | L2_MISS), "NA NA");
    assert_eq!(level(ZEN2, 3, STORE | L1_MISS | L2_MISS | NO_MAB), "HIT|LFB LFB");
    assert_eq!(level(ZEN2, 0, LOAD | L1_MISS | L2_MISS | NO_MAB), "HIT|LFB LFB");
    assert_eq!(level(ZEN2, 3, LOAD | L1_MISS | L2_MISS | NO_MAB), "HIT|LOC_RAM RAM");
    assert_eq!(level(ZEN2, 3, LOAD | UNCACHED), "HIT|UNC UNC");
    assert_eq!(level(ZEN2, 7, LOAD | UNCACHED | L1_MISS | L2_MISS), "HIT|IO IO");
    // Erratum 1293: neither the miss of the second level nor the origin is valid.
    assert_eq!(level(ZEN3, 3, LOAD | L1_MISS | NO_MAB), "HIT|LFB LFB");
    assert_eq!(level(ZEN2, 3, LOAD | L1_MISS | NO_MAB), "HIT|L2 L2");
}

fn snoops_and_tlbs() {
    let snoop = |caps, cpu, data2, data3| op(caps, 0, data2, data3).data_src(cpu).snoop().to_string();
    let missed = LOAD | L1_MISS | L2_MISS;
    let zen4: Vec<_> = (0..8).filter(|it| snoop(IbsCaps::ZEN4, ZEN4, *it, missed) == "HITM").collect();
    assert_eq!(zen4, [1, 2, 5]);
    let zen2: Vec<_> = (0..8).filter(|it| snoop(IbsCaps(0), ZEN2, *it, missed) == "HITM").collect();
    assert_eq!(zen2, [2]);
    for (cpu, data2, data3) in [
        (ZEN2, 2 | OWNED, missed),
        (ZEN2, 2, LOAD),
        (ZEN2, 2, LOAD | L1_MISS),
        (ZEN2, 2, STORE | L1_MISS | L2_MISS),
        (ZEN3, 2, missed),
    ] {
        assert_eq!(snoop(IbsCaps(0), cpu, data2, data3), "NA", "{cpu:?} {data2:x} {data3:x}");
    }
    let (lin, phys, l1_miss, l2_miss) = (1 << 17, 1 << 18, 1 << 2, 1 << 3);
    let tlb = |caps, data3| op(caps, 0, 0, LOAD | data3).data_src(ZEN4).dtlb().to_string();
    assert_eq!(tlb(IbsCaps(0), phys), "NA");
    assert_eq!(tlb(IbsCaps(0), lin), "HIT|L1");
    assert_eq!(tlb(IbsCaps(0), lin | l2_miss), "HIT|L1");
    assert_eq!(tlb(IbsCaps(0), lin | l1_miss), "HIT|L2");
    assert_eq!(tlb(IbsCaps(0), lin | l1_miss | l2_miss), "MISS|L2");
    assert_eq!(tlb(IbsCaps::OPDTLBPGSIZE, lin), "NA");
    assert_eq!(tlb(IbsCaps::OPDTLBPGSIZE, lin | phys), "HIT|L1");
}

fn weights() {
    let weight = |data3| op(IbsCaps(0), 0x1234 << 16, 0, 0x56 << 32 | data3).weight();
    assert_eq!(
        weight(LOAD | L1_MISS).map(|it| (it.var1_dw(), it.var2_w(), it.var3_w())),
        Some((0x56, 0x1234, 0))
    );
    assert_eq!([weight(LOAD), weight(STORE | L1_MISS), weight(L1_MISS)], [None; 3]);
}

/// The data source by a second path: the numbers of `include/uapi/linux/perf_event.h` and a table.
fn model_data_src(op: &OpSample<'_>, cpu: AmdCpu) -> DataSrc {
    let bit = |at: u32| op.data3.0 >> at & 1 == 1;
    if !bit(0) && !bit(1) {
        return DataSrc(0x1e_0508_0021);
    }
    let is_zen4 = op.caps.0 >> 11 & 1 == 1;
    let is_zen3 = cpu.family == 0x19 && cpu.model < 16;
    let data2 = if is_zen3 && (bit(21) || bit(16)) { 0 } else { op.data2.0 };
    let source = if is_zen4 { data2 >> 6 << 3 & 0x18 | data2 & 7 } else { data2 & 7 };
    let is_remote = data2 >> 4 & 1 == 1;
    // lvl, lvl_num, remote, hops
    let (lvl, num, remote, hops) = if bit(14) && source != 7 {
        (0x2002, 8, 0, 0)
    } else if !bit(7) {
        (0x0a, 1, 0, 0)
    } else if !bit(20) && !(is_zen3 && (bit(21) || bit(16))) {
        (0x22, 2, 0, 0)
    } else {
        match (bit(0), is_zen4, source, is_remote) {
            (true, true, 1, _) => (0x42, 3, 0, 0),
            (true, true, 2, _) => (0x402, 11, 1, 1),
            (true, false, 2, _) => (0x442, 11, 0, 1),
            (true, _, 3, false) => (0x82, 13, 0, 0),
            (true, _, 3, true) => (0x102, 13, 1, 2),
            (true, true, 5, _) | (true, false, 4, _) => (0x802, 11, 1, 2),
            (true, true, 6, false) => (0, 14, 0, 0),
            (true, true, 6, true) => (0, 14, 1, 2),
            (true, _, 7, _) => (0x1002, 10, 0, 0),
            (true, true, 8, false) => (0, 9, 0, 0),
            (true, true, 8, true) => (0, 9, 1, 2),
            _ if bit(16) => (0x12, 12, 0, 0),
            _ => (1, 15, 0, 0),
        }
    };
    let has_state = !(cpu.family == 0x19 && (cpu.model < 16 || (0x20..0x60).contains(&cpu.model)));
    let is_hitm = bit(0)
        && has_state
        && lvl & 0x28 == 0
        && data2 >> 5 & 1 == 0
        && if is_zen4 { [1, 2, 5].contains(&source) } else { source == 2 };
    let dtlb = match (bit(17) && (bit(18) || op.caps.0 >> 19 & 1 == 0), bit(2), bit(3)) {
        (false, ..) => 1,
        (_, false, _) => 8 | 2,
        (_, _, false) => 16 | 2,
        _ => 16 | 4,
    };
    let op = if bit(0) { 2 } else { 4 };
    let (snoop, lock) = (if is_hitm { 0x10 } else { 1 }, if bit(15) { 2 } else { 1 });
    DataSrc(op | lvl << 5 | snoop << 19 | lock << 24 | dtlb << 26 | num << 33 | remote << 37 | hops << 43)
}

//! Tests with made captures, and of each combination of the bits of a source.

use perf_abi::data_src::DataSrc;
use perf_parse::Reader;
use perf_profile::c2c::{AccessCounts, C2cKey, C2cOptions, C2cReport, C2cSort, MachineNodes, MeanTime};
use perf_profile::report::{CallGraphOptions, GraphTree};
use perf_profile::sched::PerfVersion;
use perf_profile::{Samples, Symbols};
use testdata::c2c::{COMBINATIONS, Recording, capture, combination};

const RECORDING: Recording<'_> = Recording {
    program: "/prog",
    seed: 7,
    count: 400,
    arch: "x86_64",
    has_physical: true,
    has_chains: false,
    has_kernel: true,
    is_wild: true,
    is_every: false,
};

fn report(bytes: &[u8], options: &C2cOptions) -> Option<C2cReport> {
    let reader = Reader::new(bytes).ok()?;
    let symbols = Symbols::of(&reader).without_names();
    Samples::of(&reader).c2c(options, &symbols, &mut ()).ok()
}

fn options(set: impl FnOnce(&mut C2cOptions)) -> C2cOptions {
    let mut options = C2cOptions::default();
    set(&mut options);
    options
}

fn counts(set: impl FnOnce(&mut AccessCounts)) -> AccessCounts {
    let mut counts = AccessCounts::default();
    set(&mut counts);
    counts
}

fn sum(counts: impl Iterator<Item = AccessCounts>) -> AccessCounts {
    counts.fold(AccessCounts::default(), |mut sum, counts| {
        sum.add(&counts);
        sum
    })
}

/// What perf 6.1.187 and 7.2.13 count of the capture that `random_c2c 1 1048576 . every` writes.
#[test]
fn all_combinations_count_what_perf_counts() {
    for (version, load_l2, local_hitm) in
        [(PerfVersion::V6_1, 131_072, 65_536), (PerfVersion::V7_2, 65_536, 131_072)]
    {
        let all = sum((0..COMBINATIONS).map(|number| AccessCounts::of(combination(number), 64, version)));
        let theirs = counts(|it| {
            it.records = 1_048_576;
            it.loads = 524_288;
            it.load_uncached = 131_072;
            it.load_io = 131_072;
            it.load_miss = 262_144;
            it.load_fill_buffer = 131_072;
            it.load_l1 = 131_072;
            it.load_l2 = load_l2;
            it.load_l3 = 65_536;
            it.local_hitm = local_hitm;
            it.remote_hitm = 106_496;
            it.remote_hit = 266_240;
            it.local_memory = 131_072;
            it.remote_memory = 212_992;
            it.load_exclusive = 172_032;
            it.load_shared = 172_032;
            it.local_peer = 131_072;
            it.remote_peer = 53_248;
            it.stores = 524_288;
            it.store_uncached = 131_072;
            it.store_l1_hit = 131_072;
            it.store_l1_miss = 131_072;
            it.store_unknown = 262_144;
        });
        assert_eq!(all, theirs);
        assert_eq!(all.last_level_misses(), 716_800);
    }
}

/// The bits of `union perf_mem_data_src`, from the kernel's header.
mod bit {
    pub(super) const LOAD: u64 = 1 << 1;
    pub(super) const STORE: u64 = 1 << 2;
    pub(super) const NA: u64 = 1 << 5;
    pub(super) const HIT: u64 = 1 << 6;
    pub(super) const MISS: u64 = 1 << 7;
    pub(super) const L1: u64 = 1 << 8;
    pub(super) const LFB: u64 = 1 << 9;
    pub(super) const L2: u64 = 1 << 10;
    pub(super) const L3: u64 = 1 << 11;
    pub(super) const LOC_RAM: u64 = 1 << 12;
    pub(super) const REM_RAM: [u64; 2] = [1 << 13, 1 << 14];
    pub(super) const REM_CCE: [u64; 2] = [1 << 15, 1 << 16];
    pub(super) const IO: u64 = 1 << 17;
    pub(super) const UNC: u64 = 1 << 18;
    pub(super) const SNOOP_HIT: u64 = 1 << 21;
    pub(super) const HITM: u64 = 1 << 23;
    pub(super) const REMOTE: u64 = 1 << 37;
    pub(super) const PEER: u64 = 1 << 39;
    pub(super) const HOPS: u64 = 7 << 43;
}

/// Counts by the bits of the word, one sentence for each field.
fn expected(word: u64, version: PerfVersion) -> AccessCounts {
    use bit::*;
    let all = |bits: &[u64]| bits.iter().all(|bit| word & bit != 0);
    let none = |bits: u64| word & bits == 0;
    let one = |is: bool| u64::from(is);
    let elsewhere = all(&[REMOTE]) && none(HOPS);
    let far_memory = all(&[HIT]) && (!none(REM_RAM[0] | REM_RAM[1]) || elsewhere);
    let far_cache = !none(REM_CCE[0] | REM_CCE[1]) || elsewhere;
    let memories = one(all(&[HIT, LOC_RAM])) + one(far_memory);
    let is_7 = version == PerfVersion::V7_2;
    let mut it = AccessCounts::default();
    it.records = 1;
    if all(&[LOAD]) {
        it.loads = 1;
        it.load_uncached = one(all(&[HIT, UNC]));
        it.load_io = one(all(&[HIT, IO]));
        it.load_miss = one(all(&[MISS]));
        it.load_fill_buffer = one(all(&[HIT, LFB]));
        it.load_l1 = one(all(&[HIT, L1]));
        it.load_l2 = one(all(&[HIT, L2]) && !(is_7 && all(&[HITM])));
        it.load_l3 = one(all(&[HIT, L3]) && none(HITM));
        it.local_hitm = one(all(&[HIT, L3, HITM])) + one(is_7 && all(&[HIT, L2, HITM]));
        it.local_peer = one(all(&[HIT, L2, PEER])) + one(all(&[HIT, L3, PEER]));
        it.local_memory = one(all(&[HIT, LOC_RAM]));
        it.remote_memory = one(far_memory);
        it.load_shared = if none(SNOOP_HIT) { 0 } else { memories };
        it.load_exclusive = if none(SNOOP_HIT) { memories } else { 0 };
        it.remote_peer = one(far_cache && none(SNOOP_HIT | HITM) && all(&[PEER]));
        it.remote_hit = one(far_cache && all(&[SNOOP_HIT])) + it.remote_peer;
        it.remote_hitm = one(far_cache && none(SNOOP_HIT) && all(&[HITM]));
    } else {
        it.stores = one(all(&[STORE]));
        it.store_uncached = one(all(&[HIT, UNC]));
        it.store_l1_hit = one(all(&[HIT, L1]));
        it.store_l1_miss = one(all(&[MISS, L1]));
        it.store_unknown = one(all(&[NA]));
    }
    it
}

#[test]
fn each_combination_counts_by_its_bits() {
    for number in 0..COMBINATIONS {
        let source = combination(number);
        for version in [PerfVersion::V6_1, PerfVersion::V7_2] {
            assert_eq!(AccessCounts::of(source, 1, version), expected(source.0, version), "{source}");
        }
    }
}

#[test]
fn accesses_without_an_address_and_other_operations_have_no_level() {
    let of = |word: u64, address: u64| AccessCounts::of(DataSrc(word), address, PerfVersion::V7_2);
    let level = bit::HIT | bit::L1;
    let load = counts(|it| (it.records, it.loads, it.load_without_address) = (1, 1, 1));
    assert_eq!(of(bit::LOAD | level, 0), load);
    let store = counts(|it| (it.records, it.stores, it.store_without_address) = (1, 1, 1));
    assert_eq!(of(bit::STORE | level, 0), store);
    let neither = counts(|it| (it.records, it.neither) = (1, 1));
    assert_eq!(of(level, 5), neither);
    // LOCKED, and both reasons of a block.
    let blocked = counts(|it| {
        (it.records, it.neither, it.locked, it.blocked_by_data, it.blocked_by_address) = (1, 1, 1, 1, 1);
    });
    assert_eq!(of(1 << 25 | 1 << 41 | 1 << 42, 5), blocked);
    // Reserved bits, and those of other fields, count nothing.
    assert_eq!(of(!0 << 46, 5), neither);
}

#[test]
fn nothing_is_lost_between_totals_lines_and_rows() {
    let bytes = capture(RECORDING);
    for keys in [vec![C2cKey::Iaddr], vec![C2cKey::Pid, C2cKey::Tid], vec![C2cKey::Dso]] {
        let options = options(|it| (it.keys, it.all) = (keys, true));
        let report = report(&bytes, &options).unwrap();
        assert_eq!((report.counts().records, report.dropped()), (400, 0));
        assert_eq!(sum(report.lines().iter().map(|line| line.counts)), *report.counts());
        for line in report.lines() {
            assert_eq!(sum(line.accesses.iter().map(|row| row.counts)), line.counts);
            for row in &line.accesses {
                let stores: u64 = row.by_node.values().map(|node| node.stores).sum();
                assert_eq!(stores, row.counts.stores, "{row:?}");
                let means =
                    [row.remote_hitm, row.local_hitm, row.remote_peer, row.local_peer, row.other_loads];
                let timed: u64 = means.iter().map(MeanTime::count).sum();
                assert!(timed <= row.counts.records && timed >= row.counts.loads, "{row:?}");
                assert!(row.threads.contains_key(&row.tid) && row.offset < 64, "{row:?}");
            }
        }
        assert!(report.lines().is_sorted_by_key(|line| core::cmp::Reverse(line.counts.hitm())));
    }
}

#[test]
fn rows_beyond_the_limit_count_in_the_totals_alone() {
    let bytes = capture(RECORDING);
    let all = report(&bytes, &C2cOptions::default()).unwrap();
    let lines = all.lines().len();
    let rows: usize = all.lines().iter().map(|line| line.accesses.len()).sum();
    assert!(rows > lines && lines > 5);
    for limit in [0, 1, lines - 1, lines, rows - 1, rows, rows + 1] {
        let report = report(&bytes, &options(|it| it.limit = limit)).unwrap();
        let rows_now: usize = report.lines().iter().map(|line| line.accesses.len()).sum();
        assert_eq!(rows_now, rows.min(limit), "{limit}");
        assert!(report.lines().len() <= limit);
        assert_eq!(report.dropped() > 0, limit < rows, "{limit}");
        assert_eq!(report.counts(), all.counts());
        let kept = sum(report.lines().iter().map(|line| line.counts)).records;
        assert_eq!(kept + report.dropped(), 400, "{limit}");
    }
}

#[test]
fn call_graphs_count_the_periods_of_their_rows() {
    let bytes = capture(Recording { has_chains: true, ..RECORDING });
    let graph = CallGraphOptions::default();
    let none = report(&bytes, &C2cOptions::default()).unwrap();
    assert!(
        none.lines().iter().flat_map(|line| &line.accesses).all(|row| none.call_graph(row, &graph).is_none())
    );
    // The periods of all rows, and of their call graphs.
    let periods = |limit| {
        let report = report(&bytes, &options(|it| (it.stacks, it.limit) = (true, limit))).unwrap();
        let rows = report.lines().iter().flat_map(|line| &line.accesses);
        rows.fold((0, 0, 0), |(rows, all, of_graphs), row| {
            let tree = report.call_graph(row, &graph);
            let of_graph = tree.map_or(0, |tree| tree.whole(GraphTree::ROOT).period);
            assert!(of_graph <= row.period);
            (rows + 1, all + row.period, of_graphs + of_graph)
        })
    };
    let (rows, all, of_graphs) = periods(1 << 20);
    assert!(all > 0 && all == of_graphs);
    // There are more stacks than rows: there is room for a part of them.
    let (rows_now, all_now, some) = periods(rows);
    assert!(rows_now == rows && all_now == all && some > 0 && some < all, "{some} of {all}");
}

#[test]
fn nodes_are_those_of_the_capture() {
    let report = report(&capture(RECORDING), &C2cOptions::default()).unwrap();
    let nodes = report.nodes();
    assert_eq!(nodes.count(), 2);
    assert_eq!(
        [0, 3, 4, 7, 8, u32::MAX].map(|cpu| nodes.of_cpu(cpu)),
        [Some(0), Some(0), Some(1), Some(1), None, None]
    );
    let block = 0x800_0000;
    let addresses = [0, 4 * block - 1, 4 * block, 8 * block - 1, 8 * block, u64::MAX];
    assert_eq!(
        addresses.map(|address| nodes.of_memory(address)),
        [Some(0), Some(0), Some(1), Some(1), None, None]
    );
    assert_eq!(MachineNodes::default().of_memory(5), None);
    assert!(report.unknown_nodes() > 0);
}

#[test]
fn what_lines_are_sorted_by_follows_from_the_machine() {
    let sort = |arch, sort| {
        let bytes = capture(Recording { arch, ..RECORDING });
        report(&bytes, &options(|it| it.sort = sort)).unwrap().sort()
    };
    assert_eq!(sort("x86_64", None), C2cSort::Total);
    assert_eq!(sort("aarch64", None), C2cSort::Peer);
    assert_eq!(sort("aarch64", Some(C2cSort::Local)), C2cSort::Local);
}

#[test]
fn two_lines_are_one_on_request() {
    let bytes = capture(RECORDING);
    let single = report(&bytes, &C2cOptions::default()).unwrap();
    let double = report(&bytes, &options(|it| it.double = true)).unwrap();
    assert!(double.lines().len() < single.lines().len());
    assert!(double.lines().iter().all(|line| line.address % 128 == 0));
    assert!(double.lines().iter().flat_map(|line| &line.accesses).any(|row| row.offset >= 64));
    assert_eq!(double.counts(), single.counts());
}

#[test]
fn keys_have_perfs_names() {
    for key in ["pid", "tid", "iaddr", "dso"] {
        assert_eq!(key.parse::<C2cKey>().unwrap().name(), key);
    }
    assert!("offset".parse::<C2cKey>().unwrap_err().contains("offset: no such key"));
}

#[test]
fn damaged_captures_make_a_report_or_none() {
    let whole = capture(Recording { count: 60, ..RECORDING });
    let mut reports = 0;
    for at in (0..whole.len()).step_by(7) {
        for change in [0xff, 0x80, 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let Some(report) = report(&bytes, &C2cOptions::default()) else { continue };
            reports += 1;
            assert_eq!(sum(report.lines().iter().map(|line| line.counts)), *report.counts());
        }
        let _ = report(&whole[..at], &C2cOptions::default());
    }
    assert!(reports > 1000, "{reports}");
}

#[test]
fn captures_without_sources_are_refused() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let symbols = Symbols::of(&reader).without_names();
    let error = Samples::of(&reader).c2c(&C2cOptions::default(), &symbols, &mut ()).unwrap_err();
    assert!(error.to_string().contains("perf c2c record"), "{error}");
}

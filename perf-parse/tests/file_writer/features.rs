//! The payloads of features are read back unchanged.

use perf_parse::ByteStr;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, Misc};
use perf_parse::feature::{
    Bitmap, BuildId, Cache, ClockData, ClockId, CpuPlace, CpuTopology, Dies, Entries, FeatureData, GroupDesc,
    HybridPmu, MemNode, MemTopology, NrCpus, NumaNode, PmuMapping, SampleTime,
};
use perf_parse::file::write::FeaturePayloads;

use compare::rewrite::{File, event, finish, writer};

const STRINGS: [fn(ByteStr<'static>) -> FeatureData<'static>; 6] = [
    FeatureData::Hostname,
    FeatureData::OsRelease,
    FeatureData::Version,
    FeatureData::Arch,
    FeatureData::CpuDesc,
    FeatureData::CpuId,
];

const LONG: &[u8] = &[b'x'; 200];

const WORDS: [ByteStr<'_>; 4] =
    [ByteStr::new(b"perf"), ByteStr::new(b"record"), ByteStr::new(b""), ByteStr::new(LONG)];

fn topology(has_dies: bool) -> CpuTopology<'static> {
    const DIE: ByteStr<'_> = ByteStr::new(b"0-2");
    const PACKAGES: [ByteStr<'_>; 2] = [ByteStr::new(b"0-1"), ByteStr::new(b"2")];
    const CORES: [ByteStr<'_>; 3] = [ByteStr::new(b"0"), ByteStr::new(b"1"), ByteStr::new(b"2")];
    let dies = Dies { die_siblings: Entries::from(&[DIE]), die_ids: Entries::from(&[0, 1, 0]) };
    CpuTopology {
        core_siblings: Entries::from(&PACKAGES),
        thread_siblings: Entries::from(&CORES),
        cpus: Entries::from(&[
            CpuPlace { core_id: 0, socket_id: 0 },
            CpuPlace { core_id: 1, socket_id: 0 },
            CpuPlace { core_id: 0, socket_id: 1 },
        ]),
        dies: has_dies.then_some(dies),
    }
}

fn build_ids() -> [BuildId<'static>; 3] {
    let misc = |mode| Misc::from(mode) | Misc::BUILD_ID_SIZE;
    [
        BuildId {
            misc: misc(CpuMode::KERNEL),
            pid: -1,
            build_id: &[1; 20],
            filename: ByteStr::new(b"[kernel.kallsyms]"),
        },
        BuildId { misc: misc(CpuMode::USER), pid: 0, build_id: &[2; 16], filename: ByteStr::new(LONG) },
        BuildId { misc: misc(CpuMode::GUEST_USER), pid: 7, build_id: &[], filename: ByteStr::default() },
    ]
}

const NODES: [NumaNode<'_>; 2] = [
    NumaNode { node: 0, mem_total: 1 << 33, mem_free: 5, cpus: ByteStr::new(b"0-1") },
    NumaNode { node: 7, mem_total: 6, mem_free: 0, cpus: ByteStr::new(b"") },
];

const CLOCK_DATA: ClockData = ClockData { version: 1, clockid: 7, wall_clock_ns: 8, clockid_time_ns: 9 };

const PMUS: [PmuMapping<'_>; 2] = [
    PmuMapping { kind: EventType::SOFTWARE, name: ByteStr::new(b"software") },
    PmuMapping { kind: EventType(300), name: ByteStr::new(b"uncore_imc_0") },
];

const GROUP: GroupDesc<'_> = GroupDesc { name: ByteStr::new(b"{anon_group}"), leader_idx: 1, nr_members: 2 };

const HYBRID: [HybridPmu<'_>; 2] = [
    HybridPmu { pmu_name: ByteStr::new(b"cpu_core"), cpus: ByteStr::new(b"0-1") },
    HybridPmu { pmu_name: ByteStr::new(b"cpu_atom"), cpus: ByteStr::new(b"2") },
];

const CACHES: [Cache<'_>; 2] = [
    Cache {
        level: 1,
        line_size: 64,
        sets: 128,
        ways: 8,
        kind: ByteStr::new(b"Data"),
        size: ByteStr::new(b"32K"),
        map: ByteStr::new(b"0"),
    },
    Cache {
        level: 3,
        line_size: 128,
        sets: 1,
        ways: 2,
        kind: ByteStr::new(b"Unified"),
        size: ByteStr::new(b"32768K"),
        map: ByteStr::new(b"0-2"),
    },
];

fn fill(features: &mut FeaturePayloads) {
    let build_ids = build_ids();
    let mut set = |data: FeatureData<'_>| features.set(&data).unwrap();
    for (number, feature) in (0..).zip(STRINGS) {
        // Lengths around a multiple of 64, where the padding changes.
        set(feature(ByteStr::new(&LONG[..61 + number])));
    }
    set(FeatureData::CmdLine(Entries::from(&WORDS)));
    set(FeatureData::NrCpus(NrCpus { available: 3, online: 2 }));
    set(FeatureData::TotalMem(1 << 40));
    set(FeatureData::SampleTime(SampleTime { first: 5, last: u64::MAX }));
    set(FeatureData::ClockId(ClockId { resolution_ns: 4_000_000 }));
    set(FeatureData::ClockData(CLOCK_DATA));
    set(FeatureData::CpuTopology(topology(true)));
    set(FeatureData::PmuMappings(Entries::from(&PMUS)));
    set(FeatureData::GroupDesc(Entries::from(&[GROUP])));
    set(FeatureData::HybridTopology(Entries::from(&HYBRID)));
    set(FeatureData::BuildId(Entries::from(&build_ids)));
    set(FeatureData::NumaTopology(Entries::from(&NODES)));
    set(FeatureData::Cache(Entries::from(&CACHES)));
    let words = [&[0, 63, 2][..], &[64], &[]].map(|blocks| Bitmap::words_of(blocks).unwrap());
    let [first, second, third] = [0, 1, 2].map(|index: usize| Bitmap::new(&words[index]));
    let nodes = [MemNode::new(0, first), MemNode::new(9, second), MemNode::new(10, third)];
    set(FeatureData::MemTopology(MemTopology { block_size_bytes: 1 << 27, nodes: Entries::from(&nodes) }));
    features.raw(Feature::STAT, &[]).unwrap();
    features.raw(Feature::BRANCH_STACK, b"replaced").unwrap();
    features.raw(Feature::BRANCH_STACK, &[]).unwrap();
    features.raw(Feature::CLN_SIZE, b"opaque").unwrap();
    features.raw(Feature(100), b"from the future").unwrap();
    features.raw(Feature(101), b"taken back").unwrap();
    assert_eq!(features.remove(Feature(101)).as_deref(), Some(&b"taken back"[..]));
}

fn every_feature_in<O: Endian>() {
    let mut writer = writer::<O>(&[event(1, &[1], Some("one"))]);
    fill(writer.features());
    let given = writer.features().clone();
    let bytes = finish(writer);
    let file = File::open(&bytes).unwrap();
    assert_eq!(file.account().diagnostics, []);
    // All given features, and EVENT_DESC.
    assert_eq!(file.features().len(), given.iter().count() + 1);
    let section = |feature| file.feature(feature).unwrap();
    for (number, feature) in (0..).zip(STRINGS) {
        let data = feature(ByteStr::new(&LONG[..61 + number]));
        let section = section(data.feature());
        assert_eq!(section.decode(), Ok(data));
        let padded = if number < 3 { 64 } else { 128 };
        assert_eq!(section.bytes.len(), 4 + padded);
    }
    let features = file.features();
    let read = |data: FeatureData<'_>| assert_eq!(section(data.feature()).decode(), Ok(data));
    read(FeatureData::CmdLine(Entries::from(&WORDS)));
    read(FeatureData::NrCpus(NrCpus { available: 3, online: 2 }));
    read(FeatureData::TotalMem(1 << 40));
    read(FeatureData::SampleTime(SampleTime { first: 5, last: u64::MAX }));
    read(FeatureData::ClockId(ClockId { resolution_ns: 4_000_000 }));
    read(FeatureData::ClockData(CLOCK_DATA));
    read(FeatureData::CpuTopology(topology(true)));
    read(FeatureData::PmuMappings(Entries::from(&PMUS)));
    read(FeatureData::GroupDesc(Entries::from(&[GROUP])));
    read(FeatureData::HybridTopology(Entries::from(&HYBRID)));
    read(FeatureData::BuildId(Entries::from(&build_ids())));
    assert_eq!(section(Feature::STAT).bytes, b"");
    assert_eq!(section(Feature::BRANCH_STACK).bytes, b"");
    read(FeatureData::NumaTopology(Entries::from(&NODES)));
    read(FeatureData::Cache(Entries::from(&CACHES)));
    let memory = features.mem_topology().unwrap().unwrap();
    assert_eq!(memory.block_size_bytes, 1 << 27);
    let nodes =
        memory.nodes.iter().map(|node| (node.node, node.size, node.blocks.iter().collect::<Vec<_>>()));
    assert_eq!(nodes.collect::<Vec<_>>(), [(0, 64, vec![0, 2, 63]), (9, 65, vec![64]), (10, 0, vec![])]);
    assert_eq!(section(Feature::CLN_SIZE).bytes, b"opaque");
    assert_eq!(section(Feature(100)).bytes, b"from the future");
    assert_eq!(file.feature(Feature(101)), None);
}

#[test]
fn every_feature() {
    every_feature_in::<LittleEndian>();
    every_feature_in::<BigEndian>();
}

#[test]
fn a_block_of_memory_beyond_what_perf_reads() {
    let error = Bitmap::words_of(&[i32::MAX as u32]).unwrap_err();
    assert_eq!(
        (error.feature, error.field, error.must),
        (Feature::MEM_TOPOLOGY, "blocks", "below 2147483647")
    );
    assert!(Bitmap::words_of(&[i32::MAX as u32 - 1]).is_ok());
    let mut features = FeaturePayloads::new_in(Endianness::Little);
    let nodes = [MemNode::new(0, Bitmap { nbits: 1 << 31, words: Entries::default() })];
    let data = MemTopology { block_size_bytes: 1, nodes: Entries::from(&nodes) };
    assert_eq!(
        features.set(&FeatureData::MemTopology(data)).unwrap_err().to_string(),
        "feature MEM_TOPOLOGY: blocks: must be below 2147483647"
    );
    assert_eq!(features.get(Feature::MEM_TOPOLOGY), None);
}

#[test]
fn a_topology_without_dies_or_places() {
    let mut bare = topology(false);
    bare.cpus = Entries::default();
    for given in [topology(false), bare] {
        let mut writer = writer::<LittleEndian>(&[]);
        writer.features().set(&FeatureData::CpuTopology(given)).unwrap();
        writer.features().set(&FeatureData::NrCpus(NrCpus { available: 3, online: 3 })).unwrap();
        let bytes = finish(writer);
        let file = File::open(&bytes).unwrap();
        assert_eq!(file.features().cpu_topology(), Ok(Some(given)));
    }
}

#[test]
fn a_given_event_desc_is_not_made_anew() {
    let mut writer = writer::<LittleEndian>(&[event(1, &[1], Some("one"))]);
    writer.features().raw(Feature::EVENT_DESC, &[0; 8]).unwrap();
    let bytes = finish(writer);
    let file = File::open(&bytes).unwrap();
    assert_eq!(file.feature(Feature::EVENT_DESC).unwrap().bytes, [0; 8]);
    assert_eq!(file.events()[0].name, None);
}

#[test]
fn events_without_names_have_no_event_desc() {
    let bytes = finish(writer::<LittleEndian>(&[event(1, &[1], None)]));
    assert!(File::open(&bytes).unwrap().features().is_empty());
}

#[test]
fn a_feature_without_bytes_is_not_written() {
    let mut features = FeaturePayloads::new_in(Endianness::Little);
    for number in Feature::FIRST..Feature::FEAT_BITS {
        let feature = Feature(number);
        features.raw(feature, &[1]).unwrap();
        features.raw(feature, &[]).unwrap();
        // Except marks and features that may be marks.
        let is_mark = [Feature::BRANCH_STACK, Feature::STAT].contains(&feature) || number >= Feature::LAST;
        assert_eq!(features.get(feature).is_some(), is_mark, "{feature}");
    }
    features.set(&FeatureData::BuildId(Entries::default())).unwrap();
    assert_eq!(features.get(Feature::BUILD_ID), None, "no build ids are no feature");
}

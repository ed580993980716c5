//! The payloads of features are read back unchanged.

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, Misc};
use perf_parse::file::write::{Features, WriteFileError};
use perf_parse::file::{BuildId, Cache, ClockData, CpuPlace, CpuTopology, GroupDesc, HybridPmu, NumaNode};

use compare::rewrite::{File, event, finish, writer};

const STRINGS: [Feature; 6] = [
    Feature::HOSTNAME,
    Feature::OSRELEASE,
    Feature::VERSION,
    Feature::ARCH,
    Feature::CPUDESC,
    Feature::CPUID,
];

const LONG: &[u8] = &[b'x'; 200];

fn topology(dies: bool) -> CpuTopology<'static> {
    let die_id = |id| dies.then_some(id);
    CpuTopology {
        core_siblings: vec![b"0-1", b"2"],
        thread_siblings: vec![b"0", b"1", b"2"],
        cpus: vec![
            CpuPlace { core_id: 0, socket_id: 0, die_id: die_id(0) },
            CpuPlace { core_id: 1, socket_id: 0, die_id: die_id(1) },
            CpuPlace { core_id: 0, socket_id: 1, die_id: die_id(0) },
        ],
        die_siblings: dies.then(|| vec![&b"0-2"[..]]),
    }
}

fn build_ids() -> [BuildId<'static>; 3] {
    let misc = |mode| Misc::from(mode) | Misc::BUILD_ID_SIZE;
    [
        BuildId { misc: misc(CpuMode::KERNEL), pid: -1, build_id: &[1; 20], filename: b"[kernel.kallsyms]" },
        BuildId { misc: misc(CpuMode::USER), pid: 0, build_id: &[2; 16], filename: LONG },
        BuildId { misc: misc(CpuMode::GUEST_USER), pid: 7, build_id: &[], filename: b"" },
    ]
}

const NODES: [NumaNode<'_>; 2] = [
    NumaNode { node: 0, mem_total: 1 << 33, mem_free: 5, cpus: b"0-1" },
    NumaNode { node: 7, mem_total: 6, mem_free: 0, cpus: b"" },
];

const CACHES: [Cache<'_>; 2] = [
    Cache { level: 1, line_size: 64, sets: 128, ways: 8, kind: b"Data", size: b"32K", map: b"0" },
    Cache { level: 3, line_size: 128, sets: 1, ways: 2, kind: b"Unified", size: b"32768K", map: b"0-2" },
];

fn fill<O: Endian>(features: &mut Features<O>) {
    for (number, feature) in (0..).zip(STRINGS) {
        // Lengths around a multiple of 64, where the padding changes.
        features.string(feature, &LONG[..61 + number]).unwrap();
    }
    features.cmdline(&[b"perf", b"record", b"", LONG]).unwrap();
    features.nr_cpus(3, 2);
    features.total_mem(1 << 40);
    features.sample_time(5, u64::MAX);
    features.clockid(4_000_000);
    features.clock_data(&ClockData { version: 1, clockid: 7, wall_clock_ns: 8, clockid_time_ns: 9 });
    features.cpu_topology(&topology(true)).unwrap();
    features.pmu_mappings(&[(EventType::SOFTWARE, b"software"), (EventType(300), b"uncore_imc_0")]).unwrap();
    features.group_desc(&[GroupDesc { name: b"{anon_group}", leader_idx: 1, nr_members: 2 }]).unwrap();
    features
        .hybrid_topology(&[
            HybridPmu { pmu_name: b"cpu_core", cpus: b"0-1" },
            HybridPmu { pmu_name: b"cpu_atom", cpus: b"2" },
        ])
        .unwrap();
    features.build_ids(&build_ids()).unwrap();
    features.raw(Feature::STAT, &[]).unwrap();
    features.raw(Feature::BRANCH_STACK, b"replaced").unwrap();
    features.raw(Feature::BRANCH_STACK, &[]).unwrap();
    features.numa_topology(&NODES).unwrap();
    features.cache(&CACHES).unwrap();
    features.mem_topology(1 << 27, &[(0, &[0, 63, 2]), (9, &[64]), (10, &[])]).unwrap();
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
        assert_eq!(section(feature).string::<O>(), Ok(&LONG[..61 + number]));
        let padded = if number < 3 { 64 } else { 128 };
        assert_eq!(section(feature).bytes.len(), 4 + padded);
    }
    assert_eq!(section(Feature::CMDLINE).strings::<O>(), Ok(vec![&b"perf"[..], b"record", b"", LONG]));
    assert_eq!(section(Feature::NRCPUS).nr_cpus::<O>(), Ok((3, 2)));
    assert_eq!(section(Feature::TOTAL_MEM).total_mem::<O>(), Ok(1 << 40));
    assert_eq!(section(Feature::SAMPLE_TIME).sample_time::<O>(), Ok((5, u64::MAX)));
    assert_eq!(section(Feature::CLOCKID).clockid::<O>(), Ok(4_000_000));
    let clock_data = ClockData { version: 1, clockid: 7, wall_clock_ns: 8, clockid_time_ns: 9 };
    assert_eq!(section(Feature::CLOCK_DATA).clock_data::<O>(), Ok(clock_data));
    assert_eq!(section(Feature::CPU_TOPOLOGY).cpu_topology::<O>(3), Ok(topology(true)));
    assert_eq!(
        section(Feature::PMU_MAPPINGS).pmu_mappings::<O>(),
        Ok(vec![(EventType::SOFTWARE, &b"software"[..]), (EventType(300), b"uncore_imc_0")])
    );
    let group = GroupDesc { name: b"{anon_group}", leader_idx: 1, nr_members: 2 };
    assert_eq!(section(Feature::GROUP_DESC).group_desc::<O>(), Ok(vec![group]));
    let hybrid = section(Feature::HYBRID_TOPOLOGY).hybrid_topology::<O>().unwrap();
    assert_eq!(hybrid.len(), 2);
    assert_eq!(hybrid[1], HybridPmu { pmu_name: b"cpu_atom", cpus: b"2" });
    let read: Result<Vec<_>, _> = section(Feature::BUILD_ID).build_ids::<O>().collect();
    assert_eq!(read, Ok(build_ids().to_vec()));
    assert_eq!(section(Feature::STAT).bytes, b"");
    assert_eq!(section(Feature::BRANCH_STACK).bytes, b"");
    assert_eq!(section(Feature::NUMA_TOPOLOGY).numa_topology::<O>(), Ok(NODES.to_vec()));
    assert_eq!(section(Feature::CACHE).cache::<O>(), Ok(CACHES.to_vec()));
    let memory = section(Feature::MEM_TOPOLOGY).mem_topology::<O>().unwrap();
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
    let mut features = Features::<LittleEndian>::new();
    let error = features.mem_topology(1, &[(0, &[i32::MAX as u32])]).unwrap_err();
    let WriteFileError::Feature { feature, field, must } = error else { panic!("{error}") };
    assert_eq!((feature, field, must), (Feature::MEM_TOPOLOGY, "blocks", "below 2147483647"));
    assert_eq!(features.get(Feature::MEM_TOPOLOGY), None);
}

#[test]
fn a_topology_without_dies_or_places() {
    let mut bare = topology(false);
    bare.cpus.clear();
    for (given, nr_cpus) in [(topology(false), 3), (bare, 3)] {
        let mut writer = writer::<LittleEndian>(&[]);
        writer.features().cpu_topology(&given).unwrap();
        let bytes = finish(writer);
        let file = File::open(&bytes).unwrap();
        let section = file.feature(Feature::CPU_TOPOLOGY).unwrap();
        assert_eq!(section.cpu_topology::<LittleEndian>(nr_cpus), Ok(given));
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
    assert_eq!(File::open(&bytes).unwrap().features(), &[]);
}

#[test]
fn a_feature_without_bytes_is_not_written() {
    let mut features = Features::<LittleEndian>::new();
    for number in Feature::FIRST..Feature::FEAT_BITS {
        let feature = Feature(number);
        features.raw(feature, &[1]).unwrap();
        features.raw(feature, &[]).unwrap();
        // Except marks and features that may be marks.
        let is_mark = [Feature::BRANCH_STACK, Feature::STAT].contains(&feature) || number >= Feature::LAST;
        assert_eq!(features.get(feature).is_some(), is_mark, "{feature}");
    }
    features.build_ids(&[]).unwrap();
    assert_eq!(features.get(Feature::BUILD_ID), None, "no build ids are no feature");
}

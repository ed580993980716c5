//! The features that describe the machine.

use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::ByteStr;
use perf_parse::feature::{
    Cache, CpuPlace, CpuTopology, Dies, Entries, FeatureData, FeatureSection, NrCpus, NumaNode, PmuMapping,
};
use perf_parse::file::write::FeaturePayloads;

use super::Folder;
use crate::host;

const X86: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\
    model name\t: Intel(R)  Xeon(R)   Gold\nstepping\t: 7\n\nprocessor\t: 1\nmodel name\t: other\n";

/// Returns a machine with two cpus, one of which is offline, and two NUMA nodes.
fn machine() -> Folder {
    const CPU: &str = "sys/devices/system/cpu";
    const NODE: &str = "sys/devices/system/node";
    let folder = Folder::with(&[
        ("proc/cpuinfo", X86),
        ("proc/meminfo", "MemFree:  5 kB\nMemTotal:       1000 kB\n"),
        ("proc/sys/kernel/hostname", "host\n"),
        ("proc/sys/kernel/osrelease", "6.1.0\n"),
        ("proc/sys/kernel/arch", "x86_64\n"),
        ("sys/bus/event_source/devices/uprobe/type", "8\n"),
        ("sys/bus/event_source/devices/software/type", "1\n"),
        ("sys/bus/event_source/devices/broken/type", "x\n"),
        ("sys/devices/system/memory/block_size_bytes", "8000000\n"),
    ]);
    for (path, content) in [
        ("present", "0-1\n"),
        ("online", "0\n"),
        ("cpu0/topology/core_siblings_list", "0\n"),
        ("cpu0/topology/core_cpus_list", "0\n"),
        ("cpu0/topology/thread_siblings_list", "not read\n"),
        ("cpu0/topology/die_cpus_list", "0\n"),
        ("cpu0/topology/core_id", "3\n"),
        ("cpu0/topology/physical_package_id", "-1\n"),
        ("cpu0/topology/die_id", "1\n"),
    ] {
        folder.put(&format!("{CPU}/{path}"), content.as_bytes());
    }
    for (index, [level, kind]) in [["3", "Unified"], ["1", "Data"], ["1", "Data"]].iter().enumerate() {
        for (name, content) in [
            ("level", *level),
            ("coherency_line_size", "64"),
            ("number_of_sets", "128"),
            ("ways_of_associativity", "8"),
            ("type", *kind),
            ("size", "64K"),
            ("shared_cpu_list", "0"),
        ] {
            folder.put(&format!("{CPU}/cpu0/cache/index{index}/{name}"), format!("{content}\n").as_bytes());
        }
    }
    for (path, content) in [
        ("online", "0,2-3\n"),
        ("node0/meminfo", "Node 0 MemTotal: 600 kB\nNode 0 MemFree: 100 kB\n"),
        ("node0/cpulist", "0-1\n"),
        ("node0/memory0/state", "online\n"),
        ("node0/memory33/state", "online\n"),
        ("node1/meminfo", "Node 1 MemTotal: 1 kB\nNode 1 MemFree: 1 kB\n"),
        ("node1/cpulist", "\n"),
        ("node2/meminfo", "Node 2 MemTotal: 400 kB\nNode 2 MemFree: 0 kB\n"),
        ("node2/cpulist", "\n"),
    ] {
        folder.put(&format!("{NODE}/{path}"), content.as_bytes());
    }
    folder
}

fn described(root: &std::path::Path) -> FeaturePayloads {
    let mut features = FeaturePayloads::new();
    host::describe(root, "perfdata 0", &["perfdata".into(), "record".into()], &mut features).unwrap();
    features
}

fn section(features: &FeaturePayloads, feature: Feature) -> FeatureSection<'_> {
    let bytes = features.get(feature).unwrap_or_else(|| panic!("no {feature}"));
    FeatureSection::new(feature, 0, bytes, Endianness::NATIVE)
}

#[test]
fn a_machine_and_its_features() {
    let machine = machine();
    let features = described(&machine.0);
    let of = |feature| section(&features, feature);
    let check = |data: FeatureData<'_>| {
        let section = section(&features, data.feature()).with_nr_cpus(2);
        assert_eq!(section.decode(), Ok(data));
    };
    check(FeatureData::Hostname(ByteStr::new(b"host")));
    check(FeatureData::OsRelease(ByteStr::new(b"6.1.0")));
    check(FeatureData::Version(ByteStr::new(b"perfdata 0")));
    check(FeatureData::Arch(ByteStr::new(b"x86_64")));
    check(FeatureData::CpuDesc(ByteStr::new(b"Intel(R) Xeon(R) Gold")));
    check(FeatureData::CpuId(ByteStr::new(b"GenuineIntel,6,85,7")));
    let words = ["perfdata", "record"].map(ByteStr::from);
    check(FeatureData::CmdLine(Entries::from(&words)));
    check(FeatureData::NrCpus(NrCpus { available: 2, online: 1 }));
    check(FeatureData::TotalMem(1000));
    let first = [ByteStr::new(b"0")];
    let siblings = Entries::from(&first);
    let nowhere = CpuPlace { core_id: u32::MAX, socket_id: u32::MAX };
    let places = [CpuPlace { core_id: 3, socket_id: u32::MAX }, nowhere];
    check(FeatureData::CpuTopology(CpuTopology {
        core_siblings: siblings,
        thread_siblings: siblings,
        cpus: Entries::from(&places),
        dies: Some(Dies { die_siblings: siblings, die_ids: Entries::from(&[1, u32::MAX]) }),
    }));
    let data = Cache {
        level: 1,
        line_size: 64,
        sets: 128,
        ways: 8,
        kind: ByteStr::new(b"Data"),
        size: ByteStr::new(b"64K"),
        map: ByteStr::new(b"0"),
    };
    let unified = Cache { level: 3, kind: ByteStr::new(b"Unified"), ..data };
    check(FeatureData::Cache(Entries::from(&[data, unified])));
    let first = NumaNode { node: 0, mem_total: 600, mem_free: 100, cpus: ByteStr::new(b"0-1") };
    let third = NumaNode { node: 2, mem_total: 400, mem_free: 0, cpus: ByteStr::new(b"") };
    check(FeatureData::NumaTopology(Entries::from(&[first, third])));
    let Ok(FeatureData::MemTopology(memory)) = of(Feature::MEM_TOPOLOGY).decode() else { panic!() };
    assert_eq!(memory.block_size_bytes, 0x800_0000);
    let blocks = memory.nodes.iter().map(|node| (node.node, node.blocks.iter().collect::<Vec<_>>()));
    assert_eq!(blocks.collect::<Vec<_>>(), [(0, vec![0, 33]), (1, vec![]), (2, vec![])]);
    let pmus = [(1, &b"software"[..]), (8, b"uprobe")];
    let pmus = pmus.map(|(kind, name)| PmuMapping { kind: EventType(kind), name: name.into() });
    check(FeatureData::PmuMappings(Entries::from(&pmus)));
}

#[test]
fn what_is_not_known_is_left_out() {
    let folder = Folder::new();
    let given =
        |folder: &Folder| -> Vec<_> { described(&folder.0).iter().map(|(feature, _)| feature).collect() };
    let always = [Feature::VERSION, Feature::ARCH, Feature::CMDLINE];
    assert_eq!(given(&folder), always);
    // Texts that are not lists, and lists of more cpus than any machine has.
    for present in ["", "x", "1-0", "0-", "0-1048576", "0-4294967295"] {
        folder.put("sys/devices/system/cpu/present", present.as_bytes());
        folder.put("sys/devices/system/cpu/online", b"0");
        assert_eq!(given(&folder), always, "{present}");
    }
}

#[test]
fn other_architectures() {
    let folder = Folder::with(&[
        ("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 243.75\nCPU part\t: 0xd0c\n"),
        ("sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000413fd0c1\n"),
    ]);
    let features = described(&folder.0);
    let id = section(&features, Feature::CPUID);
    assert_eq!(id.decode(), Ok(FeatureData::CpuId(ByteStr::new(b"0x00000000413fd0c1"))));
    assert_eq!(features.get(Feature::CPUDESC), None);
    folder.put("proc/cpuinfo", b"processor : 0\ncpu : POWER9, altivec supported\n");
    let features = described(&folder.0);
    let description = section(&features, Feature::CPUDESC);
    assert_eq!(description.decode(), Ok(FeatureData::CpuDesc(ByteStr::new(b"POWER9, altivec supported"))));
}

#[test]
fn a_word_with_a_nul_is_refused() {
    let folder = Folder::new();
    let refused = host::describe(&folder.0, "perfdata 0", &["a\0b".into()], &mut FeaturePayloads::new());
    assert!(refused.unwrap_err().to_string().contains("free of NULs"));
}

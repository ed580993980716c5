//! The features that describe the machine.

use perf_abi::endian::NativeEndian;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::file::write::Features;
use perf_parse::file::{Cache, CpuPlace, CpuTopology, FeatureSection, NumaNode};

use super::Folder;
use crate::live::record::host;

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

fn described(root: &std::path::Path) -> Features<NativeEndian> {
    let mut features = Features::new();
    host::describe(root, &[b"perfdata", b"record"], &mut features).unwrap();
    features
}

fn section(features: &Features<NativeEndian>, feature: Feature) -> FeatureSection<'_> {
    let bytes = features.get(feature).unwrap_or_else(|| panic!("no {feature}"));
    FeatureSection { feature, offset: 0, bytes }
}

#[test]
fn a_machine_and_its_features() {
    type O = NativeEndian;
    let machine = machine();
    let features = described(&machine.0);
    let of = |feature| section(&features, feature);
    for (feature, text) in [
        (Feature::HOSTNAME, "host"),
        (Feature::OSRELEASE, "6.1.0"),
        (Feature::VERSION, concat!("perfdata ", env!("CARGO_PKG_VERSION"))),
        (Feature::ARCH, "x86_64"),
        (Feature::CPUDESC, "Intel(R) Xeon(R) Gold"),
        (Feature::CPUID, "GenuineIntel,6,85,7"),
    ] {
        assert_eq!(of(feature).string::<O>(), Ok(text.as_bytes()), "{feature}");
    }
    assert_eq!(of(Feature::CMDLINE).strings::<O>(), Ok(vec![&b"perfdata"[..], b"record"]));
    assert_eq!(of(Feature::NRCPUS).nr_cpus::<O>(), Ok((2, 1)));
    assert_eq!(of(Feature::TOTAL_MEM).total_mem::<O>(), Ok(1000));
    let nowhere = CpuPlace { core_id: u32::MAX, socket_id: u32::MAX, die_id: Some(u32::MAX) };
    let topology = CpuTopology {
        core_siblings: vec![b"0"],
        thread_siblings: vec![b"0"],
        cpus: vec![CpuPlace { core_id: 3, socket_id: u32::MAX, die_id: Some(1) }, nowhere],
        die_siblings: Some(vec![b"0"]),
    };
    assert_eq!(of(Feature::CPU_TOPOLOGY).cpu_topology::<O>(2), Ok(topology));
    let data = Cache { level: 1, line_size: 64, sets: 128, ways: 8, kind: b"Data", size: b"64K", map: b"0" };
    let unified = Cache { level: 3, kind: b"Unified", ..data };
    assert_eq!(of(Feature::CACHE).cache::<O>(), Ok(vec![data, unified]));
    let first = NumaNode { node: 0, mem_total: 600, mem_free: 100, cpus: b"0-1" };
    let third = NumaNode { node: 2, mem_total: 400, mem_free: 0, cpus: b"" };
    assert_eq!(of(Feature::NUMA_TOPOLOGY).numa_topology::<O>(), Ok(vec![first, third]));
    let memory = of(Feature::MEM_TOPOLOGY).mem_topology::<O>().unwrap();
    assert_eq!(memory.block_size_bytes, 0x800_0000);
    let blocks = memory.nodes.iter().map(|node| (node.node, node.blocks.iter().collect::<Vec<_>>()));
    assert_eq!(blocks.collect::<Vec<_>>(), [(0, vec![0, 33]), (1, vec![]), (2, vec![])]);
    let pmus = of(Feature::PMU_MAPPINGS).pmu_mappings::<O>();
    assert_eq!(pmus, Ok(vec![(EventType(1), &b"software"[..]), (EventType(8), b"uprobe")]));
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
    assert_eq!(id.string::<NativeEndian>(), Ok(&b"0x00000000413fd0c1"[..]));
    assert_eq!(features.get(Feature::CPUDESC), None);
    folder.put("proc/cpuinfo", b"processor : 0\ncpu : POWER9, altivec supported\n");
    let features = described(&folder.0);
    let description = section(&features, Feature::CPUDESC);
    assert_eq!(description.string::<NativeEndian>(), Ok(&b"POWER9, altivec supported"[..]));
}

#[test]
fn a_word_with_a_nul_is_refused() {
    let folder = Folder::new();
    let refused = host::describe(&folder.0, &[b"a\0b"], &mut Features::<NativeEndian>::new());
    assert!(refused.unwrap_err().to_string().contains("free of NULs"));
}

//! The values of the examples, field by field.

use perf_parse::ByteStr;
use perf_parse::abi::endian::{BigEndian, Endian};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::file::{CompressType, DirVersion};
use perf_parse::feature::{
    AuxtraceEntry, BpfBtf, Cache, ClockData, ClockId, Compression, CpuDomains, CpuPlace, Dies, DirFormat,
    DomainInfo, EMachine, Entries, FeatureData, FeatureSection, FieldValue, GroupDesc, HybridPmu, NrCpus,
    NumaNode, PmuCap, PmuCaps, PmuMapping, SampleTime, SchedDomain,
};

use crate::{big, in_both_orders};
use testdata::Bytes;
use testdata::features as every;

/// The section of a feature. Its offset in the capture does not affect values.
fn section<O: Endian>(feature: Feature, bytes: &[u8]) -> FeatureSection<'_> {
    compare::feature::section::<O>(feature, 0, bytes).with_nr_cpus(every::NR_CPUS)
}

/// The value of a section that is decoded as this variant.
macro_rules! decoded {
    ($O:ident, $FEATURE:ident, $Variant:ident, $bytes:expr) => {
        match section::<$O>(Feature::$FEATURE, $bytes).decode() {
            Ok(FeatureData::$Variant(it)) => it,
            other => panic!("{other:?}"),
        }
    };
}

in_both_orders![
    build_ids,
    build_ids_without_pid,
    strings_and_numbers,
    event_desc,
    cpu_topology,
    numa_topology,
    pmu_mappings,
    group_desc,
    auxtrace,
    cache,
    times_and_clocks,
    mem_topology,
    storage,
    bpf_prog_info,
    bpf_arrays_that_were_withheld,
    bpf_btf,
    pmu_caps,
    hybrid_topology,
    cpu_domain_info,
    cpu_domain_info_before_names,
    e_machine,
    padding_of_a_pipe,
];

fn build_ids<O: Endian>() {
    let bytes = every::build_ids(big::<O>()).out;
    let all: Vec<_> = decoded!(O, BUILD_ID, BuildId, &bytes).iter().collect();
    let [kernel, program] = all[..] else { panic!("{all:?}") };
    assert_eq!((kernel.misc.0, kernel.pid), (0x8001, -1));
    assert_eq!(kernel.build_id, [0x11; 16], "at the length that is written");
    assert_eq!(kernel.filename, b"[kernel.kallsyms]");
    assert_eq!((program.misc.0, program.pid), (2, 77));
    assert_eq!(program.build_id, [0x22; 20], "whole where no length is written");
    assert_eq!(program.filename, b"/bin/true");
}

fn build_ids_without_pid<O: Endian>() {
    let entry = |bytes: Bytes, misc, id, name: &[u8; 24]| {
        bytes
            .u32(0) // header.type
            .u16(misc) // header.misc
            .u16(56) // header.size
            .raw(&[id; 20]) // build_id
            .zeros(4) // padding to a multiple of 8
            .raw(name) // filename
    };
    let bytes = entry(Bytes::of::<O>(), 2, 0x33, b"/bin/a-program-as-first\0");
    let bytes = entry(bytes, 1, 0x44, b"[kernel.kallsyms]\0\0\0\0\0\0\0");
    let bytes = entry(bytes, 4, 0x55, b"[guest.kernel.kallsyms]\0").out;
    let all: Vec<_> = decoded!(O, BUILD_ID, BuildId, &bytes).iter().collect();
    let all: Vec<_> = all.iter().map(|it| (it.misc.0, it.pid, it.build_id, it.filename.as_bytes())).collect();
    assert_eq!(
        all,
        [
            (2, -1, &[0x33; 20][..], &b"/bin/a-program-as-first"[..]),
            (1, -1, &[0x44; 20], b"[kernel.kallsyms]"),
            (4, 0, &[0x55; 20], b"[guest.kernel.kallsyms]"),
        ]
    );
}

fn strings_and_numbers<O: Endian>() {
    let bytes = Bytes::of::<O>().string("host").out;
    for feature in [
        Feature::HOSTNAME,
        Feature::OSRELEASE,
        Feature::VERSION,
        Feature::ARCH,
        Feature::CPUDESC,
        Feature::CPUID,
    ] {
        let data = section::<O>(feature, &bytes).decode().unwrap();
        assert!(matches!(data.value(), FieldValue::Text(text) if text == "host"), "{data:?}");
        assert_eq!(data.feature(), feature);
    }
    let bytes = every::cmdline(big::<O>()).out;
    assert_eq!(decoded!(O, CMDLINE, CmdLine, &bytes), ["perf", "record"].map(ByteStr::from));
    let bytes = every::nr_cpus(big::<O>()).out;
    assert_eq!(decoded!(O, NRCPUS, NrCpus, &bytes), NrCpus { available: 8, online: 6 });
    let bytes = Bytes::of::<O>().u64(24_684_096).out;
    assert_eq!(decoded!(O, TOTAL_MEM, TotalMem, &bytes), 24_684_096);
    let bytes = Bytes::of::<O>().u32(128).out;
    assert_eq!(decoded!(O, CLN_SIZE, ClnSize, &bytes), 128);
}

fn event_desc<O: Endian>() {
    let bytes = every::event_desc(big::<O>()).out;
    let descs = decoded!(O, EVENT_DESC, EventDesc, &bytes);
    assert_eq!(descs.attr_size, 64);
    let all: Vec<_> = descs.events.iter().collect();
    let [faults, cycles] = &all[..] else { panic!("{all:?}") };
    assert_eq!((faults.attr.kind, faults.attr.config), (EventType(1), 2));
    assert_eq!(faults.name, b"page-faults");
    assert_eq!(faults.ids, [744, 745]);
    assert_eq!((cycles.attr.kind, cycles.attr.config), (EventType(0), 0));
    assert_eq!(cycles.name, b"cycles");
    assert_eq!(cycles.ids.len(), 0);
}

fn cpu_topology<O: Endian>() {
    let bytes = every::cpu_topology(big::<O>()).out;
    let place = |core_id, socket_id, die_id| (CpuPlace { core_id, socket_id }, die_id);
    let siblings = |len: usize| {
        let it = decoded!(O, CPU_TOPOLOGY, CpuTopology, &bytes[..len]);
        assert_eq!(it.core_siblings, [ByteStr::new(b"0-1")]);
        assert_eq!(it.thread_siblings, ["0", "1"].map(ByteStr::from));
        (it.places().collect::<Vec<_>>(), it.dies)
    };
    assert_eq!(siblings(208), (vec![], None), "of perf before 4.0");
    assert_eq!(siblings(224), (vec![place(10, 20, None), place(11, 21, None)], None), "before 5.3");
    let die_siblings = [ByteStr::new(b"0-1")];
    let dies = Dies { die_siblings: Entries::from(&die_siblings), die_ids: Entries::from(&[30, 31]) };
    assert_eq!(siblings(300), (vec![place(10, 20, Some(30)), place(11, 21, Some(31))], Some(dies)));
}

fn numa_topology<O: Endian>() {
    let bytes = every::numa_topology(big::<O>()).out;
    assert_eq!(
        decoded!(O, NUMA_TOPOLOGY, NumaTopology, &bytes),
        [
            NumaNode { node: 0, mem_total: 4_417_752, mem_free: 3_711_860, cpus: ByteStr::new(b"0-1") },
            NumaNode { node: 5, mem_total: 8, mem_free: 7, cpus: ByteStr::new(b"") },
        ]
    );
}

#[test]
fn marks() {
    for (feature, data) in
        [(Feature::BRANCH_STACK, FeatureData::BranchStack), (Feature::STAT, FeatureData::Stat)]
    {
        assert_eq!(section::<BigEndian>(feature, &[]).decode(), Ok(data));
    }
}

fn pmu_mappings<O: Endian>() {
    let bytes = every::pmu_mappings(big::<O>()).out;
    assert_eq!(
        decoded!(O, PMU_MAPPINGS, PmuMappings, &bytes),
        [
            PmuMapping { kind: EventType(1), name: ByteStr::new(b"software") },
            PmuMapping { kind: EventType(u32::MAX), name: ByteStr::new(b"hwmon") },
        ]
    );
}

fn group_desc<O: Endian>() {
    let bytes = every::group_desc(big::<O>()).out;
    assert_eq!(
        decoded!(O, GROUP_DESC, GroupDesc, &bytes),
        [
            GroupDesc { name: ByteStr::new(b"{anon_group}"), leader_idx: 0, nr_members: 2 },
            GroupDesc { name: ByteStr::new(b"mine"), leader_idx: 3, nr_members: 4 },
        ]
    );
}

fn auxtrace<O: Endian>() {
    let bytes = every::auxtrace(big::<O>()).out;
    assert_eq!(
        decoded!(O, AUXTRACE, Auxtrace, &bytes),
        [
            AuxtraceEntry { file_offset: 0x29c0, size: 48 },
            AuxtraceEntry { file_offset: 0x7788, size: 0x1_0000_0030 },
        ]
    );
}

fn cache<O: Endian>() {
    let bytes = every::cache(big::<O>()).out;
    let data = Cache {
        level: 1,
        line_size: 64,
        sets: 128,
        ways: 8,
        kind: ByteStr::new(b"Data"),
        size: ByteStr::new(b"32K"),
        map: ByteStr::new(b"0"),
    };
    let unified = Cache {
        level: 3,
        line_size: 65,
        sets: 129,
        ways: 9,
        kind: ByteStr::new(b"Unified"),
        size: ByteStr::new(b"32768K"),
        map: ByteStr::new(b"0-1"),
    };
    assert_eq!(decoded!(O, CACHE, Cache, &bytes), [data, unified]);
}

fn times_and_clocks<O: Endian>() {
    let bytes = every::sample_time(big::<O>()).out;
    assert_eq!(
        decoded!(O, SAMPLE_TIME, SampleTime, &bytes),
        SampleTime { first: 2_310_408_503_494, last: 2_310_410_580_908 }
    );
    let bytes = Bytes::of::<O>().u64(4).out;
    assert_eq!(decoded!(O, CLOCKID, ClockId, &bytes), ClockId { resolution_ns: 4 });
    let bytes = every::clock_data(big::<O>()).out;
    assert_eq!(
        decoded!(O, CLOCK_DATA, ClockData, &bytes),
        ClockData {
            version: 1,
            clockid: 7,
            wall_clock_ns: 1_795_262_943_136_017_000,
            clockid_time_ns: 2_310_348_467_321,
        }
    );
}

fn mem_topology<O: Endian>() {
    let bytes = every::mem_topology(big::<O>()).out;
    let it = decoded!(O, MEM_TOPOLOGY, MemTopology, &bytes);
    assert_eq!(it.block_size_bytes, 0x800_0000);
    let [first, second] = it.nodes.iter().collect::<Vec<_>>()[..] else { panic!("{it:?}") };
    assert_eq!((first.node, first.size, first.blocks.nbits), (0, 67, 67));
    assert_eq!(first.blocks.words, [1 | 1 << 63, 0b1101]);
    assert_eq!(first.blocks.iter().collect::<Vec<_>>(), [0, 63, 64, 66], "bit 67 is past the last");
    assert_eq!(first.blocks.count(), 4);
    assert_eq!((second.node, second.size, second.blocks.nbits), (1, 0, 0));
    assert_eq!(second.blocks.iter().count(), 0);
}

fn storage<O: Endian>() {
    let bytes = Bytes::of::<O>().u64(1).out;
    assert_eq!(decoded!(O, DIR_FORMAT, DirFormat, &bytes), DirFormat { version: DirVersion::VERSION });
    let bytes = every::compressed(big::<O>()).out;
    assert_eq!(
        decoded!(O, COMPRESSED, Compressed, &bytes),
        Compression { version: 0, kind: CompressType::ZSTD, level: 3, ratio: 12, mmap_len: 528_384 }
    );
}

fn bpf_prog_info<O: Endian>() {
    let bytes = every::bpf_prog_info(big::<O>()).out;
    let all = decoded!(O, BPF_PROG_INFO, BpfProgInfo, &bytes);
    let [first, second] = all.iter().collect::<Vec<_>>()[..] else { panic!("{all:?}") };
    let program = first.program;
    assert_eq!((program.kind, program.id), (26, 2));
    assert_eq!((program.tag, first.name()), ([0x7c; 8], ByteStr::new(b"hid_tail_call")));
    assert_eq!((program.load_time, program.created_by_uid), (987_844_719, 1000));
    assert_eq!((first.info.len(), first.data.len(), first.arrays), (128, 48, 0b1_1111));
    assert_eq!(first.jited_prog_insns(), Some(&[0x90, 0x91, 0x92][..]));
    assert_eq!(first.xlated_prog_insns(), Some(&[0x95, 0, 0, 0, 0, 0, 0, 0][..]));
    assert_eq!(first.map_ids().unwrap(), [7, 8]);
    assert_eq!(first.jited_ksyms().unwrap(), [0xffff_8000_800d_d570_u64, 0xffff_8000_800d_d638]);
    assert_eq!(first.jited_func_lens().unwrap(), [200]);
    assert_eq!((second.program.kind, second.program.id), (8, 3));
    assert_eq!(second.name(), b"a_name_of_16_let", "which has no room for a NUL");
    assert_eq!((second.info.len(), second.data.len()), (136, 0), "fields of newer kernels are kept");
    assert_eq!(second.map_ids(), None, "which perf did not ask for");
}

fn bpf_arrays_that_were_withheld<O: Endian>() {
    let info = |nr: u32, at: u64| {
        Bytes::of::<O>()
            .u32(1) // nr
            .u32(128) // info_len
            .u32(16) // data_len
            .u64(0b1000) // arrays: jited_ksyms
            .zeros(104) // type to netns_ino
            .u32(nr) // nr_jited_ksyms
            .u32(1) // nr_jited_func_lens
            .u64(at) // jited_ksyms
            .u64(0) // jited_func_lens
            .zeros(16) // data
            .out
    };
    let ksyms = |nr, at| {
        let bytes = info(nr, at);
        let all = decoded!(O, BPF_PROG_INFO, BpfProgInfo, &bytes);
        all.iter().next().unwrap().jited_ksyms().map(|all| all.len())
    };
    assert_eq!(ksyms(2, 0), Some(2));
    assert_eq!(ksyms(0, 16), Some(0));
    assert_eq!(ksyms(2, 8), None);
    assert_eq!(ksyms(0, 17), None);
    assert_eq!(ksyms(1, 0_u64.wrapping_sub(0x5555_0000)), None, "what perf makes of no address");
}

fn bpf_btf<O: Endian>() {
    let bytes = every::bpf_btf(big::<O>()).out;
    assert_eq!(
        decoded!(O, BPF_BTF, BpfBtf, &bytes),
        [BpfBtf { id: 2, bytes: &[0x9f, 0xeb, 1] }, BpfBtf { id: 4, bytes: &[] }]
    );
}

fn pmu_caps<O: Endian>() {
    let bytes = every::cpu_pmu_caps(big::<O>()).out;
    assert_eq!(
        decoded!(O, CPU_PMU_CAPS, CpuPmuCaps, &bytes),
        [
            PmuCap { name: ByteStr::new(b"branches"), value: ByteStr::new(b"32") },
            PmuCap { name: ByteStr::new(b"pmu_name"), value: ByteStr::new(b"skylake") }
        ]
    );
    let bytes = every::pmu_caps(big::<O>()).out;
    let slots = PmuCap { name: ByteStr::new(b"slots"), value: ByteStr::new(b"0x0") };
    assert_eq!(
        decoded!(O, PMU_CAPS, PmuCaps, &bytes),
        [
            PmuCaps { pmu_name: "armv8_pmuv3_0".into(), caps: Entries::from(&[slots]) },
            PmuCaps { pmu_name: "empty".into(), caps: Entries::default() },
        ]
    );
}

fn hybrid_topology<O: Endian>() {
    let bytes = every::hybrid_topology(big::<O>()).out;
    assert_eq!(
        decoded!(O, HYBRID_TOPOLOGY, HybridTopology, &bytes),
        [
            HybridPmu { pmu_name: ByteStr::new(b"cpu_core"), cpus: ByteStr::new(b"0-3") },
            HybridPmu { pmu_name: ByteStr::new(b"cpu_atom"), cpus: ByteStr::new(b"4-11") },
        ]
    );
}

fn cpu_domain_info<O: Endian>() {
    let bytes = every::cpu_domain_info(big::<O>()).out;
    let smt = SchedDomain {
        domain: 0,
        dname: Some("SMT".into()),
        cpumask: "00000003".into(),
        cpulist: "0-1".into(),
    };
    let mc = SchedDomain {
        domain: 1,
        dname: Some("MC".into()),
        cpumask: "0000000f".into(),
        cpulist: "0-3".into(),
    };
    assert_eq!(
        decoded!(O, CPU_DOMAIN_INFO, CpuDomainInfo, &bytes),
        DomainInfo {
            schedstat_version: 17,
            max_sched_domains: 2,
            cpus: Entries::from(&[
                CpuDomains { cpu: 0, domains: Entries::from(&[smt, mc]) },
                CpuDomains { cpu: 1, domains: Entries::default() }
            ]),
        }
    );
}

fn cpu_domain_info_before_names<O: Endian>() {
    let bytes = Bytes::of::<O>()
        .u32(16) // schedstat_version
        .u32(1) // max_sched_domains
        .u32(3) // cpu
        .u32(1) // nr_domains
        .u32(0) // domain
        .string("3") // cpumask
        .string("0-1") // cpulist
        .out;
    let it = decoded!(O, CPU_DOMAIN_INFO, CpuDomainInfo, &bytes);
    let domain = SchedDomain { domain: 0, dname: None, cpumask: "3".into(), cpulist: "0-1".into() };
    assert_eq!(it.cpus, [CpuDomains { cpu: 3, domains: Entries::from(&[domain]) }]);
}

fn e_machine<O: Endian>() {
    let bytes = Bytes::of::<O>()
        .u32(243) // e_machine
        .u32(5) // e_flags
        .out;
    let it = decoded!(O, E_MACHINE, EMachine, &bytes);
    assert_eq!(it, EMachine { e_machine: 243, e_flags: 5 });
    let name = |e_machine| EMachine { e_machine, e_flags: 0 }.name();
    let names = [3, 40, 62, 183, 243, 258, 0x9026].map(name);
    let expected = ["386", "ARM", "X86_64", "AARCH64", "RISCV", "LOONGARCH", "ALPHA"];
    assert_eq!(names, expected.map(Some));
    assert_eq!([0, 63, u32::MAX].map(name), [None; 3]);
}

/// Some builds of perf pad a feature in a pipe with zeros to a multiple of 8 bytes. One capture, of perf 6.12, has
/// this.
fn padding_of_a_pipe<O: Endian>() {
    for example in every::examples(big::<O>()) {
        let mut bytes = example.bytes;
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        // The entries of build ids are multiples of 8 bytes and do not occur among a pipe's features.
        assert_eq!(compare::feature::decode(&section::<O>(example.feature, &bytes), every::NR_CPUS), Ok(()));
        for &whole in example.whole.iter().filter(|_| example.feature == Feature::CPU_TOPOLOGY) {
            let mut bytes = bytes[..whole].to_vec();
            bytes.resize(whole.next_multiple_of(8), 0);
            let it = decoded!(O, CPU_TOPOLOGY, CpuTopology, &bytes);
            assert_eq!((it.cpus.is_empty(), it.dies.is_none()), (whole == 208, whole != 300));
        }
    }
}

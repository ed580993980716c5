//! The values of the examples, field by field.

use perf_parse::abi::endian::Endian;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::file::{CompressType, DirVersion};
use perf_parse::file::{
    BpfBtf, Cache, ClockData, Compression, CpuDomains, CpuPlace, DomainInfo, EMachine, FeatureSection,
    GroupDesc, HybridPmu, NumaNode, PmuCap, PmuCaps, SchedDomain,
};

use crate::{big, in_both_orders};
use testdata::Bytes;
use testdata::features as every;

/// The section of a feature. Its offset in the capture does not affect values.
fn section(feature: Feature, bytes: &[u8]) -> FeatureSection<'_> {
    FeatureSection::new(feature, 0, bytes)
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
    let all: Vec<_> = section(Feature::BUILD_ID, &bytes).build_ids::<O>().collect::<Result<_, _>>().unwrap();
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
    let all: Vec<_> = section(Feature::BUILD_ID, &bytes).build_ids::<O>().collect::<Result<_, _>>().unwrap();
    let all: Vec<_> = all.iter().map(|it| (it.misc.0, it.pid, it.build_id, it.filename)).collect();
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
        assert_eq!(section(feature, &bytes).string::<O>().unwrap(), b"host");
    }
    let bytes = every::cmdline(big::<O>()).out;
    assert_eq!(section(Feature::CMDLINE, &bytes).strings::<O>().unwrap(), [&b"perf"[..], b"record"]);
    let bytes = every::nr_cpus(big::<O>()).out;
    assert_eq!(section(Feature::NRCPUS, &bytes).nr_cpus::<O>(), Ok((8, 6)));
    let bytes = Bytes::of::<O>().u64(24_684_096).out;
    assert_eq!(section(Feature::TOTAL_MEM, &bytes).total_mem::<O>(), Ok(24_684_096));
    let bytes = Bytes::of::<O>().u32(128).out;
    assert_eq!(section(Feature::CLN_SIZE, &bytes).cln_size::<O>(), Ok(128));
}

fn event_desc<O: Endian>() {
    let bytes = every::event_desc(big::<O>()).out;
    let all: Vec<_> =
        section(Feature::EVENT_DESC, &bytes).event_desc::<O>().collect::<Result<_, _>>().unwrap();
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
    let place = |core_id, socket_id, die_id| CpuPlace { core_id, socket_id, die_id };
    let siblings = |len: usize| {
        let it = section(Feature::CPU_TOPOLOGY, &bytes[..len]).cpu_topology::<O>(every::NR_CPUS).unwrap();
        assert_eq!(it.core_siblings, [b"0-1"]);
        assert_eq!(it.thread_siblings, [b"0", b"1"]);
        (it.cpus, it.die_siblings)
    };
    assert_eq!(siblings(208), (vec![], None), "of perf before 4.0");
    assert_eq!(siblings(224), (vec![place(10, 20, None), place(11, 21, None)], None), "before 5.3");
    let dies = vec![&b"0-1"[..]];
    assert_eq!(siblings(300), (vec![place(10, 20, Some(30)), place(11, 21, Some(31))], Some(dies)));
}

fn numa_topology<O: Endian>() {
    let bytes = every::numa_topology(big::<O>()).out;
    assert_eq!(
        section(Feature::NUMA_TOPOLOGY, &bytes).numa_topology::<O>().unwrap(),
        [
            NumaNode { node: 0, mem_total: 4_417_752, mem_free: 3_711_860, cpus: b"0-1" },
            NumaNode { node: 5, mem_total: 8, mem_free: 7, cpus: b"" },
        ]
    );
}

#[test]
fn marks() {
    for feature in [Feature::BRANCH_STACK, Feature::STAT] {
        assert_eq!(section(feature, &[]).mark(), Ok(()));
    }
}

fn pmu_mappings<O: Endian>() {
    let bytes = every::pmu_mappings(big::<O>()).out;
    assert_eq!(
        section(Feature::PMU_MAPPINGS, &bytes).pmu_mappings::<O>().unwrap(),
        [(EventType(1), &b"software"[..]), (EventType(u32::MAX), b"hwmon")]
    );
}

fn group_desc<O: Endian>() {
    let bytes = every::group_desc(big::<O>()).out;
    assert_eq!(
        section(Feature::GROUP_DESC, &bytes).group_desc::<O>().unwrap(),
        [
            GroupDesc { name: b"{anon_group}", leader_idx: 0, nr_members: 2 },
            GroupDesc { name: b"mine", leader_idx: 3, nr_members: 4 },
        ]
    );
}

fn auxtrace<O: Endian>() {
    let bytes = every::auxtrace(big::<O>()).out;
    let entries = section(Feature::AUXTRACE, &bytes).auxtrace::<O>().unwrap();
    let entries: Vec<_> = entries.iter().map(|it| (it.file_offset.get(), it.size.get())).collect();
    assert_eq!(entries, [(0x29c0, 48), (0x7788, 0x1_0000_0030)]);
}

fn cache<O: Endian>() {
    let bytes = every::cache(big::<O>()).out;
    let data = Cache { level: 1, line_size: 64, sets: 128, ways: 8, kind: b"Data", size: b"32K", map: b"0" };
    let unified =
        Cache { level: 3, line_size: 65, sets: 129, ways: 9, kind: b"Unified", size: b"32768K", map: b"0-1" };
    assert_eq!(section(Feature::CACHE, &bytes).cache::<O>().unwrap(), [data, unified]);
}

fn times_and_clocks<O: Endian>() {
    let bytes = every::sample_time(big::<O>()).out;
    assert_eq!(
        section(Feature::SAMPLE_TIME, &bytes).sample_time::<O>(),
        Ok((2_310_408_503_494, 2_310_410_580_908))
    );
    let bytes = Bytes::of::<O>().u64(4).out;
    assert_eq!(section(Feature::CLOCKID, &bytes).clockid::<O>(), Ok(4));
    let bytes = every::clock_data(big::<O>()).out;
    assert_eq!(
        section(Feature::CLOCK_DATA, &bytes).clock_data::<O>(),
        Ok(ClockData {
            version: 1,
            clockid: 7,
            wall_clock_ns: 1_795_262_943_136_017_000,
            clockid_time_ns: 2_310_348_467_321,
        })
    );
}

fn mem_topology<O: Endian>() {
    let bytes = every::mem_topology(big::<O>()).out;
    let it = section(Feature::MEM_TOPOLOGY, &bytes).mem_topology::<O>().unwrap();
    assert_eq!(it.block_size_bytes, 0x800_0000);
    let [first, second] = it.nodes[..] else { panic!("{it:?}") };
    assert_eq!((first.node, first.size, first.blocks.nbits()), (0, 67, 67));
    assert_eq!(first.blocks.words(), [1 | 1 << 63, 0b1101]);
    assert_eq!(first.blocks.iter().collect::<Vec<_>>(), [0, 63, 64, 66], "bit 67 is past the last");
    assert_eq!(first.blocks.count(), 4);
    assert_eq!((second.node, second.size, second.blocks.nbits()), (1, 0, 0));
    assert_eq!(second.blocks.iter().count(), 0);
}

fn storage<O: Endian>() {
    let bytes = Bytes::of::<O>().u64(1).out;
    assert_eq!(section(Feature::DIR_FORMAT, &bytes).dir_format::<O>(), Ok(DirVersion::VERSION));
    let bytes = every::compressed(big::<O>()).out;
    assert_eq!(
        section(Feature::COMPRESSED, &bytes).compressed::<O>(),
        Ok(Compression { version: 0, kind: CompressType::ZSTD, level: 3, ratio: 12, mmap_len: 528_384 })
    );
}

fn bpf_prog_info<O: Endian>() {
    let bytes = every::bpf_prog_info(big::<O>()).out;
    let all = section(Feature::BPF_PROG_INFO, &bytes).bpf_prog_info::<O>().unwrap();
    let [first, second] = all[..] else { panic!("{all:?}") };
    let program = first.program;
    assert_eq!((program.kind.get(), program.id.get()), (26, 2));
    assert_eq!((program.tag, first.name()), ([0x7c; 8], &b"hid_tail_call"[..]));
    assert_eq!((program.load_time.get(), program.created_by_uid.get()), (987_844_719, 1000));
    assert_eq!((first.info.len(), first.data.len(), first.arrays), (128, 48, 0b1_1111));
    assert_eq!(first.jited_prog_insns(), Some(&[0x90, 0x91, 0x92][..]));
    assert_eq!(first.xlated_prog_insns(), Some(&[0x95, 0, 0, 0, 0, 0, 0, 0][..]));
    assert_eq!(first.map_ids().unwrap(), [7, 8]);
    assert_eq!(first.jited_ksyms().unwrap(), [0xffff_8000_800d_d570_u64, 0xffff_8000_800d_d638]);
    assert_eq!(first.jited_func_lens().unwrap(), [200]);
    assert_eq!((second.program.kind.get(), second.program.id.get()), (8, 3));
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
        let all = section(Feature::BPF_PROG_INFO, &bytes).bpf_prog_info::<O>().unwrap();
        all[0].jited_ksyms().map(<[_]>::len)
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
        section(Feature::BPF_BTF, &bytes).bpf_btf::<O>().unwrap(),
        [BpfBtf { id: 2, bytes: &[0x9f, 0xeb, 1] }, BpfBtf { id: 4, bytes: &[] }]
    );
}

fn pmu_caps<O: Endian>() {
    let bytes = every::cpu_pmu_caps(big::<O>()).out;
    assert_eq!(
        section(Feature::CPU_PMU_CAPS, &bytes).cpu_pmu_caps::<O>().unwrap(),
        [PmuCap { name: b"branches", value: b"32" }, PmuCap { name: b"pmu_name", value: b"skylake" }]
    );
    let bytes = every::pmu_caps(big::<O>()).out;
    let slots = PmuCap { name: b"slots", value: b"0x0" };
    assert_eq!(
        section(Feature::PMU_CAPS, &bytes).pmu_caps::<O>().unwrap(),
        [
            PmuCaps { pmu_name: b"armv8_pmuv3_0", caps: vec![slots] },
            PmuCaps { pmu_name: b"empty", caps: vec![] },
        ]
    );
}

fn hybrid_topology<O: Endian>() {
    let bytes = every::hybrid_topology(big::<O>()).out;
    assert_eq!(
        section(Feature::HYBRID_TOPOLOGY, &bytes).hybrid_topology::<O>().unwrap(),
        [
            HybridPmu { pmu_name: b"cpu_core", cpus: b"0-3" },
            HybridPmu { pmu_name: b"cpu_atom", cpus: b"4-11" },
        ]
    );
}

fn cpu_domain_info<O: Endian>() {
    let bytes = every::cpu_domain_info(big::<O>()).out;
    let smt = SchedDomain { domain: 0, dname: Some(b"SMT"), cpumask: b"00000003", cpulist: b"0-1" };
    let mc = SchedDomain { domain: 1, dname: Some(b"MC"), cpumask: b"0000000f", cpulist: b"0-3" };
    assert_eq!(
        section(Feature::CPU_DOMAIN_INFO, &bytes).cpu_domain_info::<O>().unwrap(),
        DomainInfo {
            schedstat_version: 17,
            max_sched_domains: 2,
            cpus: vec![CpuDomains { cpu: 0, domains: vec![smt, mc] }, CpuDomains { cpu: 1, domains: vec![] },],
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
    let it = section(Feature::CPU_DOMAIN_INFO, &bytes).cpu_domain_info::<O>().unwrap();
    let domain = SchedDomain { domain: 0, dname: None, cpumask: b"3", cpulist: b"0-1" };
    assert_eq!(it.cpus, [CpuDomains { cpu: 3, domains: vec![domain] }]);
}

fn e_machine<O: Endian>() {
    let bytes = Bytes::of::<O>()
        .u32(243) // e_machine
        .u32(5) // e_flags
        .out;
    let it = section(Feature::E_MACHINE, &bytes).e_machine::<O>().unwrap();
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
        assert_eq!(compare::feature::decode::<O>(&section(example.feature, &bytes), every::NR_CPUS), Ok(()));
        for &whole in example.whole.iter().filter(|_| example.feature == Feature::CPU_TOPOLOGY) {
            let mut bytes = bytes[..whole].to_vec();
            bytes.resize(whole.next_multiple_of(8), 0);
            let it = section(example.feature, &bytes).cpu_topology::<O>(every::NR_CPUS).unwrap();
            assert_eq!((it.cpus.is_empty(), it.die_siblings.is_none()), (whole == 208, whole != 300));
        }
    }
}

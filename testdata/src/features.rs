//! One example of each feature section.

pub mod simpleperf;

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::feature::Feature;

use crate::Bytes;

/// A section of a feature, and the lengths at which a complete section may end.
#[derive(Clone, Debug)]
pub struct Example {
    /// The number of the feature.
    pub feature: Feature,
    /// The payload.
    pub bytes: Vec<u8>,
    /// The lengths at which the section is complete, in ascending order.
    pub whole: Vec<usize>,
}

/// Number of CPUs of the machine in the examples.
pub const NR_CPUS: u32 = 2;

/// Returns an example of each feature with a known format, with at least two items in each list.
#[must_use]
pub fn examples(big: bool) -> Vec<Example> {
    let example = |feature, bytes: Bytes| Example { feature, whole: vec![bytes.len()], bytes: bytes.out };
    let ends = |ends: &[usize], example: Example| Example { whole: ends.to_vec(), ..example };
    vec![
        ends(&[0, 64, 128], example(Feature::BUILD_ID, build_ids(big))),
        example(Feature::HOSTNAME, Bytes::new(big).string("host")),
        example(Feature::OSRELEASE, Bytes::new(big).string("6.1.0")),
        example(Feature::VERSION, Bytes::new(big).string("6.1")),
        example(Feature::ARCH, Bytes::new(big).string("x86_64")),
        example(Feature::CPUDESC, Bytes::new(big).string("")),
        example(Feature::CPUID, Bytes::new(big).string("GenuineIntel,6,85,7")),
        example(Feature::NRCPUS, nr_cpus(big)),
        example(Feature::TOTAL_MEM, Bytes::new(big).u64(24_684_096)),
        example(Feature::CMDLINE, cmdline(big)),
        example(Feature::EVENT_DESC, event_desc(big)),
        ends(&[208, 224, 300], example(Feature::CPU_TOPOLOGY, cpu_topology(big))),
        example(Feature::NUMA_TOPOLOGY, numa_topology(big)),
        example(Feature::BRANCH_STACK, Bytes::new(big)),
        example(Feature::PMU_MAPPINGS, pmu_mappings(big)),
        example(Feature::GROUP_DESC, group_desc(big)),
        example(Feature::AUXTRACE, auxtrace(big)),
        example(Feature::STAT, Bytes::new(big)),
        example(Feature::CACHE, cache(big)),
        example(Feature::SAMPLE_TIME, sample_time(big)),
        example(Feature::MEM_TOPOLOGY, mem_topology(big)),
        example(Feature::CLOCKID, Bytes::new(big).u64(1)),
        example(Feature::DIR_FORMAT, Bytes::new(big).u64(1)),
        example(Feature::BPF_PROG_INFO, bpf_prog_info(big)),
        example(Feature::BPF_BTF, bpf_btf(big)),
        example(Feature::COMPRESSED, compressed(big)),
        example(Feature::CPU_PMU_CAPS, cpu_pmu_caps(big)),
        example(Feature::CLOCK_DATA, clock_data(big)),
        example(Feature::HYBRID_TOPOLOGY, hybrid_topology(big)),
        example(Feature::PMU_CAPS, pmu_caps(big)),
        ends(&[8, 428, 436], example(Feature::CPU_DOMAIN_INFO, cpu_domain_info(big))),
        example(Feature::E_MACHINE, Bytes::new(big).u32(62).u32(0)),
        example(Feature::CLN_SIZE, Bytes::new(big).u32(64)),
    ]
    .into_iter()
    .chain(simpleperf::examples(big))
    .collect()
}

/// A payload of `BUILD_ID`.
#[must_use]
pub fn build_ids(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(0) // header.type, which perf leaves 0
        .u16(0x8001) // header.misc: BUILD_ID_SIZE, kernel
        .u16(64) // header.size
        .u32(u32::MAX) // pid -1
        .raw(&[0x11; 20]) // build_id
        .raw(&[16]) // size
        .raw(&[0; 3]) // reserved
        .raw(b"[kernel.kallsyms]\0\0\0\0\0\0\0\0\0\0\0") // filename
        .u32(67) // header.type
        .u16(0x0002) // header.misc: user, no size
        .u16(64) // header.size
        .u32(77) // pid
        .raw(&[0x22; 20]) // build_id
        .raw(&[0; 4]) // size, reserved
        .raw(b"/bin/true\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") // filename
}

/// A payload of `NRCPUS`.
#[must_use]
pub fn nr_cpus(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(8) // nr_cpus_available
        .u32(6) // nr_cpus_online
}

/// A payload of `CMDLINE`.
#[must_use]
pub fn cmdline(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .string("perf")
        .string("record")
}

/// A payload of `EVENT_DESC`.
#[must_use]
pub fn event_desc(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .u32(64) // attr_size
        .attr(&event(1, 2), 64) // attr: software, page faults
        .u32(2) // nr_ids
        .string("page-faults") // name
        .u64(744) // ids
        .u64(745)
        .attr(&event(0, 0), 64) // attr: hardware, cycles
        .u32(0) // nr_ids
        .string("cycles") // name
}

/// A payload of `CPU_TOPOLOGY`: 208 bytes of siblings, 16 of core and socket ids, 76 of dies.
#[must_use]
pub fn cpu_topology(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(1) // nr_core_siblings
        .string("0-1")
        .u32(2) // nr_thread_siblings
        .string("0")
        .u32(60) // length of a string that is not padded to 64
        .raw(b"1")
        .zeros(59)
        .u32(10) // core_id of CPU 0
        .u32(20) // socket_id
        .u32(11) // core_id of CPU 1
        .u32(21) // socket_id
        .u32(1) // nr_die_siblings
        .u32(60)
        .raw(b"0-1")
        .zeros(57)
        .u32(30) // die_id of CPU 0
        .u32(31) // die_id of CPU 1
}

/// A payload of `NUMA_TOPOLOGY`.
#[must_use]
pub fn numa_topology(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .u32(0) // node
        .u64(4_417_752) // mem_total
        .u64(3_711_860) // mem_free
        .string("0-1") // cpus
        .u32(5) // node
        .u64(8) // mem_total
        .u64(7) // mem_free
        .string("") // cpus
}

/// A payload of `PMU_MAPPINGS`.
#[must_use]
pub fn pmu_mappings(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .u32(1) // type
        .string("software") // name
        .u32(u32::MAX) // type
        .string("hwmon") // name
}

/// A payload of `GROUP_DESC`.
#[must_use]
pub fn group_desc(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .string("{anon_group}") // name
        .u32(0) // leader_idx
        .u32(2) // nr_members
        .string("mine") // name
        .u32(3) // leader_idx
        .u32(4) // nr_members
}

/// A payload of `AUXTRACE`.
#[must_use]
pub fn auxtrace(big: bool) -> Bytes {
    Bytes::new(big)
        .u64(2) // nr
        .u64(0x29c0) // file_offset
        .u64(48) // size
        .u64(0x7788) // file_offset
        .u64(0x1_0000_0030) // size
}

/// A payload of `CACHE`.
#[must_use]
pub fn cache(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(1) // version
        .u32(2) // nr
        .u32(1) // level
        .u32(64) // line_size
        .u32(128) // sets
        .u32(8) // ways
        .string("Data") // type
        .string("32K") // size
        .string("0") // map
        .u32(3) // level
        .u32(65) // line_size
        .u32(129) // sets
        .u32(9) // ways
        .string("Unified") // type
        .string("32768K") // size
        .string("0-1") // map
}

/// A payload of `SAMPLE_TIME`.
#[must_use]
pub fn sample_time(big: bool) -> Bytes {
    Bytes::new(big)
        .u64(2_310_408_503_494) // first
        .u64(2_310_410_580_908) // last
}

/// A payload of `MEM_TOPOLOGY`.
#[must_use]
pub fn mem_topology(big: bool) -> Bytes {
    Bytes::new(big)
        .u64(1) // version
        .u64(0x800_0000) // block_size_bytes
        .u64(2) // nr
        .u64(0) // node
        .u64(67) // size
        .u64(67) // bitmap.nbits
        .u64(1 | 1 << 63) // bitmap
        .u64(1 | 1 << 2 | 1 << 3) // bits 64 and 66, and one past the last
        .u64(1) // node
        .u64(0) // size
        .u64(0) // bitmap.nbits
}

/// A payload of `BPF_PROG_INFO`: a program with the first 128 bytes of `struct bpf_prog_info`, and a program with 8
/// more bytes and no arrays.
#[must_use]
pub fn bpf_prog_info(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .u32(128) // info_len
        .u32(48) // data_len
        .u64(0b1_1111) // arrays
        .u32(26) // type
        .u32(2) // id
        .raw(&[0x7c; 8]) // tag
        .u32(3) // jited_prog_len
        .u32(8) // xlated_prog_len
        .u64(0) // jited_prog_insns
        .u64(8) // xlated_prog_insns
        .u64(987_844_719) // load_time
        .u32(1000) // created_by_uid
        .u32(2) // nr_map_ids
        .u64(16) // map_ids
        .raw(b"hid_tail_call\0\0\0") // name
        .u32(0) // ifindex
        .u32(0) // gpl_compatible
        .u64(0) // netns_dev
        .u64(0) // netns_ino
        .u32(2) // nr_jited_ksyms
        .u32(1) // nr_jited_func_lens
        .u64(24) // jited_ksyms
        .u64(40) // jited_func_lens
        .raw(&[0x90, 0x91, 0x92, 0, 0, 0, 0, 0]) // data: machine code
        .raw(&[0x95, 0, 0, 0, 0, 0, 0, 0]) // BPF code
        .u32(7) // map ids
        .u32(8)
        .u64(0xffff_8000_800d_d570) // addresses
        .u64(0xffff_8000_800d_d638)
        .u32(200) // lengths
        .u32(0) // padding
        .u32(136) // info_len
        .u32(0) // data_len
        .u64(0) // arrays
        .u32(8) // type
        .u32(3) // id
        .zeros(56) // tag to map_ids
        .raw(b"a_name_of_16_let") // name
        .zeros(48) // ifindex to jited_func_lens
        .u32(9) // btf_id
        .u32(0) // func_info_rec_size
}

/// A payload of `BPF_BTF`.
#[must_use]
pub fn bpf_btf(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .u32(2) // id
        .u32(3) // size
        .raw(&[0x9f, 0xeb, 1]) // data
        .u32(4) // id
        .u32(0) // size
}

/// A payload of `COMPRESSED`.
#[must_use]
pub fn compressed(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(0) // version
        .u32(1) // type
        .u32(3) // level
        .u32(12) // ratio
        .u32(528_384) // mmap_len
}

/// A payload of `CPU_PMU_CAPS`.
#[must_use]
pub fn cpu_pmu_caps(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr_caps
        .string("branches") // name
        .string("32") // value
        .string("pmu_name") // name
        .string("skylake") // value
}

/// A payload of `CLOCK_DATA`.
#[must_use]
pub fn clock_data(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(1) // version
        .u32(7) // clockid
        .u64(1_795_262_943_136_017_000) // wall_clock_ns
        .u64(2_310_348_467_321) // clockid_time_ns
}

/// A payload of `HYBRID_TOPOLOGY`.
#[must_use]
pub fn hybrid_topology(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr
        .string("cpu_core") // pmu_name
        .string("0-3") // cpus
        .string("cpu_atom") // pmu_name
        .string("4-11") // cpus
}

/// A payload of `PMU_CAPS`.
#[must_use]
pub fn pmu_caps(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(2) // nr_pmu
        .u32(1) // nr_caps
        .string("slots") // name
        .string("0x0") // value
        .string("armv8_pmuv3_0") // pmu_name
        .u32(0) // nr_caps
        .string("empty") // pmu_name
}

/// 8 bytes, a CPU of 420 bytes, a CPU of 8 bytes.
#[must_use]
pub fn cpu_domain_info(big: bool) -> Bytes {
    Bytes::new(big)
        .u32(17) // schedstat_version
        .u32(2) // max_sched_domains
        .u32(0) // cpu
        .u32(2) // nr_domains
        .u32(0) // domain
        .string("SMT") // dname
        .string("00000003") // cpumask
        .string("0-1") // cpulist
        .u32(1) // domain
        .string("MC") // dname
        .u32(60) // length of a string that is not padded to 64
        .raw(b"0000000f") // cpumask
        .zeros(52)
        .string("0-3") // cpulist
        .u32(1) // cpu
        .u32(0) // nr_domains
}

/// Returns an event of this type and config, and zeros otherwise.
#[must_use]
pub fn event(kind: u32, config: u64) -> Attr {
    Attr { kind: EventType(kind), config, ..Attr::default() }
}

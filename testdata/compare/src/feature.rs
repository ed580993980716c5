//! Feature sections, as the values of the oracle.

use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;
use perf_parse::ByteStr;
use perf_parse::feature::{
    BpfProgInfo, Cache, CpuDomains, CpuPlace, Entries, EtmAddress, EtmBinary, EtmBranch, EventDesc,
    FeatureData, FeatureSection, FieldValue, MemNode, NumaNode, PmuCap, SchedDomain, StoredFile,
    StoredSymbol,
};
use perf_parse::file::FileError;
use testdata::fields;
use testdata::oracle::{self, Value};

use crate::attr;
use crate::user::build_id;

/// Compares the decoder with the oracle on a section: both accept it with the same values, or refuse it. Returns
/// whether it was accepted.
///
/// # Panics
///
/// If they differ.
pub fn check(section: &FeatureSection<'_>, nr_cpus: u32) -> bool {
    let is_big = section.endianness() == Endianness::Big;
    let expected = oracle::feature(section.feature.0, nr_cpus, is_big, section.bytes);
    match (section.with_nr_cpus(nr_cpus).decode(), expected) {
        (Ok(decoded), Ok(expected)) => {
            assert_eq!(values(&decoded), expected, "{section:?}");
            true
        }
        (Err(_), Err(_)) => false,
        (decoded, expected) => panic!("{section:?} is {decoded:?} and not {expected:?}"),
    }
}

/// Returns the values of a decoded section. `None` for tracing data, and if the feature is unknown.
fn values(data: &FeatureData<'_>) -> Option<Value> {
    Some(match *data {
        FeatureData::BuildId(ids) => ids.iter().map(|it| build_id(&it)).collect(),
        FeatureData::Hostname(text)
        | FeatureData::OsRelease(text)
        | FeatureData::Version(text)
        | FeatureData::Arch(text)
        | FeatureData::CpuDesc(text)
        | FeatureData::CpuId(text) => text.as_bytes().into(),
        FeatureData::NrCpus(it) => fields! { available: it.available, online: it.online },
        FeatureData::TotalMem(size) => size.into(),
        FeatureData::CmdLine(words) => texts(words),
        FeatureData::EventDesc(descs) => {
            let event = |it: EventDesc<'_>| {
                fields! { attr: attr(&it.attr), name: it.name.as_bytes(), ids: it.ids.iter().collect::<Value>() }
            };
            descs.events.iter().map(event).collect()
        }
        FeatureData::CpuTopology(it) => {
            let place = |it: CpuPlace| fields! { core_id: it.core_id, socket_id: it.socket_id };
            fields! {
                cores: texts(it.core_siblings),
                threads: texts(it.thread_siblings),
                cpus: it.cpus.iter().map(place).collect::<Value>(),
                dies: it.dies.map(|dies| texts(dies.die_siblings)),
                die_ids: it.dies.iter().flat_map(|dies| dies.die_ids).collect::<Value>(),
            }
        }
        FeatureData::NumaTopology(nodes) => {
            let node = |it: NumaNode<'_>| {
                fields! { node: it.node, mem_total: it.mem_total, mem_free: it.mem_free, cpus: it.cpus.as_bytes() }
            };
            nodes.iter().map(node).collect()
        }
        FeatureData::BranchStack | FeatureData::Stat => fields! {},
        FeatureData::PmuMappings(mappings) => {
            mappings.iter().map(|it| fields! { kind: it.kind.0, name: it.name.as_bytes() }).collect()
        }
        FeatureData::GroupDesc(groups) => groups
            .iter()
            .map(|it| fields! { name: it.name.as_bytes(), leader_idx: it.leader_idx, nr_members: it.nr_members })
            .collect(),
        FeatureData::Auxtrace(entries) => {
            entries.iter().map(|it| fields! { file_offset: it.file_offset, size: it.size }).collect()
        }
        FeatureData::Cache(caches) => {
            let cache = |it: Cache<'_>| {
                fields! {
                    level: it.level, line_size: it.line_size, sets: it.sets, ways: it.ways, kind: it.kind.as_bytes(),
                    size: it.size.as_bytes(), map: it.map.as_bytes(),
                }
            };
            caches.iter().map(cache).collect()
        }
        FeatureData::SampleTime(it) => fields! { first: it.first, last: it.last },
        FeatureData::MemTopology(it) => {
            let node = |it: MemNode<'_>| {
                assert_eq!(it.blocks.iter().count() as u64, it.blocks.count());
                let blocks = it.blocks.iter().collect::<Value>();
                fields! { node: it.node, size: it.size, nbits: it.blocks.nbits, blocks: blocks }
            };
            fields! { block_size: it.block_size_bytes, nodes: it.nodes.iter().map(node).collect::<Value>() }
        }
        FeatureData::ClockId(it) => it.resolution_ns.into(),
        FeatureData::DirFormat(it) => it.version.0.into(),
        FeatureData::BpfProgInfo(programs) => programs.iter().map(|it| bpf_prog_info(&it)).collect(),
        FeatureData::BpfBtf(all) => all.iter().map(|it| fields! { id: it.id, bytes: it.bytes }).collect(),
        FeatureData::Compressed(it) => fields! {
            version: it.version, kind: it.kind.0, level: it.level, ratio: it.ratio, mmap_len: it.mmap_len,
        },
        FeatureData::CpuPmuCaps(all) => caps(all),
        FeatureData::ClockData(it) => {
            fields! { clockid: it.clockid, wall_ns: it.wall_clock_ns, clockid_ns: it.clockid_time_ns }
        }
        FeatureData::HybridTopology(pmus) => {
            pmus.iter().map(|it| fields! { name: it.pmu_name.as_bytes(), value: it.cpus.as_bytes() }).collect()
        }
        FeatureData::PmuCaps(pmus) => {
            pmus.iter().map(|it| fields! { caps: caps(it.caps), pmu_name: it.pmu_name.as_bytes() }).collect()
        }
        FeatureData::CpuDomainInfo(it) => {
            let domain = |it: SchedDomain<'_>| {
                fields! { domain: it.domain, name: it.dname.map(ByteStr::as_bytes), cpumask: it.cpumask.as_bytes(), cpulist: it.cpulist.as_bytes() }
            };
            let cpu = |it: CpuDomains<'_>| {
                fields! { cpu: it.cpu, domains: it.domains.iter().map(domain).collect::<Value>() }
            };
            fields! {
                version: it.schedstat_version, max_domains: it.max_sched_domains,
                cpus: it.cpus.iter().map(cpu).collect::<Value>(),
            }
        }
        FeatureData::EMachine(it) => fields! { e_machine: it.e_machine, e_flags: it.e_flags },
        FeatureData::ClnSize(size) => size.into(),
        FeatureData::File(files) | FeatureData::File2(files) => files.iter().map(|it| stored_file(&it)).collect(),
        FeatureData::MetaInfo(it) => it
            .entries
            .iter()
            .map(|it| fields! { key: it.key.as_bytes(), value: it.value.as_bytes() })
            .collect(),
        FeatureData::DebugUnwind(files) => {
            files.iter().map(|it| fields! { path: it.path.as_bytes(), size: it.size }).collect()
        }
        FeatureData::EtmBranchList(it) => {
            fields! { magic: it.magic.as_bytes(), binaries: it.binaries.iter().map(etm_binary).collect::<Value>() }
        }
        FeatureData::InitMap(it) => it.records().flatten().map(|record| record.as_bytes()).collect(),
        _ => return None,
    })
}

fn stored_file(it: &StoredFile<'_>) -> Value {
    let symbol = |it: StoredSymbol<'_>| fields! { vaddr: it.vaddr, len: it.len, name: it.name.as_bytes() };
    fields! {
        path: it.path.as_bytes(), kind: it.kind.0, min_vaddr: it.min_vaddr,
        symbols: it.symbols.iter().map(symbol).collect::<Value>(),
        dex: it.dex_file_offsets.iter().map(|it| it.0).collect::<Value>(),
        in_file: it.file_offset_of_min_vaddr, in_memory: it.memory_offset_of_min_vaddr,
    }
}

fn etm_binary(it: EtmBinary<'_>) -> Value {
    let branch = |it: EtmBranch<'_>| fields! { branch: it.branch, size: it.branch_size, count: it.count };
    let addr = |it: EtmAddress<'_>| {
        fields! { addr: it.addr, branches: it.branches.iter().map(branch).collect::<Value>() }
    };
    fields! {
        path: it.path.as_bytes(), build_id: it.build_id.as_bytes(), addrs: it.addrs.iter().map(addr).collect::<Value>(),
        kind: it.kind, kernel: it.kernel_start_addr,
    }
}

fn texts(texts: Entries<'_, ByteStr<'_>>) -> Value {
    texts.iter().map(ByteStr::as_bytes).collect()
}

fn caps(caps: Entries<'_, PmuCap<'_>>) -> Value {
    caps.iter().map(|it| fields! { name: it.name.as_bytes(), value: it.value.as_bytes() }).collect()
}

fn bpf_prog_info(it: &BpfProgInfo<'_>) -> Value {
    let program = it.program;
    fields! {
        kind: program.kind, id: program.id, tag: &program.tag[..], load_time: program.load_time,
        uid: program.created_by_uid, name: it.name().as_bytes(), ifindex: program.ifindex, gpl: program.gpl_compatible,
        netns_dev: program.netns_dev, netns_ino: program.netns_ino,
        jited: it.jited_prog_insns(), xlated: it.xlated_prog_insns(),
        map_ids: it.map_ids().map(|all| all.iter().collect::<Value>()),
        ksyms: it.jited_ksyms().map(|all| all.iter().collect::<Value>()),
        lens: it.jited_func_lens().map(|all| all.iter().collect::<Value>()),
        newer: it.info.get(128..).unwrap_or_default(), arrays: it.arrays, data: it.data,
    }
}

/// Decodes the section of a machine with `nr_cpus` CPUs, and every entry of its lists. Allocates nothing: for tests
/// that count memory.
///
/// # Errors
///
/// That of the section.
///
/// # Panics
///
/// If the decoded section contradicts itself.
pub fn decode(section: &FeatureSection<'_>, nr_cpus: u32) -> Result<(), FileError> {
    let data = section.with_nr_cpus(nr_cpus).decode()?;
    assert_eq!(data.feature(), section.feature);
    match data {
        FeatureData::MemTopology(it) => {
            for node in it.nodes {
                assert_eq!(node.blocks.iter().count() as u64, node.blocks.count());
            }
        }
        FeatureData::BpfProgInfo(programs) => {
            for it in programs {
                assert!(it.name().len() <= 16);
                let bytes = [it.jited_prog_insns(), it.xlated_prog_insns()];
                let numbers = [it.map_ids(), it.jited_func_lens()];
                let taken = bytes.iter().flatten().map(|all| all.len()).sum::<usize>()
                    + numbers.iter().flatten().map(|all| 4 * all.len()).sum::<usize>()
                    + it.jited_ksyms().map_or(0, |all| 8 * all.len());
                assert!(taken <= 5 * it.data.len());
            }
        }
        _ => {}
    }
    walk(data.value());
    Ok(())
}

/// Walks over a value, and checks that each field has a name. Returns the number of values. Allocates nothing.
///
/// # Panics
///
/// If a field has no name.
pub fn walk(value: FieldValue<'_>) -> usize {
    let mut values = 1;
    match value {
        FieldValue::Object(fields) => fields.each(&mut |name, value| {
            assert!(!name.is_empty());
            values += walk(value);
        }),
        FieldValue::List(items) => items.each(&mut |value| values += walk(value)),
        _ => {}
    }
    values
}

/// Returns a section in byte order `O`.
#[must_use]
pub fn section<O: Endian>(feature: Feature, offset: u64, bytes: &[u8]) -> FeatureSection<'_> {
    FeatureSection::new(feature, offset, bytes, O::ENDIANNESS)
}

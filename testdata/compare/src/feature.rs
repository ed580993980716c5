//! Feature sections, as the values of the oracle.

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::{BpfProgInfo, FeatureSection, FileError};
use testdata::fields;
use testdata::oracle::{self, Value};

use crate::attr;
use crate::user::build_id;

/// Compares the decoder with the oracle on a section: both accept it with the same values, or refuse it. Returns whether
/// it was accepted.
///
/// # Panics
///
/// If they differ.
pub fn check<O: Endian>(section: &FeatureSection<'_>, nr_cpus: u32) -> bool {
    let expected = oracle::feature(section.feature.0, nr_cpus, crate::is_big::<O>(), section.bytes);
    match (values::<O>(section, nr_cpus), expected) {
        (Ok(decoded), Ok(expected)) => {
            assert_eq!(decoded, expected, "{section:?}");
            true
        }
        (Err(_), Err(_)) => false,
        (decoded, expected) => panic!("{section:?} is {decoded:?} and not {expected:?}"),
    }
}

/// Decodes a section. `None` if its feature is unknown.
fn values<O: Endian>(it: &FeatureSection<'_>, nr_cpus: u32) -> Result<Option<Value>, FileError> {
    let pairs = |pairs: Vec<(&[u8], &[u8])>| -> Value {
        pairs.into_iter().map(|(name, value)| fields! { name: name, value: value }).collect()
    };
    let caps = |caps: &[perf_parse::file::PmuCap<'_>]| -> Value {
        caps.iter().map(|it| fields! { name: it.name, value: it.value }).collect()
    };
    Ok(Some(match it.feature {
        Feature::BUILD_ID => {
            it.build_ids::<O>().map(|it| it.map(|it| build_id(&it))).collect::<Result<Vec<_>, _>>()?.into()
        }
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => it.string::<O>()?.into(),
        Feature::NRCPUS => {
            let (available, online) = it.nr_cpus::<O>()?;
            fields! { available: available, online: online }
        }
        Feature::TOTAL_MEM => it.total_mem::<O>()?.into(),
        Feature::CMDLINE => it.strings::<O>()?.into(),
        Feature::EVENT_DESC => {
            let event = |it: perf_parse::file::EventDesc<'_, O>| {
                let ids = it.ids.iter().map(|id| id.get()).collect::<Value>();
                fields! { attr: attr(&it.attr), name: it.name, ids: ids }
            };
            it.event_desc::<O>().map(|it| it.map(event)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Feature::CPU_TOPOLOGY => {
            let it = it.cpu_topology::<O>(nr_cpus)?;
            let place = |it: &perf_parse::file::CpuPlace| {
                fields! { core_id: it.core_id, socket_id: it.socket_id }
            };
            fields! {
                cores: it.core_siblings, threads: it.thread_siblings,
                cpus: it.cpus.iter().map(place).collect::<Value>(), dies: it.die_siblings,
                die_ids: it.cpus.iter().filter_map(|it| it.die_id).collect::<Value>(),
            }
        }
        Feature::NUMA_TOPOLOGY => {
            let node = |it: perf_parse::file::NumaNode<'_>| {
                fields! { node: it.node, mem_total: it.mem_total, mem_free: it.mem_free, cpus: it.cpus }
            };
            it.numa_topology::<O>()?.into_iter().map(node).collect()
        }
        Feature::BRANCH_STACK | Feature::STAT => {
            it.mark()?;
            fields! {}
        }
        Feature::PMU_MAPPINGS => {
            let mappings = it.pmu_mappings::<O>()?.into_iter();
            mappings.map(|(kind, name)| fields! { kind: kind.0, name: name }).collect()
        }
        Feature::GROUP_DESC => {
            let group = |it: perf_parse::file::GroupDesc<'_>| {
                fields! { name: it.name, leader_idx: it.leader_idx, nr_members: it.nr_members }
            };
            it.group_desc::<O>()?.into_iter().map(group).collect()
        }
        Feature::AUXTRACE => {
            let entries = it.auxtrace::<O>()?.iter();
            entries.map(|it| fields! { file_offset: it.file_offset.get(), size: it.size.get() }).collect()
        }
        Feature::CACHE => {
            let cache = |it: perf_parse::file::Cache<'_>| {
                fields! {
                    level: it.level, line_size: it.line_size, sets: it.sets, ways: it.ways, kind: it.kind,
                    size: it.size, map: it.map,
                }
            };
            it.cache::<O>()?.into_iter().map(cache).collect()
        }
        Feature::SAMPLE_TIME => {
            let (first, last) = it.sample_time::<O>()?;
            fields! { first: first, last: last }
        }
        Feature::MEM_TOPOLOGY => {
            let it = it.mem_topology::<O>()?;
            let nodes = it.nodes.iter().map(|it| {
                assert_eq!(it.blocks.iter().count() as u64, it.blocks.count());
                let blocks = it.blocks.iter().collect::<Value>();
                fields! { node: it.node, size: it.size, nbits: it.blocks.nbits(), blocks: blocks }
            });
            fields! { block_size: it.block_size_bytes, nodes: nodes.collect::<Value>() }
        }
        Feature::CLOCKID => it.clockid::<O>()?.into(),
        Feature::DIR_FORMAT => it.dir_format::<O>()?.0.into(),
        Feature::BPF_PROG_INFO => it.bpf_prog_info::<O>()?.iter().map(bpf_prog_info).collect(),
        Feature::BPF_BTF => {
            it.bpf_btf::<O>()?.iter().map(|it| fields! { id: it.id, bytes: it.bytes }).collect()
        }
        Feature::COMPRESSED => {
            let it = it.compressed::<O>()?;
            fields! {
                version: it.version, kind: it.kind.0, level: it.level, ratio: it.ratio, mmap_len: it.mmap_len,
            }
        }
        Feature::CPU_PMU_CAPS => caps(&it.cpu_pmu_caps::<O>()?),
        Feature::CLOCK_DATA => {
            let it = it.clock_data::<O>()?;
            fields! { clockid: it.clockid, wall_ns: it.wall_clock_ns, clockid_ns: it.clockid_time_ns }
        }
        Feature::HYBRID_TOPOLOGY => {
            pairs(it.hybrid_topology::<O>()?.iter().map(|it| (it.pmu_name, it.cpus)).collect())
        }
        Feature::PMU_CAPS => {
            let pmu = |it: &perf_parse::file::PmuCaps<'_>| {
                fields! { caps: caps(&it.caps), pmu_name: it.pmu_name }
            };
            it.pmu_caps::<O>()?.iter().map(pmu).collect()
        }
        Feature::CPU_DOMAIN_INFO => {
            let it = it.cpu_domain_info::<O>()?;
            let domain = |it: &perf_parse::file::SchedDomain<'_>| {
                fields! { domain: it.domain, name: it.dname, cpumask: it.cpumask, cpulist: it.cpulist }
            };
            let cpus = it.cpus.iter().map(|it| {
                fields! { cpu: it.cpu, domains: it.domains.iter().map(domain).collect::<Value>() }
            });
            fields! {
                version: it.schedstat_version, max_domains: it.max_sched_domains,
                cpus: cpus.collect::<Value>(),
            }
        }
        Feature::E_MACHINE => {
            let it = it.e_machine::<O>()?;
            fields! { e_machine: it.e_machine, e_flags: it.e_flags }
        }
        Feature::CLN_SIZE => it.cln_size::<O>()?.into(),
        _ => return Ok(None),
    }))
}

fn bpf_prog_info<O: Endian>(it: &BpfProgInfo<'_, O>) -> Value {
    let program = it.program;
    fields! {
        kind: program.kind.get(), id: program.id.get(), tag: &program.tag[..], load_time: program.load_time.get(),
        uid: program.created_by_uid.get(), name: it.name(), ifindex: program.ifindex.get(),
        gpl: program.gpl_compatible.get(), netns_dev: program.netns_dev.get(), netns_ino: program.netns_ino.get(),
        jited: it.jited_prog_insns(), xlated: it.xlated_prog_insns(),
        map_ids: it.map_ids().map(|ids| ids.iter().map(|id| id.get()).collect::<Value>()),
        ksyms: it.jited_ksyms().map(|all| all.iter().map(|it| it.get()).collect::<Value>()),
        lens: it.jited_func_lens().map(|all| all.iter().map(|it| it.get()).collect::<Value>()),
        newer: it.info.get(128..).unwrap_or_default(), arrays: it.arrays, data: it.data,
    }
}

/// Decodes a section and everything that it returns lazily, and copies nothing: for tests that count memory.
///
/// # Errors
///
/// That of the section.
pub fn decode<O: Endian>(section: &FeatureSection<'_>, nr_cpus: u32) -> Result<(), FileError> {
    match section.feature {
        Feature::BUILD_ID => section.build_ids::<O>().try_for_each(|it| it.map(drop)),
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => section.string::<O>().map(drop),
        Feature::NRCPUS => section.nr_cpus::<O>().map(drop),
        Feature::TOTAL_MEM => section.total_mem::<O>().map(drop),
        Feature::CMDLINE => section.strings::<O>().map(drop),
        Feature::EVENT_DESC => section.event_desc::<O>().try_for_each(|it| it.map(drop)),
        Feature::CPU_TOPOLOGY => section.cpu_topology::<O>(nr_cpus).map(drop),
        Feature::NUMA_TOPOLOGY => section.numa_topology::<O>().map(drop),
        Feature::BRANCH_STACK | Feature::STAT => section.mark(),
        Feature::PMU_MAPPINGS => section.pmu_mappings::<O>().map(drop),
        Feature::GROUP_DESC => section.group_desc::<O>().map(drop),
        Feature::AUXTRACE => section.auxtrace::<O>().map(drop),
        Feature::CACHE => section.cache::<O>().map(drop),
        Feature::SAMPLE_TIME => section.sample_time::<O>().map(drop),
        Feature::MEM_TOPOLOGY => section.mem_topology::<O>().map(|it| {
            for node in it.nodes {
                assert_eq!(node.blocks.iter().count() as u64, node.blocks.count());
            }
        }),
        Feature::CLOCKID => section.clockid::<O>().map(drop),
        Feature::DIR_FORMAT => section.dir_format::<O>().map(drop),
        Feature::BPF_PROG_INFO => section.bpf_prog_info::<O>().map(|programs| {
            for it in programs {
                assert!(it.name().len() <= 16);
                let bytes = [it.jited_prog_insns(), it.xlated_prog_insns()];
                let numbers = [it.map_ids(), it.jited_func_lens()];
                let taken = bytes.iter().flatten().map(|all| all.len()).sum::<usize>()
                    + numbers.iter().flatten().map(|all| size_of_val(*all)).sum::<usize>()
                    + it.jited_ksyms().map_or(0, size_of_val);
                assert!(taken <= 5 * it.data.len());
            }
        }),
        Feature::BPF_BTF => section.bpf_btf::<O>().map(drop),
        Feature::COMPRESSED => section.compressed::<O>().map(drop),
        Feature::CPU_PMU_CAPS => section.cpu_pmu_caps::<O>().map(drop),
        Feature::CLOCK_DATA => section.clock_data::<O>().map(drop),
        Feature::HYBRID_TOPOLOGY => section.hybrid_topology::<O>().map(drop),
        Feature::PMU_CAPS => section.pmu_caps::<O>().map(drop),
        Feature::CPU_DOMAIN_INFO => section.cpu_domain_info::<O>().map(drop),
        Feature::E_MACHINE => section.e_machine::<O>().map(drop),
        Feature::CLN_SIZE => section.cln_size::<O>().map(drop),
        _ => Ok(()),
    }
}

//! Feature sections as JSON values, for programs; [`lines`] has them for eyes.

pub(crate) mod lines;

use perf_abi::auxtrace::IndexEntry;
use perf_abi::endian::{Endian, U32};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::file::{
    BpfBtf, BpfProgInfo, BuildId, Cache, CpuDomains, CpuPlace, CpuTopology, EventDesc, FeatureSection,
    FileError, GroupDesc, HybridPmu, MemNode, NumaNode, PmuCap, PmuCaps, Reader, SchedDomain, Source,
};
use serde_json::{Value, json};

use super::escape::{Hex, Lossy};

/// Text of the recorded machine.
fn text(bytes: &[u8]) -> Value {
    Lossy(bytes).to_string().into()
}

fn texts(list: &[&[u8]]) -> Value {
    list.iter().copied().map(text).collect()
}

fn hex(bytes: &[u8]) -> Value {
    Hex(bytes).to_string().into()
}

/// A feature section, by perf's names. TRACING_DATA gives its place; a feature without a name its bytes too.
pub(crate) fn feature<O: Endian, S: Source>(
    reader: &Reader<'_, O, S>,
    section: &FeatureSection<'_>,
) -> Result<Value, FileError> {
    Ok(match section.feature {
        Feature::TRACING_DATA => json!({"offset": section.offset, "size": section.bytes.len()}),
        Feature::BUILD_ID => {
            let build_ids: Result<Vec<_>, _> = section.build_ids::<O>().collect();
            build_ids?.iter().map(build_id).collect()
        }
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => text(section.string::<O>()?),
        Feature::NRCPUS => {
            let (available, online) = section.nr_cpus::<O>()?;
            json!({"nr_cpus_available": available, "nr_cpus_online": online})
        }
        Feature::TOTAL_MEM => section.total_mem::<O>()?.into(),
        Feature::CMDLINE => texts(&section.strings::<O>()?),
        Feature::EVENT_DESC => {
            let events: Result<Vec<_>, _> = section.event_desc::<O>().collect();
            events?.iter().map(event_desc).collect()
        }
        Feature::CPU_TOPOLOGY => cpu_topology(&section.cpu_topology::<O>(nr_cpus(reader)?)?),
        Feature::NUMA_TOPOLOGY => section.numa_topology::<O>()?.iter().map(numa_node).collect(),
        Feature::BRANCH_STACK | Feature::STAT => {
            section.mark()?;
            json!({})
        }
        Feature::PMU_MAPPINGS => section.pmu_mappings::<O>()?.iter().map(pmu_mapping).collect(),
        Feature::GROUP_DESC => section.group_desc::<O>()?.iter().map(group_desc).collect(),
        Feature::AUXTRACE => section.auxtrace::<O>()?.iter().map(auxtrace).collect(),
        Feature::CACHE => section.cache::<O>()?.iter().map(cache).collect(),
        Feature::SAMPLE_TIME => {
            let (first, last) = section.sample_time::<O>()?;
            json!({"first": first, "last": last})
        }
        Feature::MEM_TOPOLOGY => {
            let it = section.mem_topology::<O>()?;
            let nodes: Value = it.nodes.iter().map(mem_node).collect();
            json!({"block_size_bytes": it.block_size_bytes, "nodes": nodes})
        }
        Feature::CLOCKID => json!({"resolution_ns": section.clockid::<O>()?}),
        Feature::DIR_FORMAT => json!({"version": section.dir_format::<O>()?.0}),
        Feature::BPF_PROG_INFO => section.bpf_prog_info::<O>()?.iter().map(bpf_prog_info).collect(),
        Feature::BPF_BTF => section.bpf_btf::<O>()?.iter().map(bpf_btf).collect(),
        Feature::COMPRESSED => {
            let it = section.compressed::<O>()?;
            json!({
                "version": it.version,
                "type": it.kind.0,
                "level": it.level,
                "ratio": it.ratio,
                "mmap_len": it.mmap_len,
            })
        }
        Feature::CPU_PMU_CAPS => section.cpu_pmu_caps::<O>()?.iter().map(pmu_cap).collect(),
        Feature::CLOCK_DATA => {
            let it = section.clock_data::<O>()?;
            json!({
                "version": it.version,
                "clockid": it.clockid,
                "wall_clock_ns": it.wall_clock_ns,
                "clockid_time_ns": it.clockid_time_ns,
            })
        }
        Feature::HYBRID_TOPOLOGY => section.hybrid_topology::<O>()?.iter().map(hybrid_pmu).collect(),
        Feature::PMU_CAPS => section.pmu_caps::<O>()?.iter().map(pmu_caps).collect(),
        Feature::CPU_DOMAIN_INFO => {
            let it = section.cpu_domain_info::<O>()?;
            let cpus: Value = it.cpus.iter().map(cpu_domains).collect();
            json!({
                "schedstat_version": it.schedstat_version,
                "max_sched_domains": it.max_sched_domains,
                "cpus": cpus,
            })
        }
        Feature::E_MACHINE => {
            let it = section.e_machine::<O>()?;
            json!({"e_machine": it.e_machine, "e_flags": it.e_flags})
        }
        Feature::CLN_SIZE => section.cln_size::<O>()?.into(),
        _ => json!({"offset": section.offset, "size": section.bytes.len(), "raw": hex(section.bytes)}),
    })
}

/// How many cpus CPU_TOPOLOGY tells the place of.
fn nr_cpus<O: Endian, S: Source>(reader: &Reader<'_, O, S>) -> Result<u32, FileError> {
    reader.feature(Feature::NRCPUS).map_or(Ok(0), |section| Ok(section.nr_cpus::<O>()?.0))
}

fn build_id(it: &BuildId<'_>) -> Value {
    json!({"misc": it.misc.0, "pid": it.pid, "build_id": hex(it.build_id), "filename": text(it.filename)})
}

fn event_desc<O: Endian>(it: &EventDesc<'_, O>) -> Value {
    let ids: Vec<_> = it.ids.iter().map(|id| id.get()).collect();
    json!({"name": text(it.name), "ids": ids})
}

fn cpu_topology(it: &CpuTopology<'_>) -> Value {
    let cpu = |cpu: &CpuPlace| {
        let mut place = json!({"core_id": cpu.core_id, "socket_id": cpu.socket_id});
        if let Some(die_id) = cpu.die_id {
            place["die_id"] = die_id.into();
        }
        place
    };
    let mut topology = json!({
        "core_siblings": texts(&it.core_siblings),
        "thread_siblings": texts(&it.thread_siblings),
        "cpus": it.cpus.iter().map(cpu).collect::<Value>(),
    });
    if let Some(siblings) = &it.die_siblings {
        topology["die_siblings"] = texts(siblings);
    }
    topology
}

fn numa_node(it: &NumaNode<'_>) -> Value {
    json!({"node": it.node, "mem_total": it.mem_total, "mem_free": it.mem_free, "cpus": text(it.cpus)})
}

fn pmu_mapping((kind, name): &(EventType, &[u8])) -> Value {
    json!({"type": kind.0, "name": text(name)})
}

fn group_desc(it: &GroupDesc<'_>) -> Value {
    json!({"name": text(it.name), "leader_idx": it.leader_idx, "nr_members": it.nr_members})
}

fn auxtrace<O: Endian>(it: &IndexEntry<O>) -> Value {
    json!({"file_offset": it.file_offset.get(), "size": it.size.get()})
}

fn cache(it: &Cache<'_>) -> Value {
    json!({
        "level": it.level,
        "line_size": it.line_size,
        "sets": it.sets,
        "ways": it.ways,
        "type": text(it.kind),
        "size": text(it.size),
        "map": text(it.map),
    })
}

/// A node; its blocks are words of 64, as their number may be out of proportion to the bytes they take.
fn mem_node<O: Endian>(it: &MemNode<'_, O>) -> Value {
    let words: Vec<_> = it.blocks.words().iter().map(|word| word.get()).collect();
    json!({"node": it.node, "size": it.size, "nbits": it.blocks.nbits(), "bitmap": words})
}

fn bpf_prog_info<O: Endian>(it: &BpfProgInfo<'_, O>) -> Value {
    let program = it.program;
    let ids = |ids: &[U32<O>]| ids.iter().map(|id| id.get()).collect::<Vec<_>>();
    let addresses: Option<Vec<_>> = it.jited_ksyms().map(|all| all.iter().map(|one| one.get()).collect());
    let arrays = [
        ("map_ids", it.map_ids().map(|all| ids(all).into())),
        ("jited_ksyms", addresses.map(Value::from)),
        ("jited_func_lens", it.jited_func_lens().map(|all| ids(all).into())),
    ];
    let mut value = json!({
        "type": program.kind.get(),
        "id": program.id.get(),
        "tag": hex(&program.tag),
        "name": text(it.name()),
        "load_time": program.load_time.get(),
        "created_by_uid": program.created_by_uid.get(),
        "jited_prog_len": program.jited_prog_len.get(),
        "xlated_prog_len": program.xlated_prog_len.get(),
        "arrays": it.arrays,
        "info": hex(it.info),
        "data": hex(it.data),
    });
    for (name, array) in arrays {
        if let Some(array) = array {
            value[name] = array;
        }
    }
    value
}

fn bpf_btf(it: &BpfBtf<'_>) -> Value {
    json!({"id": it.id, "data": hex(it.bytes)})
}

fn pmu_cap(it: &PmuCap<'_>) -> Value {
    json!({"name": text(it.name), "value": text(it.value)})
}

fn pmu_caps(it: &PmuCaps<'_>) -> Value {
    json!({"pmu_name": text(it.pmu_name), "caps": it.caps.iter().map(pmu_cap).collect::<Value>()})
}

fn hybrid_pmu(it: &HybridPmu<'_>) -> Value {
    json!({"pmu_name": text(it.pmu_name), "cpus": text(it.cpus)})
}

fn cpu_domains(it: &CpuDomains<'_>) -> Value {
    let domain = |it: &SchedDomain<'_>| {
        let mut domain =
            json!({"domain": it.domain, "cpumask": text(it.cpumask), "cpulist": text(it.cpulist)});
        if let Some(name) = it.dname {
            domain["dname"] = text(name);
        }
        domain
    };
    json!({"cpu": it.cpu, "domains": it.domains.iter().map(domain).collect::<Value>()})
}

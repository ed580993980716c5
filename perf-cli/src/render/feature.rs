//! Feature sections as JSON values, the one form that both `info` and the header of a dump are made from.

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::{FeatureSection, FileError, Reader, Source};
use serde_json::{Value, json};

use super::escape::{Hex, Lossy};

/// Text of the recorded machine.
fn text(bytes: &[u8]) -> Value {
    Lossy(bytes).to_string().into()
}

fn texts(list: &[&[u8]]) -> Value {
    list.iter().copied().map(text).collect()
}

/// A feature section; one that is not decoded gives its place.
pub(crate) fn feature<O: Endian, S: Source>(
    reader: &Reader<'_, O, S>,
    section: &FeatureSection<'_>,
) -> Result<Value, FileError> {
    Ok(match section.feature {
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => text(section.string::<O>()?),
        Feature::CMDLINE => texts(&section.strings::<O>()?),
        Feature::NRCPUS => {
            let (available, online) = section.nr_cpus::<O>()?;
            json!({"nr_cpus_available": available, "nr_cpus_online": online})
        }
        Feature::TOTAL_MEM => section.total_mem::<O>()?.into(),
        Feature::EVENT_DESC => {
            let events: Result<Vec<_>, _> = section.event_desc::<O>().collect();
            let event = |event: &perf_parse::file::EventDesc<'_, O>| {
                let ids: Vec<_> = event.ids.iter().map(|id| id.get()).collect();
                json!({"name": text(event.name), "ids": ids})
            };
            events?.iter().map(event).collect()
        }
        Feature::BUILD_ID => {
            let build_ids: Result<Vec<_>, _> = section.build_ids::<O>().collect();
            let build_id = |it: &perf_parse::file::BuildId<'_>| {
                let (build_id, filename) = (Hex(it.build_id).to_string(), text(it.filename));
                json!({"misc": it.misc.0, "pid": it.pid, "build_id": build_id, "filename": filename})
            };
            build_ids?.iter().map(build_id).collect()
        }
        Feature::CPU_TOPOLOGY => cpu_topology(reader, section)?,
        Feature::PMU_MAPPINGS => {
            let pmu = |(kind, name): &(perf_abi::event::EventType, &[u8])| json!({"type": kind.0, "name": text(name)});
            section.pmu_mappings::<O>()?.iter().map(pmu).collect()
        }
        Feature::GROUP_DESC => {
            let group = |it: &perf_parse::file::GroupDesc<'_>| json!({"name": text(it.name), "leader_idx": it.leader_idx, "nr_members": it.nr_members});
            section.group_desc::<O>()?.iter().map(group).collect()
        }
        Feature::HYBRID_TOPOLOGY => {
            let pmu = |it: &perf_parse::file::HybridPmu<'_>| json!({"pmu_name": text(it.pmu_name), "cpus": text(it.cpus)});
            section.hybrid_topology::<O>()?.iter().map(pmu).collect()
        }
        Feature::SAMPLE_TIME => {
            let (first, last) = section.sample_time::<O>()?;
            json!({"first": first, "last": last})
        }
        Feature::CLOCKID => json!({"resolution_ns": section.clockid::<O>()?}),
        Feature::CLOCK_DATA => {
            let it = section.clock_data::<O>()?;
            json!({
                "version": it.version,
                "clockid": it.clockid,
                "wall_clock_ns": it.wall_clock_ns,
                "clockid_time_ns": it.clockid_time_ns,
            })
        }
        _ => json!({"offset": section.offset, "size": section.bytes.len()}),
    })
}

fn cpu_topology<O: Endian, S: Source>(
    reader: &Reader<'_, O, S>,
    section: &FeatureSection<'_>,
) -> Result<Value, FileError> {
    let nr_cpus = match reader.feature(Feature::NRCPUS) {
        Some(section) => section.nr_cpus::<O>()?.0,
        None => 0,
    };
    let it = section.cpu_topology::<O>(nr_cpus)?;
    let cpu = |cpu: &perf_parse::file::CpuPlace| {
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
    Ok(topology)
}

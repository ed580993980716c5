//! Cpus: number, models, topology, and caches.

use std::path::Path;

use perf_parse::ByteStr;
use perf_parse::feature::{Cache, CpuPlace, CpuTopology, Dies, Entries, FeatureData, NrCpus};
use perf_parse::file::write::{FeaturePayloads, WriteFileError};

use super::ranges;
use crate::sysfs::{number, text};
use crate::topology::{SiblingLevel, SysfsTopology};

/// perf's maximum number of cpus of a machine.
const MAX_CPUS: u32 = 1 << 20;

/// The names of a cpu's model in `/proc/cpuinfo`, which differ by architecture.
///
/// perf: `CPUINFO_PROC`, `tools/perf/perf-sys.h`.
const MODEL: [&str; 8] =
    ["model name", "Model Name", "Processor", "cpu model", "cpu type", "vendor_id", "cpu", "core ID"];

/// Returns `CPUDESC`: the model of the first cpu, with single spaces.
pub(super) fn description(cpuinfo: &str) -> Option<String> {
    let model = MODEL.iter().find_map(|name| field(cpuinfo, name))?;
    Some(model.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns `CPUID`: vendor, family, model and stepping on x86, the MIDR register on arm64.
///
/// perf: `get_cpuid`, `tools/perf/arch`.
pub(super) fn id(root: &Path, cpuinfo: &str) -> Option<String> {
    let x86 = ["vendor_id", "cpu family", "model", "stepping"].map(|name| field(cpuinfo, name));
    if let [Some(vendor), Some(family), Some(model), Some(stepping)] = x86 {
        return Some(format!("{vendor},{family},{model},{stepping}"));
    }
    text(&root.join("sys/devices/system/cpu/cpu0/regs/identification/midr_el1"))
}

/// Returns the first field with that name in `/proc/cpuinfo`.
fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields
        .map(|(key, value)| (key.trim(), value.trim()))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// Adds `NRCPUS`, `CPU_TOPOLOGY` and `CACHE`.
pub(super) fn describe(root: &Path, features: &mut FeaturePayloads) -> Result<(), WriteFileError> {
    let sysfs = root.join("sys");
    let topology = SysfsTopology::at(&sysfs);
    let list = |name: &str| ranges(&text(&topology.cpu_file(name))?);
    let (Some(present), Some(online)) = (list("present"), list("online")) else { return Ok(()) };
    let Some(available) = present.iter().map(|&(_, last)| last.saturating_add(1)).max() else {
        return Ok(());
    };
    if available > MAX_CPUS {
        return Ok(());
    }
    let online: u32 = online.iter().map(|&(first, last)| (last - first).saturating_add(1)).sum();
    features.set(&FeatureData::NrCpus(NrCpus { available, online: online.min(available) }))?;
    describe_topology(topology, available, features)?;
    describe_caches(topology, available, features)
}

/// Adds `CPU_TOPOLOGY` of the first `available` cpus.
fn describe_topology(
    topology: SysfsTopology<'_>,
    available: u32,
    features: &mut FeaturePayloads,
) -> Result<(), WriteFileError> {
    let lists = |level| topology.sibling_lists(0..available, level);
    let core_siblings = lists(SiblingLevel::Package);
    let thread_siblings = lists(SiblingLevel::Core);
    let die_siblings = lists(SiblingLevel::Die);
    if core_siblings.is_empty() {
        return Ok(());
    }
    // An offline cpu has no topology; perf writes -1.
    let id = |cpu, name| number(&topology.file_of(cpu, "topology").join(name)).unwrap_or(u32::MAX);
    let place = |cpu| CpuPlace { core_id: id(cpu, "core_id"), socket_id: id(cpu, "physical_package_id") };
    let places: Vec<_> = (0..available).map(place).collect();
    let die_ids: Vec<_> = (0..available).map(|cpu| id(cpu, "die_id")).collect();
    let [core_siblings, thread_siblings, die_siblings] =
        [&core_siblings, &thread_siblings, &die_siblings].map(|lists| texts(lists));
    let dies = Dies { die_siblings: Entries::from(&die_siblings), die_ids: Entries::from(&die_ids) };
    features.set(&FeatureData::CpuTopology(CpuTopology {
        core_siblings: Entries::from(&core_siblings),
        thread_siblings: Entries::from(&thread_siblings),
        cpus: Entries::from(&places),
        dies: (!die_siblings.is_empty()).then_some(dies),
    }))
}

fn texts(lists: &[String]) -> Vec<ByteStr<'_>> {
    lists.iter().map(|list| ByteStr::from(list.as_str())).collect()
}

/// Adds `CACHE` of the first `available` cpus: each cache once, in ascending order of level.
fn describe_caches(
    topology: SysfsTopology<'_>,
    available: u32,
    features: &mut FeaturePayloads,
) -> Result<(), WriteFileError> {
    let mut caches: Vec<([u32; 4], [String; 3])> = Vec::new();
    for folder in (0..available).flat_map(|cpu| topology.caches(cpu)) {
        let numbers = ["level", "coherency_line_size", "number_of_sets", "ways_of_associativity"];
        let [Some(level), Some(line_size), Some(sets), Some(ways)] =
            numbers.map(|name| number(&folder.join(name)))
        else {
            continue;
        };
        let [Some(kind), Some(size), Some(map)] =
            ["type", "size", "shared_cpu_list"].map(|name| text(&folder.join(name)))
        else {
            continue;
        };
        let cache = ([level, line_size, sets, ways], [kind, size, map]);
        if !caches.contains(&cache) {
            caches.push(cache);
        }
    }
    if caches.is_empty() {
        return Ok(());
    }
    caches.sort_by_key(|([level, ..], _)| *level);
    let caches = caches.iter().map(|([level, line_size, sets, ways], [kind, size, map])| {
        let [kind, size, map] = [kind, size, map].map(|it| ByteStr::from(it.as_str()));
        Cache { level: *level, line_size: *line_size, sets: *sets, ways: *ways, kind, size, map }
    });
    features.set(&FeatureData::Cache(Entries::from(&caches.collect::<Vec<_>>())))
}

//! The aggregates of a machine's cpus and threads.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use perf_open::pmu::parse_cpus;

use super::aggregation::{Aggregate, AggregateLabel, AggregateLabels, Aggregation};
use super::domain::{CacheLevel, CpuDomain};
use super::error::StatError;
use crate::Targets;
use crate::sysfs::{number, text};
use crate::topology::SysfsTopology;

/// Returns the aggregate of each cpu whose count is added to those of others, and the labels of all aggregates.
pub(super) fn aggregates(
    aggregation: Aggregation,
    targets: &Targets,
) -> Result<(BTreeMap<u32, Aggregate>, AggregateLabels), StatError> {
    match (aggregation, targets) {
        (Aggregation::Total, _) => Ok(Default::default()),
        (Aggregation::Domain(domain), Targets::Cpus(cpus)) => of_domain(domain, cpus, Path::new("/sys")),
        (Aggregation::Cpu, Targets::Cpus(cpus)) => {
            let labels = cpus.iter().map(|&cpu| (Aggregate::Cpu(cpu), AggregateLabel::cpu(cpu)));
            Ok((BTreeMap::new(), labels.collect()))
        }
        (Aggregation::Thread, Targets::Threads(threads)) => {
            let label = |&tid: &u32| {
                let comm = fs::read_to_string(format!("/proc/{tid}/comm")).unwrap_or_default();
                (Aggregate::Thread(tid), AggregateLabel::thread(tid, comm.trim_end_matches('\n')))
            };
            Ok((BTreeMap::new(), threads.iter().map(label).collect()))
        }
        _ => Err(StatError::Aggregation),
    }
}

/// Returns the aggregate of each cpu, and the labels of the aggregates, which are in the order of their first cpus.
fn of_domain(
    domain: CpuDomain,
    cpus: &[u32],
    sysfs: &Path,
) -> Result<(BTreeMap<u32, Aggregate>, AggregateLabels), StatError> {
    let topology = SysfsTopology::at(sysfs);
    let (mut of_cpus, mut labels, mut numbers) = (BTreeMap::new(), AggregateLabels::new(), BTreeMap::new());
    for &cpu in cpus {
        let text = name(domain, cpu, topology)?;
        let next = numbers.len();
        let aggregate = Aggregate::Domain(*numbers.entry(text.clone()).or_insert(next));
        of_cpus.insert(cpu, aggregate);
        let label = labels.entry(aggregate).or_insert(AggregateLabel::domain(domain, text, 0));
        label.cpus = label.cpus.map(|cpus| cpus.saturating_add(1));
    }
    Ok((of_cpus, labels))
}

/// Returns the name of the part that a cpu belongs to, as perf spells it: `S0-D0-C1`.
fn name(domain: CpuDomain, cpu: u32, topology: SysfsTopology<'_>) -> Result<String, StatError> {
    let id = |file: &str| id(&topology.file_of(cpu, "topology").join(file));
    let socket = || id("physical_package_id").map(|socket| format!("S{socket}"));
    // Kernels before 5.2 and some architectures have no dies.
    let die = || Ok::<_, StatError>(format!("{}-D{}", socket()?, id("die_id").unwrap_or(0)));
    match domain {
        CpuDomain::Socket => socket(),
        CpuDomain::Die => die(),
        // A machine without clusters has the number 65535, and -1 before Linux 5.16.
        CpuDomain::Cluster => Ok(format!("{}-CLS{}", die()?, id("cluster_id").unwrap_or(-1))),
        CpuDomain::Core => Ok(format!("{}-C{}", die()?, id("core_id")?)),
        CpuDomain::Node => Ok(format!("N{}", node(cpu, topology))),
        CpuDomain::Cache(level) => {
            let caches = caches(cpu, topology);
            let cache = match level {
                CacheLevel::Last => caches.iter().max(),
                CacheLevel::Level(level) => caches.iter().find(|(of, _)| *of == level),
            };
            let (level, id) = cache.ok_or(StatError::NoCache { cpu })?;
            Ok(format!("{}-L{level}-ID{id}", die()?))
        }
    }
}

/// Returns the number in a file. Firmware that does not provide it leaves -1, which perf shows as such.
fn id(path: &Path) -> Result<i64, StatError> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| StatError::Io { path: name(), error })?;
    let text = text.trim();
    text.parse().map_err(|error| StatError::Number { path: name(), text: text.to_owned(), error })
}

/// Returns the NUMA node of a cpu; 0 on machines without nodes.
fn node(cpu: u32, topology: SysfsTopology<'_>) -> u32 {
    topology.nodes().into_iter().find(|(_, cpus)| cpus.contains(&cpu)).map_or(0, |(node, _)| node)
}

/// Returns the level and the id of each cache of data. The id is the number of the first cpu if the kernel has none, as
/// before 4.10.
fn caches(cpu: u32, topology: SysfsTopology<'_>) -> Vec<(u32, i64)> {
    let cache = |folder: PathBuf| {
        let kind = text(&folder.join("type"))?;
        let level = number(&folder.join("level"))?;
        let first =
            || parse_cpus(&text(&folder.join("shared_cpu_list"))?).ok()?.first().map(|&cpu| i64::from(cpu));
        let id = number(&folder.join("id")).or_else(first)?;
        (kind != "Instruction").then_some((level, id))
    };
    topology.caches(cpu).filter_map(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the files of four cpus: two sockets of two cores, each socket a node with a cache.
    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: String, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for cpu in 0..4 {
            let socket = cpu / 2;
            let cpu = format!("devices/system/cpu/cpu{cpu}");
            write(format!("{cpu}/topology/physical_package_id"), &format!("{socket}\n"));
            write(format!("{cpu}/topology/die_id"), "0\n");
            write(format!("{cpu}/topology/cluster_id"), "4\n");
            write(format!("{cpu}/topology/core_id"), if cpu.ends_with(['0', '2']) { "0\n" } else { "7\n" });
            for (index, (level, kind)) in
                [("1", "Data"), ("1", "Instruction"), ("3", "Unified")].iter().enumerate()
            {
                write(format!("{cpu}/cache/index{index}/level"), level);
                write(format!("{cpu}/cache/index{index}/type"), kind);
                write(format!("{cpu}/cache/index{index}/id"), &format!("{socket}\n"));
            }
        }
        write("devices/system/node/node0/cpulist".to_owned(), "0-1\n");
        write("devices/system/node/node1/cpulist".to_owned(), "2-3\n");
        root
    }

    fn labels(domain: CpuDomain) -> Vec<(String, usize)> {
        let root = machine();
        let (of_cpus, labels) = of_domain(domain, &[0, 1, 2, 3], root.path()).unwrap();
        assert_eq!(of_cpus.len(), 4);
        labels.into_values().map(|label| (label.text, label.cpus.unwrap())).collect()
    }

    #[test]
    fn cpus_belong_to_parts() {
        let of =
            |names: &[&str], each| names.iter().map(|name| ((*name).to_owned(), each)).collect::<Vec<_>>();
        assert_eq!(labels(CpuDomain::Socket), of(&["S0", "S1"], 2));
        assert_eq!(labels(CpuDomain::Die), of(&["S0-D0", "S1-D0"], 2));
        assert_eq!(labels(CpuDomain::Cluster), of(&["S0-D0-CLS4", "S1-D0-CLS4"], 2));
        assert_eq!(labels(CpuDomain::Core), of(&["S0-D0-C0", "S0-D0-C7", "S1-D0-C0", "S1-D0-C7"], 1));
        assert_eq!(labels(CpuDomain::Node), of(&["N0", "N1"], 2));
        assert_eq!(labels(CpuDomain::Cache(CacheLevel::Last)), of(&["S0-D0-L3-ID0", "S1-D0-L3-ID1"], 2));
        assert_eq!(labels(CpuDomain::Cache(CacheLevel::Level(1))), of(&["S0-D0-L1-ID0", "S1-D0-L1-ID1"], 2));
    }

    #[test]
    fn what_sysfs_lacks_is_an_error() {
        let root = machine();
        let error = of_domain(CpuDomain::Cache(CacheLevel::Level(2)), &[0], root.path()).unwrap_err();
        assert_eq!(error.to_string(), "CPU 0 has no cache of this level in sysfs");
        let error = of_domain(CpuDomain::Socket, &[9], root.path()).unwrap_err().to_string();
        assert!(error.contains("cpu9/topology/physical_package_id: "), "{error}");
        fs::write(root.path().join("devices/system/cpu/cpu0/topology/core_id"), "x\n").unwrap();
        let error = of_domain(CpuDomain::Core, &[0], root.path()).unwrap_err().to_string();
        assert!(error.ends_with("cpu0/topology/core_id: \"x\": invalid digit found in string"), "{error}");
    }

    #[test]
    fn an_aggregation_needs_its_targets() {
        let [command, threads, cpus] = [Targets::Command, Targets::Threads(vec![1]), Targets::Cpus(vec![0])];
        for (aggregation, fitting) in [
            (Aggregation::Cpu, &cpus),
            (Aggregation::Thread, &threads),
            (Aggregation::Domain(CpuDomain::Node), &cpus),
        ] {
            for targets in [&command, &threads, &cpus] {
                let result = aggregates(aggregation, targets);
                assert_eq!(result.is_ok(), targets == fitting, "{aggregation:?} {targets:?}");
                assert!(result.err().is_none_or(|error| matches!(error, StatError::Aggregation)));
            }
        }
        assert_eq!(aggregates(Aggregation::Total, &command).unwrap(), Default::default());
    }

    #[test]
    fn cpus_and_threads_have_labels() {
        let (_, labels) = aggregates(Aggregation::Cpu, &Targets::Cpus(vec![3])).unwrap();
        assert_eq!(labels[&Aggregate::Cpu(3)], AggregateLabel::cpu(3));
        assert_eq!(labels[&Aggregate::Cpu(3)].text, "CPU3");
        let this = std::process::id();
        let (_, labels) = aggregates(Aggregation::Thread, &Targets::Threads(vec![this])).unwrap();
        let text = &labels[&Aggregate::Thread(this)].text;
        assert!(text.ends_with(&format!("-{this}")) && text.len() > format!("-{this}").len(), "{text}");
    }
}

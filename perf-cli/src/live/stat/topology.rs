//! The parts of the machine whose counts are added up: sockets, dies, cores, NUMA nodes, caches.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use perf_open::pmu::parse_cpus;

use super::tally::Place;
use crate::Failure;
use crate::args::live::StatArgs;
use crate::args::live::stat::CacheLevel;

/// What the counts of one place are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// The kind of the place, as in JSON.
    pub(crate) key: &'static str,
    /// The columns that text needs for labels of this kind.
    pub(crate) width: usize,
    pub(crate) text: String,
    /// The number of cpus that are added up; `None` for a cpu or a thread.
    pub(crate) counters: Option<usize>,
}

/// The labels of all places; none for the sum of everything.
pub(crate) type Labels = BTreeMap<Place, Label>;

/// A kind of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Socket,
    Die,
    Cluster,
    Core,
    Node,
    Cache(CacheLevel),
}

impl Part {
    /// Returns the kind that the command line asks for.
    pub(crate) fn of(args: &StatArgs) -> Option<Self> {
        let asked = [
            (args.per_socket, Self::Socket),
            (args.per_die, Self::Die),
            (args.per_cluster, Self::Cluster),
            (args.per_core, Self::Core),
            (args.per_node, Self::Node),
        ];
        let asked = asked.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, part)| part);
        asked.or(args.per_cache.map(Self::Cache))
    }

    fn key_and_width(self) -> (&'static str, usize) {
        match self {
            Self::Socket => ("socket", 5),
            Self::Die => ("die", 11),
            Self::Cluster => ("cluster", 19),
            Self::Core => ("core", 14),
            Self::Node => ("node", 5),
            Self::Cache(_) => ("cache", 21),
        }
    }
}

/// Returns the place of each cpu, and the labels of the places. Places are in the order of their first cpus.
pub(crate) fn parts(
    part: Part,
    cpus: &[u32],
    sysfs: &Path,
) -> Result<(BTreeMap<u32, Place>, Labels), Failure> {
    let (key, width) = part.key_and_width();
    let (mut places, mut labels, mut known) = (BTreeMap::new(), Labels::new(), BTreeMap::new());
    for &cpu in cpus {
        let text = name(part, cpu, sysfs)?;
        let next = known.len();
        let place = Place::Part(*known.entry(text.clone()).or_insert(next));
        places.insert(cpu, place);
        let label = labels.entry(place).or_insert(Label { key, width, text, counters: Some(0) });
        label.counters = label.counters.map(|counters| counters.saturating_add(1));
    }
    Ok((places, labels))
}

/// Returns the name of the part that a cpu belongs to, as perf spells it: `S0-D0-C1`.
fn name(part: Part, cpu: u32, sysfs: &Path) -> Result<String, Failure> {
    let folder = sysfs.join(format!("devices/system/cpu/cpu{cpu}"));
    let topology = |file: &str| number(&folder.join("topology").join(file));
    let socket = || topology("physical_package_id").map(|socket| format!("S{socket}"));
    // Kernels before 5.2 and some architectures have no dies.
    let die = || Ok::<_, Failure>(format!("{}-D{}", socket()?, topology("die_id").unwrap_or(0)));
    match part {
        Part::Socket => socket(),
        Part::Die => die(),
        // A machine without clusters has the number 65535, and -1 before Linux 5.16.
        Part::Cluster => Ok(format!("{}-CLS{}", die()?, topology("cluster_id").unwrap_or(-1))),
        Part::Core => Ok(format!("{}-C{}", die()?, topology("core_id")?)),
        Part::Node => Ok(format!("N{}", node(cpu, sysfs))),
        Part::Cache(level) => {
            let caches = caches(&folder.join("cache"));
            let wanted = match level {
                CacheLevel::Last => caches.iter().max(),
                CacheLevel::Level(level) => caches.iter().find(|(of, _)| *of == level),
            };
            let (level, id) = wanted
                .ok_or_else(|| format!("--per-cache: CPU {cpu} has no cache of this level in sysfs"))?;
            Ok(format!("{}-L{level}-ID{id}", die()?))
        }
    }
}

/// Returns the number in a file. Firmware that does not tell leaves -1, which perf shows as such.
fn number(path: &Path) -> Result<i64, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = text.trim();
    Ok(text.parse().map_err(|error| format!("{}: {text:?}: {error}", path.display()))?)
}

/// Returns the NUMA node of a cpu; 0 on machines without nodes.
fn node(cpu: u32, sysfs: &Path) -> u32 {
    let entries = fs::read_dir(sysfs.join("devices/system/node")).into_iter().flatten().flatten();
    let number = |path: PathBuf| path.file_name()?.to_str()?.strip_prefix("node")?.parse().ok();
    let mut nodes = entries.map(|entry| entry.path()).filter(|path| {
        let list = fs::read_to_string(path.join("cpulist")).unwrap_or_default();
        parse_cpus(&list).is_ok_and(|cpus| cpus.contains(&cpu))
    });
    nodes.find_map(number).unwrap_or(0)
}

/// Returns the level and the id of each cache of data. The id is the number of the first cpu if the kernel has none, as
/// before 4.10.
fn caches(folder: &Path) -> Vec<(u32, i64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let cache = |path: PathBuf| {
        let kind = fs::read_to_string(path.join("type")).ok()?;
        let level = u32::try_from(number(&path.join("level")).ok()?).ok()?;
        let first = || {
            let list = fs::read_to_string(path.join("shared_cpu_list")).ok()?;
            parse_cpus(&list).ok()?.first().map(|&cpu| i64::from(cpu))
        };
        let id = number(&path.join("id")).ok().or_else(first)?;
        (kind.trim() != "Instruction").then_some((level, id))
    };
    entries.filter_map(cache).collect()
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

    fn labels(part: Part) -> Vec<(String, usize)> {
        let root = machine();
        let (places, labels) = parts(part, &[0, 1, 2, 3], root.path()).unwrap();
        assert_eq!(places.len(), 4);
        labels.into_values().map(|label| (label.text, label.counters.unwrap())).collect()
    }

    #[test]
    fn cpus_belong_to_parts() {
        let of =
            |names: &[&str], each| names.iter().map(|name| ((*name).to_owned(), each)).collect::<Vec<_>>();
        assert_eq!(labels(Part::Socket), of(&["S0", "S1"], 2));
        assert_eq!(labels(Part::Die), of(&["S0-D0", "S1-D0"], 2));
        assert_eq!(labels(Part::Cluster), of(&["S0-D0-CLS4", "S1-D0-CLS4"], 2));
        assert_eq!(labels(Part::Core), of(&["S0-D0-C0", "S0-D0-C7", "S1-D0-C0", "S1-D0-C7"], 1));
        assert_eq!(labels(Part::Node), of(&["N0", "N1"], 2));
        assert_eq!(labels(Part::Cache(CacheLevel::Last)), of(&["S0-D0-L3-ID0", "S1-D0-L3-ID1"], 2));
        assert_eq!(labels(Part::Cache(CacheLevel::Level(1))), of(&["S0-D0-L1-ID0", "S1-D0-L1-ID1"], 2));
    }

    #[test]
    fn what_sysfs_lacks_is_an_error() {
        let root = machine();
        let error = parts(Part::Cache(CacheLevel::Level(2)), &[0], root.path()).unwrap_err();
        assert_eq!(error.0, "--per-cache: CPU 0 has no cache of this level in sysfs");
        assert!(
            parts(Part::Socket, &[9], root.path())
                .unwrap_err()
                .0
                .contains("cpu9/topology/physical_package_id: ")
        );
    }
}

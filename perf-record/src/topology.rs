//! The topology of the machine's cpus, from sysfs: cores, dies, packages, NUMA nodes, caches.

use std::path::{Path, PathBuf};

use perf_open::pmu::parse_cpus;

use crate::sysfs::{numbered, text};

/// A level of the topology that a cpu shares with its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiblingLevel {
    Core,
    Die,
    Package,
}

impl SiblingLevel {
    /// Returns the file that lists the siblings, and its name before Linux 5.3. Older kernels list no dies.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Core => &["core_cpus_list", "thread_siblings_list"],
            Self::Die => &["die_cpus_list"],
            Self::Package => &["package_cpus_list", "core_siblings_list"],
        }
    }
}

/// The topology below a folder of sysfs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SysfsTopology<'a> {
    sysfs: &'a Path,
}

impl<'a> SysfsTopology<'a> {
    /// Returns the topology in this folder, `/sys` on a running machine.
    pub(crate) fn at(sysfs: &'a Path) -> Self {
        Self { sysfs }
    }

    /// Returns the path of a file about all cpus.
    pub(crate) fn cpu_file(self, name: &str) -> PathBuf {
        self.sysfs.join("devices/system/cpu").join(name)
    }

    /// Returns the path of a file about one cpu.
    pub(crate) fn file_of(self, cpu: u32, name: &str) -> PathBuf {
        self.sysfs.join(format!("devices/system/cpu/cpu{cpu}")).join(name)
    }

    /// Returns the cpus that have a folder, in ascending order. Offline cpus have one, but no topology.
    pub(crate) fn cpus(self) -> Vec<u32> {
        numbered(&self.sysfs.join("devices/system/cpu"), "cpu")
    }

    /// Returns the cpus in one of the lists `present`, `online` and so on; `None` without a readable list.
    pub(crate) fn listed(self, name: &str) -> Option<Vec<u32>> {
        parse_cpus(&text(&self.cpu_file(name))?).ok()
    }

    /// Returns the list of the cpus that share a level with `cpu`, as the kernel writes it; `None` if it has none.
    pub(crate) fn sibling_list(self, cpu: u32, level: SiblingLevel) -> Option<String> {
        let folder = self.file_of(cpu, "topology");
        level.files().iter().find_map(|file| text(&folder.join(file)))
    }

    /// Returns the cpus that share a level with `cpu`, including it; `None` if the kernel lists none.
    pub(crate) fn siblings(self, cpu: u32, level: SiblingLevel) -> Option<Vec<u32>> {
        parse_cpus(&self.sibling_list(cpu, level)?).ok()
    }

    /// Returns the distinct lists of siblings of these cpus, in the order of their first cpus.
    pub(crate) fn sibling_lists(
        self,
        cpus: impl IntoIterator<Item = u32>,
        level: SiblingLevel,
    ) -> Vec<String> {
        let mut lists: Vec<String> = Vec::new();
        for list in cpus.into_iter().filter_map(|cpu| self.sibling_list(cpu, level)) {
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        lists
    }

    /// Returns the NUMA nodes with their cpus, which a node of memory alone does not have. Empty if the machine has no nodes.
    pub(crate) fn nodes(self) -> Vec<(u32, Vec<u32>)> {
        let folder = self.sysfs.join("devices/system/node");
        let node = |node| Some((node, parse_cpus(&text(&folder.join(format!("node{node}/cpulist")))?).ok()?));
        numbered(&folder, "node").into_iter().filter_map(node).collect()
    }

    /// Returns the folders of a cpu's caches.
    pub(crate) fn caches(self, cpu: u32) -> impl Iterator<Item = PathBuf> {
        let folder = self.file_of(cpu, "cache");
        numbered(&folder, "index").into_iter().map(move |index| folder.join(format!("index{index}")))
    }
}

//! Memory: its size, and which part belongs to which NUMA node.

use std::path::Path;

use perf_parse::feature::{Bitmap, Entries, FeatureData, MemNode, MemTopology, NumaNode};
use perf_parse::file::write::{FeaturePayloads, WriteFileError};

use super::ranges;
use crate::sysfs::{numbered, text};

/// Returns `TOTAL_MEM`: KiB of memory.
pub(super) fn total(root: &Path) -> Option<u64> {
    kib(&text(&root.join("proc/meminfo"))?, "MemTotal:")
}

/// Returns the KiB in the line of `meminfo` with that name. In a node's `meminfo`, the number of the node precedes the
/// name.
fn kib(meminfo: &str, name: &str) -> Option<u64> {
    let mut lines = meminfo.lines().map(str::split_ascii_whitespace);
    lines.find_map(|mut words| words.find(|word| *word == name).and(words.next()))?.parse().ok()
}

/// Adds `NUMA_TOPOLOGY` and `MEM_TOPOLOGY`.
pub(super) fn describe(root: &Path, features: &mut FeaturePayloads) -> Result<(), WriteFileError> {
    let folder = root.join("sys/devices/system/node");
    let nodes = numbered(&folder, "node");
    let online = text(&folder.join("online")).and_then(|list| ranges(&list)).unwrap_or_default();
    let is_online = |node: u32| online.iter().any(|&(first, last)| (first..=last).contains(&node));
    let numa = nodes.iter().copied().filter(|&node| is_online(node)).filter_map(|node| {
        let folder = folder.join(format!("node{node}"));
        let (meminfo, cpus) = (text(&folder.join("meminfo"))?, text(&folder.join("cpulist"))?);
        Some((node, kib(&meminfo, "MemTotal:")?, kib(&meminfo, "MemFree:")?, cpus))
    });
    let numa: Vec<_> = numa.collect();
    let numa: Vec<_> = numa
        .iter()
        .map(|(node, mem_total, mem_free, cpus)| {
            let cpus = cpus.as_str().into();
            NumaNode { node: *node, mem_total: *mem_total, mem_free: *mem_free, cpus }
        })
        .collect();
    if !numa.is_empty() {
        features.set(&FeatureData::NumaTopology(Entries::from(&numa)))?;
    }
    let size = text(&root.join("sys/devices/system/memory/block_size_bytes"));
    let Some(size) = size.and_then(|size| u64::from_str_radix(&size, 16).ok()) else { return Ok(()) };
    let blocks = |node| Bitmap::words_of(&numbered(&folder.join(format!("node{node}")), "memory"));
    let blocks: Vec<_> = nodes.iter().map(blocks).collect::<Result<_, _>>()?;
    let nodes = nodes.iter().zip(&blocks);
    let nodes: Vec<_> =
        nodes.map(|(&node, words)| MemNode::new(u64::from(node), Bitmap::new(words))).collect();
    if nodes.is_empty() {
        return Ok(());
    }
    let topology = MemTopology { block_size_bytes: size, nodes: Entries::from(&nodes) };
    features.set(&FeatureData::MemTopology(topology))
}

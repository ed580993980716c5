//! The nodes of the machine that recorded.

use perf_parse::feature::Features;

/// The nodes of the machine: which CPUs and which memory are on each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineNodes {
    /// The first and last CPU of each range, by place in the capture's list of nodes.
    cpus: Vec<Vec<(u32, u32)>>,
    /// Bytes of a block.
    block: u64,
    /// The first and last block of each range, and the number of its node, in ascending order.
    blocks: Vec<(u64, u64, u64)>,
}

impl MachineNodes {
    /// Returns the nodes that the features have; none if they are missing or cannot be decoded.
    pub(super) fn new(features: &Features<'_>) -> Self {
        let mut nodes = Self::default();
        if let Ok(Some(list)) = features.numa_topology() {
            nodes.cpus = list.iter().map(|node| cpu_ranges(node.cpus.as_ref())).collect();
        }
        if let Ok(Some(memory)) = features.mem_topology() {
            nodes.block = memory.block_size_bytes;
            for node in memory.nodes.iter() {
                for block in node.blocks.iter() {
                    match nodes.blocks.last_mut() {
                        Some((_, last, of)) if *of == node.node && last.checked_add(1) == Some(block) => {
                            *last = block;
                        }
                        _ => nodes.blocks.push((block, block, node.node)),
                    }
                }
            }
            nodes.blocks.sort_unstable();
        }
        nodes
    }

    /// Returns the number of nodes with CPUs that the capture lists.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the place of the node that a CPU is on in the capture's list; `None` if it is on none.
    #[must_use]
    pub fn of_cpu(&self, cpu: u32) -> Option<usize> {
        self.cpus.iter().position(|ranges| ranges.iter().any(|&(first, last)| (first..=last).contains(&cpu)))
    }

    /// Returns the number of the node that a physical address is on; `None` if it is on none.
    ///
    /// perf: `mem2node__node`, `tools/perf/util/mem2node.c`.
    #[must_use]
    pub fn of_memory(&self, address: u64) -> Option<u64> {
        let block = address.checked_div(self.block)?;
        let after = self.blocks.partition_point(|&(first, ..)| first <= block);
        let &(_, last, node) = self.blocks.get(after.checked_sub(1)?)?;
        (block <= last).then_some(node)
    }
}

/// Reads a list of CPUs such as `0-3,8`. Parts that are no numbers are left out.
fn cpu_ranges(text: &[u8]) -> Vec<(u32, u32)> {
    let number =
        |text: &[u8]| core::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let range = |part: &[u8]| {
        let mut ends = part.splitn(2, |&byte| byte == b'-');
        let first = number(ends.next()?)?;
        let last = match ends.next() {
            Some(last) => number(last)?,
            None => first,
        };
        Some((first, last))
    };
    text.split(|&byte| byte == b',').filter_map(range).collect()
}

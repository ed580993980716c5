//! The mappings of a process or of a kernel.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::map::Mapping;
use crate::mark::MapMark;
use crate::recent::RecentMappings;

/// Mappings, in ascending order of their addresses. They do not overlap.
///
/// Cloning takes constant time: the clones share what neither of them has changed. A change takes time and memory that
/// grow with the logarithm of the number of mappings.
///
/// perf: `struct maps`, `tools/perf/util/maps.h`.
// A B+ tree whose nodes are copied when they are changed and shared. A fork would otherwise copy all mappings of its
// parent, so that few records could take much memory.
#[derive(Clone, Debug, Default)]
pub struct Maps {
    root: Option<Arc<MapsNode>>,
    /// Copies of some of the mappings.
    recent: RecentMappings,
}

/// Number of entries of a node at most, between two changes.
const FANOUT: usize = 15;

/// A node is never empty.
#[derive(Clone, Debug)]
struct MapsNode {
    /// The address at which each entry begins, in ascending order. [`NOTHING`] where there is no entry. Together, and
    /// not in the entries, so that a search reads two cache lines of each node and has no branch to predict.
    // Room for the entry that makes a node be split.
    starts: [[u64; 4]; 4],
    entries: NodeEntries,
    /// Those of all mappings in the node.
    marks: MapMark,
}

#[derive(Clone, Debug)]
enum NodeEntries {
    Mappings(Vec<Mapping>),
    Nodes(Vec<Arc<MapsNode>>),
}

/// No mapping begins here: it would be empty.
const NOTHING: u64 = u64::MAX;

impl Maps {
    /// Returns the mapping that contains an address.
    #[must_use]
    #[inline]
    pub fn find(&self, addr: u64) -> Option<&Mapping> {
        self.floor(addr).filter(|mapping| addr < mapping.end)
    }

    /// Notes that a sample was at an address, so that the mapping there is found faster the next time.
    #[inline]
    pub(crate) fn note(&mut self, addr: u64) {
        if !self.noted().is_some_and(|mapping| mapping.contains(addr)) {
            self.note_other(addr);
        }
    }

    #[inline(never)]
    fn note_other(&mut self, addr: u64) {
        if self.recent.find(addr) {
            return;
        }
        if let Some(mapping) = self.find(addr).cloned() {
            self.recent.add(mapping);
        }
    }

    /// Returns the mapping that was noted last, if it is still there.
    #[inline]
    pub(crate) fn noted(&self) -> Option<&Mapping> {
        self.recent.last()
    }

    /// Returns all mappings, in ascending order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = &Mapping> {
        let mut next = self.root.as_deref().and_then(|root| root.floor(u64::MIN).or(root.first()));
        core::iter::from_fn(move || {
            let mapping = next?;
            next = self.after(mapping.start);
            Some(mapping)
        })
    }

    /// Returns the first mapping of the text of the kernel; `None` if there is none. Takes logarithmic time.
    #[must_use]
    pub fn kernel(&self) -> Option<&Mapping> {
        self.first_with(MapMark::KERNEL)
    }

    /// Returns the first mapping of a jitdump, which a JIT compiler maps so that its path is recorded; `None` if there is
    /// none. Takes logarithmic time.
    ///
    /// perf: `jit_detect`, `tools/perf/util/jitdump.c`.
    #[must_use]
    pub fn jitdump(&self) -> Option<&Mapping> {
        self.first_with(MapMark::JITDUMP)
    }

    fn first_with(&self, mark: MapMark) -> Option<&Mapping> {
        let mut node = self.root.as_deref().filter(|root| root.marks.has(mark))?;
        loop {
            match &node.entries {
                NodeEntries::Mappings(mappings) => {
                    return mappings.iter().find(|it| MapMark::of(it.dso()).has(mark));
                }
                NodeEntries::Nodes(nodes) => node = nodes.iter().find(|node| node.marks.has(mark))?,
            }
        }
    }

    /// Returns whether there are no mappings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Returns whether something is mapped at an address of a range.
    pub(crate) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.first_in(range).is_some()
    }

    /// Returns the first mapping that has an address of a range.
    pub(crate) fn first_in(&self, range: &Range<u64>) -> Option<&Mapping> {
        let first = self.find(range.start).or_else(|| self.after(range.start));
        first.filter(|mapping| !range.is_empty() && mapping.start < range.end)
    }

    /// Adds a mapping. It replaces what was mapped at its addresses: mappings that it covers in part are cut or split,
    /// as `mmap` with `MAP_FIXED` does. An empty mapping changes nothing.
    ///
    /// perf: `maps__fixup_overlap_and_insert`.
    pub(crate) fn insert(&mut self, mapping: Mapping) {
        if mapping.start < mapping.end {
            self.cut(mapping.start, mapping.end);
            self.put(mapping);
        }
    }

    /// Removes the mapping that contains an address, as a whole.
    pub(crate) fn remove(&mut self, addr: u64) {
        if let Some((start, end)) = self.find(addr).map(|mapping| (mapping.start, mapping.end)) {
            self.recent.drop_overlaps(start, end);
            self.drop_starts(start, end);
        }
    }

    /// Removes all that is mapped from `start` to `end`, which is larger.
    fn cut(&mut self, start: u64, end: u64) {
        self.recent.drop_overlaps(start, end);
        // A mapping that begins before the range, and one that begins in it. Either may reach beyond its end.
        let before = start.checked_sub(1).and_then(|addr| self.floor(addr)).filter(|it| it.end > start);
        let last = self.floor(end.saturating_sub(1)).filter(|it| it.start >= start);
        let tail = last.or(before).filter(|it| it.end > end).map(|it| it.tail(end));
        let shortened = before.map(|it| it.head(start));
        self.drop_starts(start, end);
        if let Some(mapping) = shortened {
            self.drop_starts(mapping.start, start);
            self.put(mapping);
        }
        if let Some(mapping) = tail {
            self.put(mapping);
        }
    }

    /// Adds a mapping that overlaps none.
    fn put(&mut self, mapping: Mapping) {
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(MapsNode::new(NodeEntries::Mappings(alloc::vec![mapping]))));
            return;
        };
        if let Some(right) = put(root, mapping) {
            let halves = alloc::vec![Arc::clone(root), right];
            *root = Arc::new(MapsNode::new(NodeEntries::Nodes(halves)));
        }
    }

    /// Removes the mappings whose start is in a range.
    fn drop_starts(&mut self, start: u64, end: u64) {
        let Some(root) = &mut self.root else { return };
        if !drop_starts(root, start, end) {
            self.root = None;
            return;
        }
        while let NodeEntries::Nodes(nodes) = &root.entries {
            let [only] = nodes.as_slice() else { break };
            *root = Arc::clone(only);
        }
    }

    /// Returns the last mapping that begins at an address or before it.
    #[inline]
    fn floor(&self, addr: u64) -> Option<&Mapping> {
        self.root.as_deref()?.floor(addr)
    }

    /// Returns the first mapping that begins after an address.
    fn after(&self, addr: u64) -> Option<&Mapping> {
        self.root.as_deref()?.after(addr)
    }
}

impl MapsNode {
    fn new(entries: NodeEntries) -> Self {
        let mut node = Self { starts: [[NOTHING; 4]; 4], entries, marks: MapMark::default() };
        node.note_entries();
        node
    }

    /// Notes where the entries begin and what they have, after they changed.
    fn note_entries(&mut self) {
        self.starts = [[NOTHING; 4]; 4];
        let starts = self.starts.as_flattened_mut().iter_mut();
        match &self.entries {
            NodeEntries::Mappings(mappings) => {
                starts.zip(mappings).for_each(|(start, mapping)| *start = mapping.start);
            }
            NodeEntries::Nodes(nodes) => {
                starts.zip(nodes).for_each(|(start, node)| *start = node.first_start())
            }
        }
        self.marks = match &self.entries {
            NodeEntries::Mappings(mappings) => mappings.iter().map(|it| MapMark::of(it.dso())).collect(),
            NodeEntries::Nodes(nodes) => nodes.iter().map(|node| node.marks).collect(),
        };
    }

    /// Returns the number of entries that begin at an address or before it.
    // First the quarter, then the place in it. Branches could not be predicted, and the steps of a binary search would
    // wait for each other.
    #[inline]
    fn count_to(&self, addr: u64) -> usize {
        let addr = addr.min(NOTHING.saturating_sub(1));
        let is_to = |start: u64| usize::from(start <= addr);
        let [[.., a], [.., b], [.., c], _] = self.starts;
        let before = is_to(a).wrapping_add(is_to(b)).wrapping_add(is_to(c));
        let Some(&[a, b, c, d]) = self.starts.get(before) else { return 0 };
        let within = is_to(a).wrapping_add(is_to(b)).wrapping_add(is_to(c)).wrapping_add(is_to(d));
        before.wrapping_mul(4).wrapping_add(within)
    }

    #[inline]
    fn floor(&self, addr: u64) -> Option<&Mapping> {
        let mut node = self;
        loop {
            let last = node.count_to(addr).checked_sub(1)?;
            match &node.entries {
                NodeEntries::Mappings(mappings) => return mappings.get(last),
                NodeEntries::Nodes(nodes) => node = nodes.get(last)?,
            }
        }
    }

    fn after(&self, addr: u64) -> Option<&Mapping> {
        let after = self.count_to(addr);
        match &self.entries {
            NodeEntries::Mappings(mappings) => mappings.get(after),
            NodeEntries::Nodes(nodes) => {
                let within = after.checked_sub(1).and_then(|last| nodes.get(last)?.after(addr));
                within.or_else(|| nodes.get(after)?.first())
            }
        }
    }

    fn first(&self) -> Option<&Mapping> {
        let mut node = self;
        loop {
            match &node.entries {
                NodeEntries::Mappings(mappings) => return mappings.first(),
                NodeEntries::Nodes(nodes) => node = nodes.first()?,
            }
        }
    }

    fn first_start(&self) -> u64 {
        let [[first, ..], ..] = self.starts;
        first
    }

    /// Returns whether a mapping begins in a range.
    fn has_starts(&self, start: u64, end: u64) -> bool {
        let first = match start.checked_sub(1) {
            Some(before) => self.after(before),
            None => self.first(),
        };
        first.is_some_and(|mapping| mapping.start < end)
    }
}

/// Adds a mapping that overlaps none to a node. If the node becomes too large, returns its second half.
fn put(node: &mut Arc<MapsNode>, mapping: Mapping) -> Option<Arc<MapsNode>> {
    let node = Arc::make_mut(node);
    let after = node.count_to(mapping.start);
    let right = match &mut node.entries {
        NodeEntries::Mappings(mappings) => {
            add(mappings, after, mapping);
            second_half(mappings).map(NodeEntries::Mappings)
        }
        NodeEntries::Nodes(nodes) => {
            let at = after.saturating_sub(1);
            let start = node.starts.as_flattened_mut().get_mut(at)?;
            *start = mapping.start.min(*start);
            node.marks = node.marks.and(MapMark::of(mapping.dso()));
            let right = put(nodes.get_mut(at)?, mapping)?;
            add(nodes, at.saturating_add(1), right);
            second_half(nodes).map(NodeEntries::Nodes)
        }
    };
    node.note_entries();
    right.map(|right| Arc::new(MapsNode::new(right)))
}

/// Adds an entry to a node, without room for more: what processes do not share should be small.
fn add<T>(entries: &mut Vec<T>, at: usize, entry: T) {
    entries.reserve_exact(1);
    entries.insert(at, entry);
}

/// Splits the entries of a node that is too large.
fn second_half<T>(entries: &mut Vec<T>) -> Option<Vec<T>> {
    if entries.len() <= FANOUT {
        return None;
    }
    let right = entries.split_off(FANOUT.div_ceil(2));
    entries.shrink_to_fit();
    Some(right)
}

/// Removes the mappings of a node whose start is in a range. Returns whether any are left. Nodes in the middle of the range
/// are dropped as a whole, so that the time does not grow with the number of mappings in it.
fn drop_starts(node: &mut Arc<MapsNode>, start: u64, end: u64) -> bool {
    if !node.has_starts(start, end) {
        return true;
    }
    let node = Arc::make_mut(node);
    // The entries that begin before the range, and before its end.
    let before = |addr: u64| node.starts.as_flattened().iter().filter(|&&start| start < addr).count();
    let (from, to) = (before(start), before(end));
    let is_left = match &mut node.entries {
        NodeEntries::Mappings(mappings) => {
            mappings.drain(from..to);
            !mappings.is_empty()
        }
        NodeEntries::Nodes(nodes) => {
            // The node before the range may have mappings in it, and the last one in the range mappings after it.
            let (first, last) = (from.saturating_sub(1), to.saturating_sub(1));
            let mut number = 0_usize;
            nodes.retain_mut(|node| {
                let at = number;
                number = number.saturating_add(1);
                if at < first || at > last {
                    return true;
                }
                (at == first || at == last) && drop_starts(node, start, end)
            });
            !nodes.is_empty()
        }
    };
    node.note_entries();
    is_left
}

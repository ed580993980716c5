//! The mappings of a process or of a kernel.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::map::Mapping;

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
    root: Option<Arc<Node>>,
}

/// Number of entries of a node at most: as many as [`count_to`] can count.
const FANOUT: usize = 15;

/// A node is never empty.
#[derive(Clone, Debug)]
enum Node {
    Leaf(Vec<Mapping>),
    Inner(Vec<Child>),
}

#[derive(Clone, Debug)]
struct Child {
    /// The start of the first mapping in the node.
    first: u64,
    node: Arc<Node>,
}

impl Maps {
    /// Returns the mapping that contains an address.
    #[must_use]
    #[inline]
    pub fn find(&self, addr: u64) -> Option<&Mapping> {
        self.floor(addr).filter(|mapping| addr < mapping.end)
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

    /// Returns whether there are no mappings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
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
            self.drop_starts(start, end);
        }
    }

    /// Removes all that is mapped from `start` to `end`, which is larger.
    fn cut(&mut self, start: u64, end: u64) {
        // A mapping that begins before the range, and one that begins in it. Either may reach beyond its end.
        let before = start.checked_sub(1).and_then(|addr| self.floor(addr)).filter(|it| it.end > start);
        let last = self.floor(end.saturating_sub(1)).filter(|it| it.start >= start);
        let tail = last.or(before).filter(|it| it.end > end).map(|it| it.tail(end));
        let shortened = before.map(|it| Mapping { end: start, ..it.clone() });
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
            self.root = Some(Arc::new(Node::Leaf(alloc::vec![mapping])));
            return;
        };
        if let Some(right) = put(root, mapping) {
            let left = Child { first: root.first_start(), node: Arc::clone(root) };
            *root = Arc::new(Node::Inner(alloc::vec![left, right]));
        }
    }

    /// Removes the mappings whose start is in a range.
    fn drop_starts(&mut self, start: u64, end: u64) {
        let Some(root) = &mut self.root else { return };
        if !drop_starts(root, start, end) {
            self.root = None;
            return;
        }
        while let Node::Inner(children) = &**root {
            let [only] = children.as_slice() else { break };
            *root = Arc::clone(&only.node);
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

impl Node {
    #[inline]
    fn floor(&self, addr: u64) -> Option<&Mapping> {
        let mut node = self;
        loop {
            match node {
                Self::Leaf(mappings) => {
                    let after = count_to(mappings, addr, |mapping| mapping.start);
                    return mappings.get(after.checked_sub(1)?);
                }
                Self::Inner(children) => {
                    let after = count_to(children, addr, |child| child.first);
                    node = &children.get(after.checked_sub(1)?)?.node;
                }
            }
        }
    }

    fn after(&self, addr: u64) -> Option<&Mapping> {
        match self {
            Self::Leaf(mappings) => mappings.get(mappings.partition_point(|mapping| mapping.start <= addr)),
            Self::Inner(children) => {
                let after = children.partition_point(|child| child.first <= addr);
                let within = after.checked_sub(1).and_then(|last| children.get(last)?.node.after(addr));
                within.or_else(|| children.get(after)?.node.first())
            }
        }
    }

    fn first(&self) -> Option<&Mapping> {
        let mut node = self;
        loop {
            match node {
                Self::Leaf(mappings) => return mappings.first(),
                Self::Inner(children) => node = &children.first()?.node,
            }
        }
    }

    fn first_start(&self) -> u64 {
        match self {
            Self::Leaf(mappings) => mappings.first().map_or(0, |mapping| mapping.start),
            Self::Inner(children) => children.first().map_or(0, |child| child.first),
        }
    }
}

/// Returns the number of entries of a node that begin at an address or before it. They are in order.
#[inline]
fn count_to<T>(entries: &[T], addr: u64, start: impl Fn(&T) -> u64) -> usize {
    let mut count = 0;
    for bit in [8, 4, 2, 1_usize] {
        // The last of the entries that the bit would add.
        if entries.get(count | bit.saturating_sub(1)).is_some_and(|entry| start(entry) <= addr) {
            count |= bit;
        }
    }
    count
}

/// Adds a mapping that overlaps none to a node. If the node becomes too large, returns its second half.
fn put(node: &mut Arc<Node>, mapping: Mapping) -> Option<Child> {
    match Arc::make_mut(node) {
        Node::Leaf(mappings) => {
            let at = mappings.partition_point(|it| it.start < mapping.start);
            add(mappings, at, mapping);
            let right = second_half(mappings)?;
            Some(Child { first: right.first()?.start, node: Arc::new(Node::Leaf(right)) })
        }
        Node::Inner(children) => {
            let after = children.partition_point(|child| child.first <= mapping.start);
            let at = after.saturating_sub(1);
            let child = children.get_mut(at)?;
            child.first = child.first.min(mapping.start);
            let right = put(&mut child.node, mapping)?;
            add(children, at.saturating_add(1), right);
            let right = second_half(children)?;
            Some(Child { first: right.first()?.first, node: Arc::new(Node::Inner(right)) })
        }
    }
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
fn drop_starts(node: &mut Arc<Node>, start: u64, end: u64) -> bool {
    if !node.has_starts(start, end) {
        return true;
    }
    match Arc::make_mut(node) {
        Node::Leaf(mappings) => {
            mappings.retain(|mapping| mapping.start < start || mapping.start >= end);
            !mappings.is_empty()
        }
        Node::Inner(children) => {
            // Those that begin in the range, and the one before, which may have mappings in it.
            let from = children.partition_point(|child| child.first < start).saturating_sub(1);
            let to = children.partition_point(|child| child.first < end);
            let (first, last) = (from, to.saturating_sub(1));
            let mut number = 0_usize;
            children.retain_mut(|child| {
                let at = number;
                number = number.saturating_add(1);
                if at < first || at > last {
                    return true;
                }
                if at > first && at < last {
                    return false;
                }
                let is_left = drop_starts(&mut child.node, start, end);
                if is_left {
                    child.first = child.node.first_start();
                }
                is_left
            });
            !children.is_empty()
        }
    }
}

impl Node {
    /// Returns whether a mapping begins in a range.
    fn has_starts(&self, start: u64, end: u64) -> bool {
        let first = match start.checked_sub(1) {
            Some(before) => self.after(before),
            None => self.first(),
        };
        first.is_some_and(|mapping| mapping.start < end)
    }
}

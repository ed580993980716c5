//! Ranges of addresses that are laid over each other one after the other, as code of a JIT compiler is.

use core::ops::Range;

/// Ranges by address, with the number of the last one that covers an address.
///
/// It is a segment tree, so that a million ranges that all overlap take little more memory and time than a million that do
/// not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    /// All first and last addresses, each once.
    bounds: Vec<u64>,
    /// For each node, the numbers of the ranges that cover it and not its parent, in ascending order.
    nodes: Vec<Vec<u32>>,
}

impl Overlay {
    /// Lays `ranges` over each other in their order. Those that are empty cover nothing.
    pub(crate) fn new(ranges: &[(u64, u64)]) -> Self {
        let mut bounds: Vec<u64> = ranges.iter().flat_map(|&(start, end)| [start, end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut it = Self { nodes: vec![Vec::new(); bounds.len().saturating_mul(2)], bounds };
        for (number, &(start, end)) in (0..u32::MAX).zip(ranges) {
            it.add(number, start, end);
        }
        it
    }

    fn add(&mut self, number: u32, start: u64, end: u64) {
        let leaves = self.bounds.len();
        let leaf = |address| self.bounds.partition_point(|&bound| bound < address).saturating_add(leaves);
        let (mut from, mut to) = (leaf(start), leaf(end));
        while from < to {
            if from & 1 == 1 {
                self.cover(from, number);
                from = from.saturating_add(1);
            }
            if to & 1 == 1 {
                to = to.saturating_sub(1);
                self.cover(to, number);
            }
            (from, to) = (from >> 1, to >> 1);
        }
    }

    fn cover(&mut self, node: usize, number: u32) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.push(number);
        }
    }

    /// Returns the largest number, below `before`, of a range that covers the address.
    pub(crate) fn find(&self, address: u64, before: u32) -> Option<u32> {
        let mut best = None;
        for node in self.path(address) {
            let numbers = self.nodes.get(node).map_or(&[][..], Vec::as_slice);
            let count = numbers.partition_point(|&number| number < before);
            let last = count.checked_sub(1).and_then(|last| numbers.get(last)).copied();
            best = best.max(last);
        }
        best
    }

    /// Returns the parts of ranges that no later range covers, by address: each with the number of its range. Two parts of one
    /// range that adjoin are one.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        let mut bounds = self.bounds.windows(2).peekable();
        core::iter::from_fn(move || {
            loop {
                let &[start, mut end] = bounds.next()? else { return None };
                let Some(number) = self.find(start, u32::MAX) else { continue };
                while let Some(&[_, next]) =
                    bounds.next_if(|it| it.first().and_then(|&at| self.find(at, u32::MAX)) == Some(number))
                {
                    end = next;
                }
                return Some((start..end, number));
            }
        })
    }

    /// Returns the nodes that an address is in, the smallest first.
    pub(crate) fn path(&self, address: u64) -> impl Iterator<Item = usize> {
        let after = self.bounds.partition_point(|&bound| bound <= address);
        let leaf = after.checked_sub(1).map_or(0, |leaf| leaf.saturating_add(self.bounds.len()));
        core::iter::successors(Some(leaf), |node| Some(node >> 1)).take_while(|&node| node > 0)
    }

    /// Returns the number of bytes of the tree.
    pub(crate) fn size(&self) -> usize {
        let numbers = self.nodes.iter().map(Vec::capacity).fold(0, usize::saturating_add);
        let sizes = [
            numbers.saturating_mul(size_of::<u32>()),
            self.nodes.capacity().saturating_mul(size_of::<Vec<u32>>()),
            self.bounds.capacity().saturating_mul(size_of::<u64>()),
        ];
        sizes.into_iter().fold(0, usize::saturating_add)
    }

    /// Returns for each node the numbers of the ranges that cover it and not its parent, in ascending order.
    pub(crate) fn nodes(&self) -> &[Vec<u32>] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_by_looking_at_each(
            ranges in proptest::collection::vec((0u64..40, 0u64..20), 0..40),
            address in 0u64..70,
            before in 0u32..45,
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(start, size)| (start, start + size)).collect();
            let overlay = Overlay::new(&ranges);
            let expected = ranges
                .iter()
                .enumerate()
                .filter(|&(number, &(start, end))| number < before as usize && start <= address && address < end)
                .map(|(number, _)| number as u32)
                .next_back();
            prop_assert_eq!(overlay.find(address, before), expected);
            let visible: Vec<_> = overlay.visible().collect();
            let at = |address| visible.iter().find(|(it, _)| it.contains(&address)).map(|&(_, number)| number);
            prop_assert_eq!(at(address), overlay.find(address, u32::MAX));
            prop_assert!(visible.iter().all(|(it, _)| !it.is_empty()));
            // In ascending order, and none can be joined with the next.
            let are_apart = |two: &[(Range<u64>, u32)]| {
                two[0].0.end < two[1].0.start || two[0].0.end == two[1].0.start && two[0].1 != two[1].1
            };
            prop_assert!(visible.windows(2).all(are_apart));
        }
    }

    #[test]
    fn many_that_all_overlap() {
        let count = 100_000;
        let ranges: Vec<_> = (0..count).map(|number| (number, 2 * count - number)).collect();
        let overlay = Overlay::new(&ranges);
        assert_eq!(overlay.find(count, u32::MAX), Some(99_999));
        assert_eq!(overlay.find(5, u32::MAX), Some(5));
        assert!(overlay.nodes.iter().map(Vec::len).sum::<usize>() < 40 * 100_000);
    }
}

//! The functions of all stacks, as one tree in the order in which they are drawn.

use perf_profile::CallTree;

use crate::html::numbers::push;

/// A node of a [`FlameTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlameNode {
    /// The index of the caller, which is lower. That of the root is its own.
    pub(super) caller: u32,
    /// The rank of the function. The root has none.
    pub(super) function: u32,
    /// Number of callers.
    pub(super) depth: u32,
}

/// A tree of functions. Each node is followed by all that it calls.
#[derive(Debug)]
pub(super) struct FlameTree {
    pub(super) nodes: Vec<FlameNode>,
    /// By the number in the [`CallTree`].
    new_numbers: Vec<u32>,
}

impl FlameTree {
    /// Orders the nodes: each node is before those that it calls, and these are ordered by the ranks of the functions.
    pub(super) fn new(tree: CallTree, ranks: &[u32]) -> Self {
        let nodes = tree.into_nodes();
        let rank = |function: u32| ranks.get(function as usize).copied().unwrap_or(0);
        // What each node calls is counted first, and then filled in from the end.
        let mut starts = vec![0_usize; nodes.len() + 1];
        for &(caller, _) in nodes.iter().skip(1) {
            if let Some(start) = starts.get_mut(caller as usize) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut called = vec![(0, 0); nodes.len() - 1];
        for (&(caller, function), node) in nodes.iter().zip(0_u32..).skip(1) {
            let Some(start) = starts.get_mut(caller as usize) else { continue };
            *start -= 1;
            if let Some(place) = called.get_mut(*start) {
                *place = (!rank(function), node);
            }
        }
        for (&start, &end) in starts.iter().zip(starts.iter().skip(1)) {
            // The last called one first, as they are taken from the end of a stack.
            called.get_mut(start..end).unwrap_or_default().sort_unstable();
        }
        let mut tree =
            FlameTree { nodes: Vec::with_capacity(nodes.len()), new_numbers: vec![0; nodes.len()] };
        let mut stack = vec![(0, 0, 0)];
        while let Some((node, caller, depth)) = stack.pop() {
            let number = tree.nodes.len() as u32;
            let function = nodes.get(node as usize).map_or(0, |&(_, function)| rank(function));
            tree.nodes.push(FlameNode { caller, function, depth });
            if let Some(place) = tree.new_numbers.get_mut(node as usize) {
                *place = number;
            }
            let start = starts.get(node as usize).copied().unwrap_or(0);
            let end = starts.get(node as usize + 1).copied().unwrap_or(0);
            let called = called.get(start..end).unwrap_or_default();
            stack.extend(called.iter().map(|&(_, called)| (called, number, depth + 1)));
        }
        tree
    }

    /// Returns the index of a node by its number in the [`CallTree`].
    pub(super) fn number_of(&self, node: u32) -> u32 {
        self.new_numbers.get(node as usize).copied().unwrap_or(0)
    }

    /// Returns of each node but the root: by how many the caller is above the node before, and the function.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut before = 0;
        for &FlameNode { function, depth, .. } in self.nodes.iter().skip(1) {
            push(&mut bytes, u64::from(before + 1 - depth));
            push(&mut bytes, u64::from(function));
            before = depth;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_followed_by_what_they_call() {
        let mut builder = CallTree::default();
        let main = builder.child(0, 0);
        let late = builder.child(main, 1);
        let early = builder.child(main, 2);
        let deep = builder.child(late, 0);
        assert_eq!(builder.child(main, 1), late);
        // By name, the third function is before the second one.
        let tree = FlameTree::new(builder, &[0, 2, 1]);
        let nodes: Vec<_> = tree.nodes.iter().map(|node| (node.caller, node.function, node.depth)).collect();
        assert_eq!(nodes, [(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 2, 2), (3, 0, 3)]);
        assert_eq!([main, early, late, deep].map(|node| tree.number_of(node)), [1, 2, 3, 4]);
        assert_eq!(tree.bytes(), [0, 0, 0, 1, 1, 2, 0, 0]);
    }
}

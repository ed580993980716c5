//! The functions of all stacks, as one tree.

use hashbrown::HashMap;

use super::numbers::push;
use crate::profile::Profile;

/// Makes a tree of functions, by numbers in the order in which the nodes came. The root is 0.
#[derive(Debug)]
pub(super) struct TreeBuilder {
    /// The caller and the function of each node.
    nodes: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
}

impl Default for TreeBuilder {
    fn default() -> Self {
        Self { nodes: vec![(0, 0)], numbers: HashMap::new() }
    }
}

impl TreeBuilder {
    /// Returns the node of a function that a node calls.
    pub(super) fn child(&mut self, caller: u32, function: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.numbers.entry((caller, function)).or_insert(next);
        if number == next {
            self.nodes.push((caller, function));
        }
        number
    }

    /// Adds the stacks of a capture, and returns their nodes. `functions` are those of each frame, outermost first.
    pub(super) fn add_stacks(&mut self, profile: &Profile, functions: &[Vec<u32>]) -> Vec<u32> {
        let stacks = profile.stacks();
        let mut nodes: Vec<u32> = Vec::with_capacity(stacks.len());
        for stack in 0..stacks.len() as u32 {
            let node = stacks.node(stack).map_or(0, |(callers, frame)| {
                // Callers have lower numbers.
                let caller = nodes.get(callers as usize).copied().unwrap_or(0);
                let functions = functions.get(frame as usize).map_or(&[][..], |it| it);
                functions.iter().fold(caller, |caller, &function| self.child(caller, function))
            });
            nodes.push(node);
        }
        nodes
    }

    /// Orders the nodes: each node is before those that it calls, and these are ordered by the ranks of the functions.
    pub(super) fn finish(self, ranks: &[u32]) -> Tree {
        let Self { nodes, numbers } = self;
        drop(numbers);
        let rank = |function: u32| ranks.get(function as usize).copied().unwrap_or(0);
        // By caller, the last called one first, as they are taken from the end of a stack.
        let mut called: Vec<u32> = (1..nodes.len() as u32).collect();
        called.sort_unstable_by_key(|&node| {
            let (caller, function) = nodes.get(node as usize).copied().unwrap_or_default();
            (caller, !rank(function))
        });
        let caller_of = |node: u32| nodes.get(node as usize).map_or(0, |node| node.0);
        let mut starts = vec![0_usize; nodes.len() + 1];
        for &node in &called {
            if let Some(start) = starts.get_mut(caller_of(node) as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut tree = Tree { nodes: Vec::with_capacity(nodes.len()), new_numbers: vec![0; nodes.len()] };
        let mut stack = vec![(0, 0, 0)];
        while let Some((node, caller, depth)) = stack.pop() {
            let number = tree.nodes.len() as u32;
            let function = nodes.get(node as usize).map_or(0, |&(_, function)| rank(function));
            tree.nodes.push(Node { caller, function, depth });
            if let Some(place) = tree.new_numbers.get_mut(node as usize) {
                *place = number;
            }
            let start = starts.get(node as usize).copied().unwrap_or(0);
            let end = starts.get(node as usize + 1).copied().unwrap_or(0);
            let called = called.get(start..end).unwrap_or_default();
            stack.extend(called.iter().map(|&called| (called, number, depth + 1)));
        }
        tree
    }
}

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The index of the caller, which is lower. That of the root is its own.
    pub(super) caller: u32,
    /// The rank of the function. The root has none.
    pub(super) function: u32,
    /// Number of callers.
    pub(super) depth: u32,
}

/// A tree of functions. Each node is followed by all that it calls.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// By the number in the builder.
    new_numbers: Vec<u32>,
}

impl Tree {
    /// Returns the index of a node by its number in the builder.
    pub(super) fn number_of(&self, node: u32) -> u32 {
        self.new_numbers.get(node as usize).copied().unwrap_or(0)
    }

    /// Returns of each node but the root: by how many the caller is above the node before, and the function.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut before = 0;
        for &Node { function, depth, .. } in self.nodes.iter().skip(1) {
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
        let mut builder = TreeBuilder::default();
        let main = builder.child(0, 0);
        let late = builder.child(main, 1);
        let early = builder.child(main, 2);
        let deep = builder.child(late, 0);
        assert_eq!(builder.child(main, 1), late);
        // By name, the third function is before the second one.
        let tree = builder.finish(&[0, 2, 1]);
        let nodes: Vec<_> = tree.nodes.iter().map(|node| (node.caller, node.function, node.depth)).collect();
        assert_eq!(nodes, [(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 2, 2), (3, 0, 3)]);
        assert_eq!([main, early, late, deep].map(|node| tree.number_of(node)), [1, 2, 3, 4]);
        assert_eq!(tree.bytes(), [0, 0, 0, 1, 1, 2, 0, 0]);
    }
}

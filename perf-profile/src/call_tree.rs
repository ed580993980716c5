//! The functions of all stacks, as one tree.

use crate::profile::Profile;
use crate::table::number_lists::NumberLists;
use crate::table::stacks::{EMPTY, StackTree};

/// A tree of functions, which are numbers of the caller's choice. The nodes have numbers in the order in which they came, so
/// that a caller has a lower one than what it calls. The root, which is no function, is 0.
#[derive(Debug, Default)]
pub struct CallTree(StackTree);

impl CallTree {
    /// Returns the node of a function that a node calls.
    pub fn child(&mut self, caller: u32, function: u32) -> u32 {
        self.0.called(caller, function, usize::MAX).unwrap_or(EMPTY)
    }

    /// Adds the stacks of a capture, and returns their nodes. `functions` are those of each frame, outermost first.
    pub fn add_stacks(&mut self, profile: &Profile, functions: &NumberLists) -> Vec<u32> {
        let stacks = profile.stacks();
        let mut nodes: Vec<u32> = Vec::with_capacity(stacks.len());
        // Most stacks are others in their functions, too.
        self.0.reserve(stacks.len());
        for stack in 0..stacks.len() as u32 {
            let node = stacks.node(stack).map_or(EMPTY, |(callers, frame)| {
                // Callers have lower numbers.
                let caller = nodes.get(callers as usize).copied().unwrap_or(EMPTY);
                functions.get(frame).iter().fold(caller, |caller, &function| self.child(caller, function))
            });
            nodes.push(node);
        }
        nodes
    }

    /// Returns the caller and the function of each node, by number.
    pub fn into_nodes(self) -> Vec<(u32, u32)> {
        self.0.into_nodes()
    }
}

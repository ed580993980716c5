//! The stacks of all samples, as one tree: stacks that begin with the same callers share their frames.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::table::numbering::Numbering;

/// The number of a stack without frames.
pub const EMPTY: u32 = 0;

/// The stacks of all samples, as a tree: stacks that begin with the same callers share these frames. A stack is the number
/// of its innermost frame in the tree.
#[derive(Clone, Debug)]
pub struct StackTree {
    /// The caller and the frame of each node. The first one is the root.
    nodes: Vec<(u32, u32)>,
    /// The numbers of all nodes but the root, by the caller and the frame.
    numbers: Numbering,
    hasher: DefaultHashBuilder,
}

impl Default for StackTree {
    fn default() -> Self {
        let (numbers, hasher) = Default::default();
        Self { nodes: vec![(EMPTY, u32::MAX)], numbers, hasher }
    }
}

impl StackTree {
    /// Returns the number of a stack, given by its [frames](crate::FrameTable) from the outermost one on. `None` if the tree
    /// would have more than `limit` frames.
    pub fn number(&mut self, frames: impl Iterator<Item = u32>, limit: usize) -> Option<u32> {
        let mut stack = EMPTY;
        for frame in frames {
            stack = self.called(stack, frame, limit)?;
        }
        Some(stack)
    }

    /// Returns the number of the stack of a frame that a stack called. `None` if the tree would have more than `limit` frames.
    pub fn called(&mut self, caller: u32, frame: u32, limit: usize) -> Option<u32> {
        let Self { nodes, numbers, hasher } = self;
        let node = (caller, frame);
        let is = |number: u32| nodes.get(number as usize) == Some(&node);
        let next = (nodes.len() <= limit).then_some(nodes.len() as u32);
        let number =
            numbers.number_or(hash(hasher, node), is, |number| hash_of(hasher, nodes, number), next)?;
        if number as usize == nodes.len() {
            nodes.push(node);
        }
        Some(number)
    }

    /// Adds the stack of a frame that a stack called, which is not there yet, and returns its number. It is not found again
    /// before [`find_all`](Self::find_all).
    pub fn push(&mut self, caller: u32, frame: u32) -> u32 {
        self.nodes.push((caller, frame));
        self.nodes.len() as u32 - 1
    }

    /// Has all stacks found again.
    pub fn find_all(&mut self) {
        let Self { nodes, numbers, hasher } = self;
        // The root, which is the first node, is found by nothing.
        if numbers.len() + 1 < nodes.len() {
            numbers.clear();
            numbers.reserve(nodes.len(), |number| hash_of(hasher, nodes, number));
            for (&node, number) in nodes.iter().zip(EMPTY..).skip(1) {
                numbers.add(hash(hasher, node), number, |number| hash_of(hasher, nodes, number));
            }
        }
    }

    /// Makes room for a number of stacks.
    pub fn reserve(&mut self, stacks: usize) {
        let Self { nodes, numbers, hasher } = self;
        nodes.reserve(stacks);
        numbers.reserve(stacks, |number| hash_of(hasher, nodes, number));
    }

    /// Returns the callers and the frame of each stack, by number.
    pub fn into_nodes(self) -> Vec<(u32, u32)> {
        self.nodes
    }

    /// Drops what only [`number`](Self::number) needs: afterwards, a stack that is given again gets another number.
    pub fn finish(&mut self) {
        self.numbers = Numbering::default();
    }

    /// Returns the number of nodes, that of [`EMPTY`] included. All stacks have lower numbers.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the empty stack is always there")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the stack of the callers and the frame of a stack; `None` for [`EMPTY`] and numbers that are no stack. The
    /// callers have a lower number than the stack.
    #[must_use]
    pub fn node(&self, stack: u32) -> Option<(u32, u32)> {
        self.nodes.get(stack as usize).copied().filter(|_| stack != EMPTY)
    }

    /// Returns a stack without so many of its innermost frames; [`EMPTY`] if it has no more. Takes a step for each frame.
    #[must_use]
    pub fn outer(&self, stack: u32, frames: usize) -> u32 {
        let callers = core::iter::successors(Some(stack), |&it| Some(self.node(it)?.0));
        callers.take(frames.saturating_add(1)).last().unwrap_or(EMPTY)
    }

    /// Returns the frames of a stack, innermost first.
    pub fn frames(&self, mut stack: u32) -> impl Iterator<Item = u32> + use<'_> {
        core::iter::from_fn(move || {
            let (caller, frame) = self.node(stack)?;
            stack = caller;
            Some(frame)
        })
    }
}

fn hash(hasher: &DefaultHashBuilder, (caller, frame): (u32, u32)) -> u64 {
    hasher.hash_one(key(caller, frame))
}

fn hash_of(hasher: &DefaultHashBuilder, nodes: &[(u32, u32)], number: u32) -> u64 {
    nodes.get(number as usize).map_or(0, |&node| hash(hasher, node))
}

/// Returns a caller and what it calls as one number, which takes fewer steps to hash.
#[inline]
fn key(caller: u32, called: u32) -> u64 {
    u64::from(caller) << 32 | u64::from(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_are_pushed_are_found_afterwards() {
        let mut stacks = StackTree::default();
        let caller = stacks.push(EMPTY, 1);
        let called = stacks.push(caller, 2);
        stacks.find_all();
        assert_eq!(stacks.number([1, 2].into_iter(), 2), Some(called));
        assert_eq!((caller, called, stacks.len()), (1, 2, 3));
    }

    #[test]
    fn stacks_share_their_callers() {
        let mut stacks = StackTree::default();
        let one = stacks.number([1, 2, 3].into_iter(), 5).unwrap();
        let other = stacks.number([1, 2, 4].into_iter(), 5).unwrap();
        assert_eq!(stacks.number([1, 2, 3].into_iter(), 5), Some(one));
        assert_eq!(stacks.frames(one).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(stacks.frames(other).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(stacks.number(core::iter::empty(), 5), Some(EMPTY));
        assert_eq!(stacks.frames(EMPTY).count(), 0);
        assert_eq!((stacks.outer(one, 0), stacks.outer(one, 3), stacks.outer(one, 9)), (one, EMPTY, EMPTY));
        assert_eq!(stacks.outer(one, 1), stacks.outer(other, 1));
        // Four frames are taken; there is room for one more.
        assert_eq!(stacks.number([1, 5, 6].into_iter(), 5), None);
        assert_eq!(stacks.number([1, 5].into_iter(), 5).map(|it| stacks.frames(it).count()), Some(2));
        assert_eq!(stacks.number([7].into_iter(), 5), None);
    }
}

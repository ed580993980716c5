//! The stacks of all samples, as one tree: stacks that begin with the same callers share their frames.

use std::collections::HashMap;

/// The number of a stack without frames.
pub(super) const EMPTY: u32 = 0;

/// The stacks of all samples. A stack is the number of its innermost frame in the tree.
#[derive(Debug)]
pub(super) struct Stacks {
    /// The caller and the frame of each node. The first one is the root.
    nodes: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
}

impl Stacks {
    pub(super) fn new() -> Self {
        Self { nodes: vec![(EMPTY, u32::MAX)], numbers: HashMap::new() }
    }

    /// Returns the number of a stack, given from its outermost frame; `None` if there is no room for it.
    pub(super) fn number(&mut self, frames: impl Iterator<Item = u32>, limit: usize) -> Option<u32> {
        let mut stack = EMPTY;
        for frame in frames {
            let next = self.nodes.len() as u32;
            stack = match self.numbers.get(&(stack, frame)) {
                Some(&number) => number,
                None if self.nodes.len() > limit => return None,
                None => {
                    self.numbers.insert((stack, frame), next);
                    self.nodes.push((stack, frame));
                    next
                }
            };
        }
        Some(stack)
    }

    /// Drops what only [`number`](Self::number) needs.
    pub(super) fn finish(&mut self) {
        self.numbers = HashMap::new();
    }

    /// Returns the frames of a stack, innermost first.
    pub(super) fn frames(&self, mut stack: u32) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let &(caller, frame) = self.nodes.get(stack as usize).filter(|_| stack != EMPTY)?;
            stack = caller;
            Some(frame)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_share_their_callers() {
        let mut stacks = Stacks::new();
        let one = stacks.number([1, 2, 3].into_iter(), 5).unwrap();
        let other = stacks.number([1, 2, 4].into_iter(), 5).unwrap();
        assert_eq!(stacks.number([1, 2, 3].into_iter(), 5), Some(one));
        assert_eq!(stacks.frames(one).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(stacks.frames(other).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(stacks.number(core::iter::empty(), 5), Some(EMPTY));
        assert_eq!(stacks.frames(EMPTY).count(), 0);
        // Four frames are taken; there is room for one more.
        assert_eq!(stacks.number([1, 5, 6].into_iter(), 5), None);
        assert_eq!(stacks.number([1, 5].into_iter(), 5).map(|it| stacks.frames(it).count()), Some(2));
        assert_eq!(stacks.number([7].into_iter(), 5), None);
    }
}

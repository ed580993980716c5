//! The outermost frames that the stacks of a thread share.

use hashbrown::HashMap;
use perf_abi::record::CpuMode;

use super::end::StackEnd;
use super::frame::{FrameSource, UnwoundFrame};
use super::unwound::UnwoundStack;

/// Number of whole stacks of a thread that must have the same outermost frames.
const ENOUGH: u32 = 8;

/// The largest number of threads that are kept.
const MAX_THREADS: usize = 1 << 14;

/// The outermost frames that all whole stacks of a thread had so far: its start routine and its main loop, say. They run as
/// long as the thread, so that a stack that ends among them because the copy was too short goes on as the others did.
#[derive(Debug)]
pub struct ThreadRoots {
    by_thread: HashMap<u64, RootFrames>,
    /// The largest number of frames of a stack.
    max_stack: usize,
}

/// A stack that was unwound without the earlier stacks of its thread: see
/// [`Unwinder::unwind_alone`](super::Unwinder::unwind_alone).
#[derive(Clone, Debug)]
pub struct PartialStack {
    unwound: UnwoundStack,
    /// The key of the thread.
    thread: u64,
    /// Address and stack pointer of each user frame, innermost first; empty if no other stack needs them.
    places: Vec<(u64, u64)>,
}

impl PartialStack {
    /// `places` are those of the user frames; empty if there are none.
    pub(crate) fn new(unwound: UnwoundStack, thread: u64, places: &[(u64, u64)]) -> Self {
        let has_use = matches!(unwound.end, StackEnd::Rooted | StackEnd::Truncated);
        let places = if has_use { places.to_vec() } else { Vec::new() };
        Self { unwound, thread, places }
    }
}

#[derive(Debug, Default)]
struct RootFrames {
    /// Address and stack pointer of each frame, outermost first.
    frames: Vec<(u64, u64)>,
    stacks: u32,
}

impl ThreadRoots {
    pub(crate) fn new(max_stack: usize) -> Self {
        Self { by_thread: HashMap::new(), max_stack }
    }

    /// Completes the stack at the end of `frames` if its copy was too short, or learns from it. Returns how it ends then. Call
    /// it with all stacks of a thread in the order of time: the results are those of
    /// [`Unwinder::unwind`](super::Unwinder::unwind).
    pub fn complete(&mut self, stack: &PartialStack, frames: &mut Vec<UnwoundFrame>) -> UnwoundStack {
        self.complete_places(stack.unwound, stack.thread, &stack.places, frames)
    }

    pub(crate) fn complete_places(
        &mut self,
        stack: UnwoundStack,
        thread: u64,
        places: &[(u64, u64)],
        frames: &mut Vec<UnwoundFrame>,
    ) -> UnwoundStack {
        match stack.end {
            StackEnd::Rooted if !stack.spliced && !places.is_empty() => self.learn(thread, places),
            StackEnd::Truncated if !stack.spliced && self.push_outer(thread, places, frames) => {
                return UnwoundStack { end: StackEnd::Completed, spliced: true, ..stack };
            }
            _ => {}
        }
        stack
    }

    /// Takes a whole stack of a thread into account: address and stack pointer of each frame, innermost first.
    fn learn(&mut self, thread: u64, stack: &[(u64, u64)]) {
        if self.by_thread.len() >= MAX_THREADS && !self.by_thread.contains_key(&thread) {
            self.by_thread.clear();
        }
        let shared = self.by_thread.entry(thread).or_default();
        let outer_first = stack.iter().rev();
        let same =
            shared.frames.iter().zip(outer_first.clone()).take_while(|(left, right)| left == right).count();
        if same == 0 {
            // The first stack, or the first of a new program in the same thread.
            *shared = RootFrames { frames: outer_first.copied().collect(), stacks: 1 };
        } else {
            shared.frames.truncate(same);
            shared.stacks = shared.stacks.saturating_add(1);
        }
    }

    /// Appends the frames after the last one of a stack that is too short, if it is one of those that all stacks of the
    /// thread had. Returns whether it is, and all of them fit into the stack.
    fn push_outer(&self, thread: u64, stack: &[(u64, u64)], frames: &mut Vec<UnwoundFrame>) -> bool {
        let Some(shared) = self.by_thread.get(&thread).filter(|shared| shared.stacks >= ENOUGH) else {
            return false;
        };
        let Some(place) = stack.last().and_then(|last| shared.frames.iter().position(|it| it == last)) else {
            return false;
        };
        if stack.len().saturating_add(place) > self.max_stack {
            return false;
        }
        let outer = shared.frames.get(..place).unwrap_or_default();
        frames.extend(outer.iter().rev().map(|&(ip, _)| UnwoundFrame {
            ip,
            mode: CpuMode::USER,
            is_return: true,
            source: FrameSource::Earlier,
        }));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(outer: &ThreadRoots, stack: &[(u64, u64)]) -> Option<Vec<u64>> {
        let mut frames = Vec::new();
        outer.push_outer(1, stack, &mut frames).then(|| frames.iter().map(|frame| frame.ip).collect())
    }

    #[test]
    fn what_all_stacks_share() {
        let mut outer = ThreadRoots::new(10);
        let stack = |leaf| [(leaf, 0x10), (3, 0x20), (2, 0x30), (1, 0x40)];
        for count in 0..ENOUGH {
            // Too few.
            assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), None, "{count}");
            outer.learn(1, &stack(100 + u64::from(count)));
        }
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), Some(vec![1]));
        assert_eq!(completed(&outer, &[(9, 0), (3, 0x20)]), Some(vec![2, 1]));
        // The same function, called from elsewhere.
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x38)]), None);
        assert_eq!(completed(&outer, &[(100, 0x10)]), None);
        // Another thread.
        assert!(!outer.push_outer(2, &[(2, 0x30)], &mut Vec::new()));
        // It would have 11 frames.
        assert!(!outer.push_outer(1, &[[(7, 7); 9].as_slice(), &[(3, 0x20)]].concat(), &mut Vec::new()));

        outer.learn(1, &[(5, 0x20), (2, 0x30), (1, 0x40)]);
        assert_eq!(completed(&outer, &[(9, 0), (3, 0x20)]), None);
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), Some(vec![1]));
        // After an exec, nothing is the same.
        outer.learn(1, &[(50, 0x20), (51, 0x30)]);
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), None);
    }
}

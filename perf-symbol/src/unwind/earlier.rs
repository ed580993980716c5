//! The outermost frames of threads, which all their stacks share.

use hashbrown::HashMap;
use perf_abi::record::CpuMode;

use super::frame::{Frame, FrameSource};

/// Number of whole stacks of a thread that must have the same outermost frames.
const ENOUGH: u32 = 8;

/// The largest number of threads that are kept.
const MAX_THREADS: usize = 1 << 14;

/// The outermost frames that all whole stacks of a thread had so far: its start routine and its main loop, say. They run as
/// long as the thread, so that a stack that ends among them because the copy was too short goes on as the others did.
#[derive(Debug, Default)]
pub(crate) struct OuterFrames {
    by_thread: HashMap<u64, Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Address and stack pointer of each frame, outermost first.
    frames: Vec<(u64, u64)>,
    stacks: u32,
}

impl OuterFrames {
    /// Takes a whole stack of a thread into account: address and stack pointer of each frame, innermost first.
    pub(crate) fn learn(&mut self, thread: u64, stack: &[(u64, u64)]) {
        if self.by_thread.len() >= MAX_THREADS && !self.by_thread.contains_key(&thread) {
            self.by_thread.clear();
        }
        let shared = self.by_thread.entry(thread).or_default();
        let outer_first = stack.iter().rev();
        let same =
            shared.frames.iter().zip(outer_first.clone()).take_while(|(left, right)| left == right).count();
        if same == 0 {
            // The first stack, or the first of a new program in the same thread.
            *shared = Shared { frames: outer_first.copied().collect(), stacks: 1 };
        } else {
            shared.frames.truncate(same);
            shared.stacks = shared.stacks.saturating_add(1);
        }
    }

    /// Appends the frames after the last one of a stack that is too short, if it is one of those that all stacks of the
    /// thread had. Returns whether it is, and all of them fit into `max_stack` frames.
    pub(crate) fn complete(
        &self,
        thread: u64,
        stack: &[(u64, u64)],
        max_stack: usize,
        frames: &mut Vec<Frame>,
    ) -> bool {
        let Some(shared) = self.by_thread.get(&thread).filter(|shared| shared.stacks >= ENOUGH) else {
            return false;
        };
        let Some(place) = stack.last().and_then(|last| shared.frames.iter().position(|it| it == last)) else {
            return false;
        };
        if stack.len().saturating_add(place) > max_stack {
            return false;
        }
        let outer = shared.frames.get(..place).unwrap_or_default();
        frames.extend(outer.iter().rev().map(|&(ip, _)| Frame {
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

    fn completed(outer: &OuterFrames, stack: &[(u64, u64)]) -> Option<Vec<u64>> {
        let mut frames = Vec::new();
        outer.complete(1, stack, 10, &mut frames).then(|| frames.iter().map(|frame| frame.ip).collect())
    }

    #[test]
    fn what_all_stacks_share() {
        let mut outer = OuterFrames::default();
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
        assert!(!outer.complete(2, &[(2, 0x30)], 10, &mut Vec::new()));
        // It would have 11 frames.
        assert!(!outer.complete(1, &[[(7, 7); 9].as_slice(), &[(3, 0x20)]].concat(), 10, &mut Vec::new()));

        outer.learn(1, &[(5, 0x20), (2, 0x30), (1, 0x40)]);
        assert_eq!(completed(&outer, &[(9, 0), (3, 0x20)]), None);
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), Some(vec![1]));
        // After an exec, nothing is the same.
        outer.learn(1, &[(50, 0x20), (51, 0x30)]);
        assert_eq!(completed(&outer, &[(9, 0), (2, 0x30)]), None);
    }
}

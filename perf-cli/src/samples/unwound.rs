//! Stacks that several threads unwind, and that those before complete.

use core::ops::Range;

use perf_session::At;
use perf_symbol::unwind::{self, Alone, Earlier, StackEnd};

use crate::names::Names;

/// The stacks of the samples of a block that are unwound from copies, in their order.
///
/// A thread adds all of them, and then completes them in the turn of the block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwound {
    frames: Vec<unwind::Frame>,
    /// What was unwound of each stack, and its place in the frames. `None` if it is no stack to unwind.
    stacks: Vec<(Option<Alone>, Range<usize>)>,
    /// The frames that complete stacks.
    outer: Vec<unwind::Frame>,
    /// How each stack ends, and the place of what completes it.
    ends: Vec<Option<(StackEnd, Range<usize>)>>,
}

impl Unwound {
    /// Removes the stacks.
    pub(crate) fn clear(&mut self) {
        let Self { frames, stacks, outer, ends } = self;
        frames.clear();
        stacks.clear();
        outer.clear();
        ends.clear();
    }

    /// Unwinds the stack of a sample alone, and adds it.
    pub(crate) fn push(&mut self, at: Option<&At<'_, '_>>, user: Option<&[u64]>, names: &mut Names) {
        let start = self.frames.len();
        let alone = at.and_then(|at| names.push_alone(at, user, &mut self.frames));
        self.stacks.push((alone, start..self.frames.len()));
    }

    /// Completes the stacks by what the earlier ones of their threads have in common.
    pub(crate) fn complete(&mut self, earlier: &mut Earlier) {
        let Self { stacks, outer, ends, .. } = self;
        ends.extend(stacks.iter().map(|(alone, _)| {
            let start = outer.len();
            let end = earlier.complete(alone.as_ref()?, outer).end;
            Some((end, start..outer.len()))
        }));
    }

    /// Returns the frames of a stack and how it ends; `None` if it is no stack to unwind.
    pub(crate) fn stack(
        &self,
        number: usize,
    ) -> Option<(impl Iterator<Item = unwind::Frame> + use<'_>, StackEnd)> {
        let (end, outer) = self.ends.get(number)?.clone()?;
        let (_, frames) = self.stacks.get(number)?;
        let frames = self.frames.get(frames.clone())?.iter().chain(self.outer.get(outer)?);
        Some((frames.copied(), end))
    }
}

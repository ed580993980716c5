//! The stacks of a batch that are unwound from copies.

use core::ops::Range;

use perf_session::SampleContext;
use perf_symbol::unwind::{self, PartialStack, StackEnd, ThreadRoots};

use crate::symbols::Symbols;

/// The stacks of a batch that are unwound from copies, in the order of the samples.
#[derive(Clone, Debug, Default)]
pub(super) struct UnwoundStacks {
    frames: Vec<unwind::UnwoundFrame>,
    /// What was unwound of each stack, and its place in the frames. `None` if it is no stack to unwind.
    stacks: Vec<(Option<PartialStack>, Range<usize>)>,
    /// The frames that complete stacks.
    outer: Vec<unwind::UnwoundFrame>,
    /// How each stack ends, and the place of what completes it.
    ends: Vec<Option<(StackEnd, Range<usize>)>>,
}

/// The frames of a stack, the outer ones that complete it, and how it ends.
pub(super) type UnwoundStack<'u> = (&'u [unwind::UnwoundFrame], &'u [unwind::UnwoundFrame], StackEnd);

impl UnwoundStacks {
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.stacks.clear();
        self.outer.clear();
        self.ends.clear();
    }

    /// Unwinds a stack alone.
    pub(super) fn push(
        &mut self,
        at: Option<&SampleContext<'_, '_>>,
        deferred: Option<&[u64]>,
        symbols: &mut Symbols,
    ) {
        let start = self.frames.len();
        let alone = at.and_then(|at| symbols.push_alone(at, deferred, &mut self.frames));
        self.stacks.push((alone, start..self.frames.len()));
    }

    /// Completes the stacks by what the earlier ones of their threads have in common.
    pub(super) fn complete(&mut self, earlier: &mut ThreadRoots) {
        let Self { stacks, outer, ends, .. } = self;
        ends.extend(stacks.iter().map(|(alone, _)| {
            let start = outer.len();
            let end = earlier.complete(alone.as_ref()?, outer).end;
            Some((end, start..outer.len()))
        }));
    }

    /// Returns a stack; `None` if it is no stack to unwind.
    pub(super) fn stack(&self, number: usize) -> Option<UnwoundStack<'_>> {
        let (end, outer) = self.ends.get(number)?.clone()?;
        let (_, frames) = self.stacks.get(number)?;
        Some((self.frames.get(frames.clone())?, self.outer.get(outer)?, end))
    }
}

//! The addresses and stacks of all samples, and how the stacks end.

mod part;

use hashbrown::HashMap;
use std::collections::BTreeMap;

use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_session::At;
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use crate::frames::Frames;
use crate::known_stacks::KnownStacks;
use crate::limits::Limits;
use crate::stacks::Stacks;
use part::Taken;
pub use part::{NewStacks, PartFrame, PartStack, StackPart};

/// Returns whether the samples of an event have stacks: call chains, or copies of the user stack with registers.
#[must_use]
pub fn has_stacks(event: &Event) -> bool {
    event.attr.sample_type.contains(SampleType::CALLCHAIN) || has_copies(event)
}

/// Returns whether the samples of an event have copies of the user stack, with the registers to unwind them.
#[must_use]
pub fn has_copies(event: &Event) -> bool {
    event.attr.sample_type.contains(SampleType::REGS_USER | SampleType::STACK_USER)
}

/// The addresses and stacks of all samples, each once, and how the stacks end.
#[derive(Debug, Default)]
pub struct StackTable {
    /// The addresses.
    pub frames: Frames,
    /// The stacks of them.
    pub stacks: Stacks,
    ends: BTreeMap<StackEnd, u64>,
    /// How call chains with a last frame end.
    known_ends: HashMap<u32, StackEnd>,
    scratch: Vec<u32>,
    known: KnownStacks,
    /// What is known of the parts of other threads, by their numbers.
    parts: Vec<Taken>,
}

/// Returns whether the last frame of a stack tells how it ends: of a call chain, for which no end is given. A long chain may be
/// cut, whatever its last frame is.
fn is_end_of_last(stack: &[StackFrame<'_>], given: Option<StackEnd>, finder: &perf_symbol::Stacks) -> bool {
    given.is_none() && !stack.is_empty() && stack.len() < finder.max_chain()
}

impl StackTable {
    /// Returns the number of a stack and how it ends, and counts the end. `None` if there is no room for it.
    ///
    /// `stack` and `end` are what [`perf_symbol::Stacks::push`] gave; `finder` finds the end of a call chain. No more than
    /// the innermost `max_stack` frames are kept.
    #[allow(clippy::too_many_arguments, reason = "a stack, what finds its parts, and two limits")]
    pub fn number(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::Stacks,
        symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limits: &Limits,
    ) -> Option<(u32, StackEnd)> {
        // The tree has not all frames of a stack that is cut.
        let hash = if stack.len() <= max_stack { self.known.hash(stack) } else { None };
        let Self { known, frames, stacks, .. } = self;
        let find = |hash| known.find(hash, stack, end, frames, |number| stacks.frames(number));
        if let Some((number, end)) = hash.and_then(find) {
            *self.ends.entry(end).or_default() += 1;
            return Some((number, end));
        }
        let (number, found_end) = self.number_new(at, stack, end, finder, symbolizer, max_stack, limits)?;
        if let Some(hash) = hash {
            self.known.add(hash, number, end, found_end);
        }
        Some((number, found_end))
    }

    /// Like [`number`](Self::number), of a stack that the caller does not know yet.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    pub(crate) fn number_new(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::Stacks,
        symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limits: &Limits,
    ) -> Option<(u32, StackEnd)> {
        let is_of_last = is_end_of_last(stack, end, finder);
        let last = self.push_frames(at, stack, symbolizer, max_stack, is_of_last, limits.frames)?;
        let end = self.end_of(at, stack, end, last, finder);
        *self.ends.entry(end).or_default() += 1;
        let number = self.stacks.number(self.scratch.iter().rev().copied(), limits.stack_nodes)?;
        Some((number, end))
    }

    /// Numbers the frames of a stack that are kept: their numbers are in `scratch` then. Returns the number of the last frame
    /// of all, kept or not, if `needs_last`. The outer `None`: there is no room for them.
    fn push_frames(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        mut symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        needs_last: bool,
        limit: usize,
    ) -> Option<Option<u32>> {
        let Self { frames, scratch, .. } = self;
        scratch.clear();
        for it in stack.iter().take(max_stack) {
            scratch.push(frames.number(at, it, symbolizer.as_deref_mut(), limit)?);
        }
        match stack.last().filter(|_| needs_last) {
            Some(last) if stack.len() > max_stack => frames.number(at, last, symbolizer, limit).map(Some),
            last => Some(last.and(scratch.last().copied())),
        }
    }

    /// Returns how a stack ends. `last` is the last frame of a call chain that [ends as it](is_end_of_last) does.
    fn end_of(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        given: Option<StackEnd>,
        last: Option<u32>,
        finder: &mut perf_symbol::Stacks,
    ) -> StackEnd {
        match (given, last) {
            (Some(end), _) => end,
            (None, Some(last)) => *self.known_ends.entry(last).or_insert_with(|| finder.end_of(at, stack)),
            (None, None) => finder.end_of(at, stack),
        }
    }

    /// Counts the ends of stacks whose number is known.
    #[cfg(feature = "arrow")]
    pub(crate) fn count(&mut self, end: StackEnd, stacks: u64) {
        *self.ends.entry(end).or_default() += stacks;
    }

    /// Returns the number of stacks by their ends.
    #[must_use]
    pub fn ends(&self) -> &BTreeMap<StackEnd, u64> {
        &self.ends
    }

    /// Drops what only [`number`](Self::number) needs.
    pub fn finish(&mut self) {
        self.known_ends = HashMap::default();
        self.known = KnownStacks::default();
        self.scratch = Vec::new();
        self.parts = Vec::new();
        self.frames.finish();
        self.stacks.finish();
    }
}

//! The addresses and stacks of all samples, and how the stacks end.

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

/// Returns whether the samples of an event have stacks: call chains, or copies of the user stack with registers.
#[must_use]
pub fn has_stacks(event: &Event) -> bool {
    let of_copy = SampleType::REGS_USER | SampleType::STACK_USER;
    let kind = event.attr.sample_type;
    kind.contains(SampleType::CALLCHAIN) || kind.contains(of_copy)
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
        let Self { frames, stacks, known, .. } = self;
        if let Some((number, end)) = hash.and_then(|hash| known.find(hash, stack, end, frames, stacks)) {
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
        mut symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limits: &Limits,
    ) -> Option<(u32, StackEnd)> {
        self.scratch.clear();
        for it in stack {
            let number = self.frames.number(at, it, symbolizer.as_deref_mut(), limits.frames)?;
            self.scratch.push(number);
        }
        let end = match (end, self.scratch.last()) {
            (Some(end), _) => end,
            // A long chain may be cut, whatever its last frame is.
            (None, Some(&last)) if stack.len() < finder.max_chain() => {
                *self.known_ends.entry(last).or_insert_with(|| finder.end_of(at, stack))
            }
            (None, _) => finder.end_of(at, stack),
        };
        *self.ends.entry(end).or_default() += 1;
        self.scratch.truncate(max_stack);
        let number = self.stacks.number(self.scratch.iter().rev().copied(), limits.stack_nodes)?;
        Some((number, end))
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
        self.frames.finish();
        self.stacks.finish();
    }
}

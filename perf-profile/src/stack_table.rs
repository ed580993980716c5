//! The addresses and stacks of all samples, and how the stacks end.

mod part;

use std::collections::BTreeMap;

use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_session::{SampleContext, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use crate::function_table::{FunctionTable, NamingOptions};
use crate::limits::Limits;
use crate::pending_end::PendingEnd;
use crate::table::frames::FrameTable;
use crate::table::stack_cache::StackCache;
use crate::table::stacks::StackTree;
use crate::work::both::both;
use part::PartNumbers;
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
    pub frames: FrameTable,
    /// The stacks of them.
    pub stacks: StackTree,
    ends: BTreeMap<StackEnd, u64>,
    /// The number of call chains that end as their last frame tells, by the number of that frame.
    of_last: Vec<u64>,
    scratch: Vec<u32>,
    known: StackCache,
    /// What is known of the parts of other threads, by their numbers.
    parts: Vec<PartNumbers>,
}

impl StackTable {
    /// Returns the number of a stack, and counts how it ends. `None` if there is no room for it.
    ///
    /// `stack` and `end` are what [`perf_symbol::StackFinder::push`] gave. No more than the innermost `max_stack` frames are kept.
    pub fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limits: &Limits,
    ) -> Option<u32> {
        // The tree has not all frames of a stack that is cut.
        let hash = if stack.len() <= max_stack { self.known.hash(stack) } else { None };
        let Self { known, frames, stacks, .. } = self;
        let find = |hash| known.find(hash, stack, end, frames, |number| stacks.frames(number));
        if let Some((number, end)) = hash.and_then(find) {
            self.count(end);
            return Some(number);
        }
        let (number, found_end) = self.number_new(at, stack, end, symbolizer, max_stack, limits)?;
        self.count(found_end);
        if let Some(hash) = hash {
            self.known.add(hash, number, end, found_end);
        }
        Some(number)
    }

    /// Returns the number of a stack that the caller does not know yet, and how it ends, which is not counted. The rest is as
    /// for [`number`](Self::number).
    pub fn number_new(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limits: &Limits,
    ) -> Option<(u32, PendingEnd)> {
        let end = self.push_frames(at, stack, end, symbolizer, max_stack, limits.frames)?;
        let number = self.stacks.number(self.scratch.iter().rev().copied(), limits.stack_nodes)?;
        Some((number, end))
    }

    /// Numbers the frames of a stack that are kept: their numbers are in `scratch` then. Returns how the stack ends; `None` if
    /// there is no room for the frames.
    fn push_frames(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        given: Option<StackEnd>,
        mut symbolizer: Option<&mut Symbolizer>,
        max_stack: usize,
        limit: usize,
    ) -> Option<PendingEnd> {
        let Self { frames, scratch, .. } = self;
        scratch.clear();
        for it in stack.iter().take(max_stack) {
            scratch.push(frames.number(at, it, symbolizer.as_deref_mut(), limit)?);
        }
        Some(match (given, stack.last()) {
            (Some(end), _) => PendingEnd::Known(end),
            (None, None) => PendingEnd::Known(StackEnd::Truncated),
            // The last frame of all, kept or not.
            (None, Some(last)) => PendingEnd::OfLast(match scratch.last() {
                Some(&number) if stack.len() <= max_stack => number,
                _ => frames.number(at, last, symbolizer, limit)?,
            }),
        })
    }

    /// Counts how a stack ends.
    fn count(&mut self, end: PendingEnd) {
        match end {
            PendingEnd::Known(end) => *self.ends.entry(end).or_default() += 1,
            PendingEnd::OfLast(last) => {
                if self.of_last.len() <= last as usize {
                    self.of_last.resize(self.frames.locations().len(), 0);
                }
                if let Some(count) = self.of_last.get_mut(last as usize) {
                    *count += 1;
                }
            }
        }
    }

    /// Returns the number of stacks by their ends. `session` is that of the walk, after the last record, and `finder` finds how
    /// call chains end.
    ///
    /// Looks up each last frame of a call chain once.
    #[must_use]
    pub fn ends(&self, session: &Session, finder: &mut perf_symbol::StackFinder) -> BTreeMap<StackEnd, u64> {
        let mut ends = self.ends.clone();
        for (last, &stacks) in (0..).zip(&self.of_last) {
            if stacks > 0 {
                *ends.entry(self.end_of(last, session, finder)).or_default() += stacks;
            }
        }
        ends
    }

    /// Returns how call chains with this last frame end.
    pub fn end_of(&self, last: u32, session: &Session, finder: &mut perf_symbol::StackFinder) -> StackEnd {
        let frame = self.frames.frame(last);
        frame.map_or(StackEnd::NoMapping, |(frame, _)| finder.end_of(session, &frame))
    }

    /// Finds the functions of all frames, as [`FunctionTable::find`] does, and [how the stacks end](Self::ends), at the same
    /// time if there are several threads.
    #[must_use]
    pub fn look_up(
        &self,
        session: &Session,
        finder: &mut perf_symbol::StackFinder,
        symbolizer: Option<&Symbolizer>,
        naming: NamingOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) -> (FunctionTable, BTreeMap<StackEnd, u64>) {
        both(
            naming.threads,
            || FunctionTable::find(&self.frames, session, symbolizer, naming, progress),
            || self.ends(session, finder),
        )
    }

    /// Drops what only [`number`](Self::number) needs.
    pub fn finish(&mut self) {
        self.known = StackCache::default();
        self.scratch = Vec::new();
        self.parts = Vec::new();
        self.frames.finish();
        self.stacks.finish();
    }
}

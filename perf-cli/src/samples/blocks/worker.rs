//! The work of a thread on a block: it finds the stacks of the samples, and numbers them.

use core::ops::Range;

use perf_profile::symbols::recorded_frame;
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::work::turns::Turns;
use perf_profile::{PartStack, StackPart, Symbols};
use perf_session::At;
use perf_symbol::StackFrame;
use perf_symbol::unwind::{self, PartialStack, StackEnd, ThreadRoots};

use super::{Block, Entry, Found, Item, Stack, Wanted};

/// What a thread works on blocks with. A copy is for another thread: it has its own names, and an empty part.
#[derive(Clone, Debug)]
pub(in crate::samples) struct Worker<'a> {
    names: Symbols,
    part: StackPart,
    traces: Option<TracepointTexts<'a>>,
    /// The stacks of a block that are unwound from copies.
    unwound: Unwound,
}

impl<'a> Worker<'a> {
    pub(in crate::samples) fn new(
        names: Symbols,
        part: StackPart,
        traces: Option<TracepointTexts<'a>>,
    ) -> Self {
        Self { names, part, traces, unwound: Unwound::default() }
    }

    /// Finds what is wanted of the samples of a block. `earlier` is given if stacks are unwound from copies.
    pub(in crate::samples) fn work<T>(
        &mut self,
        block: &mut Block<'_, T>,
        earlier: Option<&Turns<ThreadRoots>>,
    ) {
        if let Some(earlier) = earlier {
            let turn = earlier.of(block.number);
            self.unwound.unwind(block, &mut self.names);
            turn.take(|earlier| self.unwound.complete(earlier));
        }
        let Some(mut session) = block.session.take() else { return };
        let mut unwound = 0..;
        for Entry { record, user, items } in &block.entries {
            // The walk has applied it without an error.
            let at = session.update_at(record).ok().flatten();
            for Item { wanted, is_unwound, .. } in block.items.get(items.clone()).unwrap_or_default() {
                let unwound = if *is_unwound { unwound.next() } else { None };
                let found = at.as_ref().map(|at| self.find(at, wanted, user.as_deref(), unwound));
                block.found.push(found.unwrap_or_default());
            }
        }
        block.new = Some(self.part.take_new());
    }

    /// Finds what is wanted of a sample. `unwound` is the number of its stack if that is unwound.
    fn find(
        &mut self,
        at: &At<'_, '_>,
        wanted: &Wanted,
        user: Option<&[u64]>,
        unwound: Option<usize>,
    ) -> Found {
        let needs_own = wanted.frame || matches!(wanted.stack, Stack::Own);
        let own = needs_own.then(|| recorded_frame(self.names.own_frame(at)));
        let of_sample = own.as_ref().filter(|_| wanted.frame);
        let frame = of_sample.map(|own| self.part.frame(at, own, self.names.symbolizer_mut()));
        let stack = match wanted.stack {
            Stack::None => None,
            Stack::Empty => Some(self.number(at, &[], Some(StackEnd::Truncated))),
            Stack::Own => own.map(|own| self.number(at, &[own], None)),
            Stack::Recorded => {
                let found = match unwound.and_then(|number| self.unwound.stack(number)) {
                    Some((frames, end)) => Some((self.names.mapped(at, frames), Some(end))),
                    // The walk has decoded it without an error.
                    None => self.names.stack(at, user).ok(),
                };
                found.map(|(stack, end)| {
                    let numbered = self.number(at, &stack, end);
                    self.names.done(stack);
                    numbered
                })
            }
        };
        let text = self.traces.as_mut().zip(wanted.trace).and_then(|(traces, format)| {
            let raw = at.sample().tail().ok()?.raw?;
            let mut text = Vec::new();
            traces.push(&mut text, format, raw, at, &mut self.names);
            Some(text)
        });
        Found { frame, stack, text }
    }

    /// Numbers a stack.
    fn number(&mut self, at: &At<'_, '_>, stack: &[StackFrame<'_>], end: Option<StackEnd>) -> PartStack {
        self.part.stack(at, stack, end, self.names.symbolizer_mut())
    }
}

/// The stacks of a block that are unwound from copies, in the order of the samples.
#[derive(Clone, Debug, Default)]
struct Unwound {
    frames: Vec<unwind::UnwoundFrame>,
    /// What was unwound of each stack, and its place in the frames. `None` if it is no stack to unwind.
    stacks: Vec<(Option<PartialStack>, Range<usize>)>,
    /// The frames that complete stacks.
    outer: Vec<unwind::UnwoundFrame>,
    /// How each stack ends, and the place of what completes it.
    ends: Vec<Option<(StackEnd, Range<usize>)>>,
}

impl Unwound {
    /// Unwinds the stacks of a block, each alone.
    fn unwind<T>(&mut self, block: &Block<'_, T>, names: &mut Symbols) {
        let Self { frames, stacks, .. } = self;
        frames.clear();
        stacks.clear();
        let has_any = block.items.iter().any(|item| item.is_unwound);
        let Some(mut session) = block.session.as_ref().filter(|_| has_any).cloned() else { return };
        for Entry { record, user, items } in &block.entries {
            let at = session.update_at(record).ok().flatten();
            for item in block.items.get(items.clone()).unwrap_or_default() {
                if item.is_unwound {
                    let start = frames.len();
                    let alone = at.as_ref().and_then(|at| names.push_alone(at, user.as_deref(), frames));
                    stacks.push((alone, start..frames.len()));
                }
            }
        }
    }

    /// Completes the stacks by what the earlier ones of their threads have in common.
    fn complete(&mut self, earlier: &mut ThreadRoots) {
        let Self { stacks, outer, ends, .. } = self;
        outer.clear();
        ends.clear();
        ends.extend(stacks.iter().map(|(alone, _)| {
            let start = outer.len();
            let end = earlier.complete(alone.as_ref()?, outer).end;
            Some((end, start..outer.len()))
        }));
    }

    /// Returns the frames of a stack and how it ends; `None` if it is no stack to unwind.
    fn stack(
        &self,
        number: usize,
    ) -> Option<(impl Iterator<Item = unwind::UnwoundFrame> + use<'_>, StackEnd)> {
        let (end, outer) = self.ends.get(number)?.clone()?;
        let (_, frames) = self.stacks.get(number)?;
        let frames = self.frames.get(frames.clone())?.iter().chain(self.outer.get(outer)?);
        Some((frames.copied(), end))
    }
}

//! Frames and stacks that several threads number, and the one table that has them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_session::{At, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use super::{StackTable, is_end_of_last};
use crate::frames::{Counts, FramesPart, NONE, NewFrames};
use crate::limits::Limits;
use crate::lists::Lists;

/// The frames and stacks of the samples that one thread of several works on.
///
/// Each thread numbers them in its own part. The [`StackTable`] of all then [takes over](StackTable::take_over) what is new,
/// and translates the numbers, in the order of the samples. So all numbers are those that one thread would give, at
/// the cost of a look-up for each sample and of one for each frame and stack that is new in a part.
///
/// A clone is an empty part for another thread.
#[derive(Debug)]
pub struct StackPart {
    number: u32,
    /// The number of parts.
    parts: Arc<AtomicU32>,
    max_stack: usize,
    limits: Limits,
    /// The frames, and what is known of stacks. They are not a tree: a stack that is new here may be known to others.
    table: StackTable,
    /// The numbers of the frames of each stack, innermost first.
    lists: Lists,
    /// How much of the frames, and how many stacks, the table of all has.
    taken: Counts,
    taken_lists: usize,
    /// Whether the part was emptied since the table took something over.
    is_emptied: bool,
}

/// A frame of a [part](StackPart), for [`StackTable::frame_of_part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartFrame(u32);

/// A stack of a [part](StackPart), for [`StackTable::stack_of_part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartStack {
    stack: u32,
    end: PartEnd,
}

/// How a stack ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartEnd {
    Known(StackEnd),
    /// As all call chains with this last frame do. `is_whole` is whether the stack has all frames.
    OfLast {
        last: u32,
        end: StackEnd,
        is_whole: bool,
    },
    /// As the same stack before.
    Again(StackEnd),
}

/// What is new in a [part](StackPart), for [`StackTable::take_over`].
#[derive(Debug)]
pub struct NewStacks {
    part: u32,
    /// Whether the numbers of the part begin anew.
    is_emptied: bool,
    frames: NewFrames,
    lists: Lists,
}

/// What a table knows of a part.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    frames: FramesPart,
    lists: Lists,
    /// By the number of the stack in the part.
    stacks: Vec<TakenStack>,
}

#[derive(Clone, Copy, Debug)]
struct TakenStack {
    /// The number in the table; [`NONE`] until a sample has the stack, and if there is no room for it.
    number: u32,
    /// How the stack ends as a call chain, if a sample told.
    end: Option<StackEnd>,
}

impl Clone for StackPart {
    fn clone(&self) -> Self {
        let number = self.parts.fetch_add(1, Ordering::Relaxed);
        Self::empty(number, Arc::clone(&self.parts), self.max_stack, self.limits)
    }
}

impl StackPart {
    /// Makes the first part, which is empty. All others are its clones. No more than the innermost `max_stack` frames of a
    /// stack are kept. A part with more frames and stacks than `limits` has is emptied when the table took them over.
    #[must_use]
    pub fn new(max_stack: usize, limits: Limits) -> Self {
        Self::empty(0, Arc::new(AtomicU32::new(1)), max_stack, limits)
    }

    fn empty(number: u32, parts: Arc<AtomicU32>, max_stack: usize, limits: Limits) -> Self {
        let (table, lists, taken) = (StackTable::default(), Lists::default(), Counts::default());
        Self { number, parts, max_stack, limits, table, lists, taken, taken_lists: 0, is_emptied: false }
    }

    /// Returns a frame, as [`Frames::number`](crate::Frames::number) does.
    pub fn frame(
        &mut self,
        at: &At<'_, '_>,
        it: &StackFrame<'_>,
        symbolizer: Option<&mut Symbolizer>,
    ) -> PartFrame {
        PartFrame(self.table.frames.number(at, it, symbolizer, NONE as usize).unwrap_or(NONE))
    }

    /// Returns a stack and how it ends, as [`StackTable::number`] does.
    pub fn stack(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        given: Option<StackEnd>,
        finder: &mut perf_symbol::Stacks,
        symbolizer: Option<&mut Symbolizer>,
    ) -> PartStack {
        let Self { table, lists, max_stack, .. } = self;
        let is_whole = stack.len() <= *max_stack;
        let is_of_last = is_end_of_last(stack, given, finder);
        let hash = if is_whole { table.known.hash(stack) } else { None };
        let numbers_of = |number| lists.get(number).iter().copied();
        let StackTable { known, frames, .. } = table;
        if let Some((stack, end)) = hash.and_then(|hash| known.find(hash, stack, given, frames, numbers_of)) {
            let end = if is_of_last { PartEnd::Again(end) } else { PartEnd::Known(end) };
            return PartStack { stack, end };
        }
        // There is room: the table of all takes the frames over long before their numbers come to an end.
        let last = table.push_frames(at, stack, symbolizer, *max_stack, is_of_last, NONE as usize).flatten();
        let end = table.end_of(at, stack, given, last, finder);
        let number = lists.push(table.scratch.iter().copied());
        if let Some(hash) = hash {
            table.known.add(hash, number, given, end);
        }
        let end = match last {
            Some(last) => PartEnd::OfLast { last, end, is_whole },
            None => PartEnd::Known(end),
        };
        PartStack { stack: number, end }
    }

    /// Returns what is new since the last call. The table of all has to take it over before it gets any of these frames and
    /// stacks, and what is new in one part in the order of these calls.
    pub fn take_new(&mut self) -> NewStacks {
        let frames = self.table.frames.take_new(&mut self.taken);
        let lists = self.lists.since(self.taken_lists);
        self.taken_lists = self.lists.len();
        let new = NewStacks { part: self.number, is_emptied: self.is_emptied, frames, lists };
        let (frames, of_stacks) =
            (self.table.frames.places().len(), self.lists.values().max(self.lists.len()));
        self.is_emptied = frames > self.limits.frames || of_stacks > self.limits.stack_nodes;
        if self.is_emptied {
            (self.table, self.lists) = (StackTable::default(), Lists::default());
            (self.taken, self.taken_lists) = (Counts::default(), 0);
        }
        new
    }
}

impl StackTable {
    /// Takes over what is new in a part, and returns the number of the part. `session` is that of a walk that is as far as
    /// the part or further.
    pub fn take_over(&mut self, new: NewStacks, session: &Session, limits: &Limits) -> u32 {
        let NewStacks { part, is_emptied, frames, lists } = new;
        let place = part as usize;
        if self.parts.len() <= place {
            self.parts.resize_with(place + 1, Taken::default);
        }
        let Some(taken) = self.parts.get_mut(place) else { return part };
        if is_emptied {
            *taken = Taken::default();
        }
        self.frames.take_over(&mut taken.frames, frames, session, limits.frames);
        for stack in 0..lists.len() {
            taken.lists.push(lists.get(stack as u32).iter().copied());
            taken.stacks.push(TakenStack { number: NONE, end: None });
        }
        part
    }

    /// Returns the number of a frame of a part; `None` if there was no room for it.
    #[must_use]
    pub fn frame_of_part(&self, part: u32, frame: PartFrame) -> Option<u32> {
        self.parts.get(part as usize)?.frames.number(frame.0)
    }

    /// Returns the number of a stack of a part and how it ends, and counts the end. `None` if there is no room for it.
    pub fn stack_of_part(&mut self, part: u32, it: PartStack, limits: &Limits) -> Option<(u32, StackEnd)> {
        let Self { parts, stacks, ends, known_ends, .. } = self;
        let Taken { frames, lists, stacks: of_part } = parts.get_mut(part as usize)?;
        let list = lists.get(it.stack);
        let taken = of_part.get_mut(it.stack as usize)?;
        // A stack with a frame that there is no room for adds nothing.
        if taken.number == NONE
            && frames.has_gaps()
            && list.iter().any(|&frame| frames.number(frame).is_none())
        {
            return None;
        }
        let end = match it.end {
            PartEnd::Known(end) => end,
            PartEnd::OfLast { last, end, is_whole } => {
                let end = *known_ends.entry(frames.number(last)?).or_insert(end);
                taken.end = taken.end.or(Some(end).filter(|_| is_whole));
                end
            }
            PartEnd::Again(end) => taken.end.unwrap_or(end),
        };
        *ends.entry(end).or_default() += 1;
        if taken.number == NONE {
            let numbers = list.iter().rev().filter_map(|&frame| frames.number(frame));
            taken.number = stacks.number(numbers, limits.stack_nodes)?;
        }
        Some((taken.number, end))
    }
}

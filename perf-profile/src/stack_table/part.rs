//! Frames and stacks that several threads number, and the one table that has them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_session::{SampleContext, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use super::StackTable;
use crate::limits::Limits;
use crate::pending_end::PendingEnd;
use crate::table::frames::{Counts, FramesPart, NONE, NewFrames};
use crate::table::number_lists::NumberLists;

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
    lists: NumberLists,
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
    /// With the number that the last frame has in the part.
    end: PendingEnd,
}

/// What is new in a [part](StackPart), for [`StackTable::take_over`].
#[derive(Debug)]
pub struct NewStacks {
    part: u32,
    /// Whether the numbers of the part begin anew.
    is_emptied: bool,
    frames: NewFrames,
    lists: NumberLists,
}

/// What a table knows of a part.
#[derive(Debug, Default)]
pub(crate) struct PartNumbers {
    frames: FramesPart,
    lists: NumberLists,
    /// The numbers in the table, by those in the part; [`NONE`] until a sample has the stack, and if there is no room for it.
    stacks: Vec<u32>,
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
        let (table, lists, taken) = (StackTable::default(), NumberLists::default(), Counts::default());
        Self { number, parts, max_stack, limits, table, lists, taken, taken_lists: 0, is_emptied: false }
    }

    /// Returns a frame, as [`FrameTable::number`](crate::FrameTable::number) does.
    pub fn frame(
        &mut self,
        at: &SampleContext<'_, '_>,
        it: &StackFrame<'_>,
        symbolizer: Option<&mut Symbolizer>,
    ) -> PartFrame {
        PartFrame(self.table.frames.number(at, it, symbolizer, NONE as usize).unwrap_or(NONE))
    }

    /// Returns a stack, as [`StackTable::number`] does.
    pub fn stack(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        given: Option<StackEnd>,
        symbolizer: Option<&mut Symbolizer>,
    ) -> PartStack {
        let Self { table, lists, max_stack, .. } = self;
        let hash = if stack.len() <= *max_stack { table.known.hash(stack) } else { None };
        let numbers_of = |number| lists.get(number).iter().copied();
        let StackTable { known, frames, .. } = table;
        if let Some((stack, end)) = hash.and_then(|hash| known.find(hash, stack, given, frames, numbers_of)) {
            return PartStack { stack, end };
        }
        // There is room: the table of all takes the frames over long before their numbers come to an end.
        let end = table.push_frames(at, stack, given, symbolizer, *max_stack, NONE as usize);
        let end = end.unwrap_or(PendingEnd::OfLast(NONE));
        let number = lists.push(table.scratch.iter().copied());
        if let Some(hash) = hash {
            table.known.add(hash, number, given, end);
        }
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
            (self.table.frames.locations().len(), self.lists.values().max(self.lists.len()));
        self.is_emptied = frames > self.limits.frames || of_stacks > self.limits.stack_nodes;
        if self.is_emptied {
            (self.table, self.lists) = (StackTable::default(), NumberLists::default());
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
            self.parts.resize_with(place + 1, PartNumbers::default);
        }
        let Some(taken) = self.parts.get_mut(place) else { return part };
        if is_emptied {
            *taken = PartNumbers::default();
        }
        self.frames.take_over(&mut taken.frames, frames, session, limits.frames);
        for stack in 0..lists.len() {
            taken.lists.push(lists.get(stack as u32).iter().copied());
            taken.stacks.push(NONE);
        }
        part
    }

    /// Returns the number of a frame of a part; `None` if there was no room for it.
    #[must_use]
    pub fn frame_of_part(&self, part: u32, frame: PartFrame) -> Option<u32> {
        self.parts.get(part as usize)?.frames.number(frame.0)
    }

    /// Returns the number of a stack of a part, and counts how it ends. `None` if there is no room for it.
    pub fn stack_of_part(&mut self, part: u32, it: PartStack, limits: &Limits) -> Option<u32> {
        let Self { parts, stacks, .. } = self;
        let PartNumbers { frames, lists, stacks: of_part } = parts.get_mut(part as usize)?;
        let list = lists.get(it.stack);
        let number = of_part.get_mut(it.stack as usize)?;
        // A stack with a frame that there is no room for adds nothing.
        if *number == NONE && frames.has_gaps() && list.iter().any(|&frame| frames.number(frame).is_none()) {
            return None;
        }
        let end = match it.end {
            PendingEnd::Known(end) => PendingEnd::Known(end),
            PendingEnd::OfLast(last) => PendingEnd::OfLast(frames.number(last)?),
        };
        if *number == NONE {
            let numbers = list.iter().rev().filter_map(|&frame| frames.number(frame));
            *number = stacks.number(numbers, limits.stack_nodes)?;
        }
        let number = *number;
        self.count(end);
        Some(number)
    }
}

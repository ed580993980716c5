//! Frames and stacks that several threads number, and the one table that has them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_session::{At, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use super::{StackTable, is_end_of_last};
use crate::frames::{Counts, FramesPart, NONE, NewFrames};
use crate::limits::Limits;
use crate::stacks::EMPTY;

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
    table: StackTable,
    /// How much of it the table of all has.
    taken: Counts,
    taken_nodes: usize,
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
    /// The caller and the frame of each stack.
    nodes: Vec<(u32, u32)>,
}

/// What a table knows of a part.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    frames: FramesPart,
    /// By the number of the stack in the part. The first one is empty.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    caller: u32,
    frame: u32,
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
        let (table, taken) = (StackTable::default(), Counts::default());
        Self { number, parts, max_stack, limits, table, taken, taken_nodes: 0, is_emptied: false }
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
        let is_whole = stack.len() <= self.max_stack;
        let is_of_last = given.is_none() && is_end_of_last(stack, finder);
        let hash = if is_whole { self.table.hash(stack) } else { None };
        if let Some((stack, end)) = hash.and_then(|hash| self.table.find(hash, stack, given)) {
            let end = if is_of_last { PartEnd::Again(end) } else { PartEnd::Known(end) };
            return PartStack { stack, end };
        }
        let (table, limit) = (&mut self.table, NONE as usize);
        // There is room: the table of all takes the frames over long before their numbers come to an end.
        let last = table.push_frames(at, stack, symbolizer, self.max_stack, is_of_last, limit).flatten();
        let last = last.filter(|_| is_of_last);
        let end = table.end_of(at, stack, given, last, finder);
        let number = table.number_pushed(limit).unwrap_or(EMPTY);
        if let Some(hash) = hash {
            table.remember(hash, number, given, end);
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
        let nodes = self.table.stacks.nodes_from(self.taken_nodes).to_vec();
        self.taken_nodes += nodes.len();
        let new = NewStacks { part: self.number, is_emptied: self.is_emptied, frames, nodes };
        let (frames, nodes) = (self.table.frames.places().len(), self.table.stacks.len());
        self.is_emptied = frames > self.limits.frames || nodes > self.limits.stack_nodes;
        if self.is_emptied {
            self.table = StackTable::default();
            (self.taken, self.taken_nodes) = (Counts::default(), 0);
        }
        new
    }
}

impl StackTable {
    /// Takes over what is new in a part, and returns the number of the part. `session` is that of a walk that is as far as
    /// the part or further.
    pub fn take_over(&mut self, new: NewStacks, session: &Session, limits: &Limits) -> u32 {
        let NewStacks { part, is_emptied, frames, nodes } = new;
        let place = part as usize;
        if self.parts.len() <= place {
            self.parts.resize_with(place + 1, Taken::default);
        }
        let Some(taken) = self.parts.get_mut(place) else { return part };
        if is_emptied {
            *taken = Taken::default();
        }
        self.frames.take_over(&mut taken.frames, frames, session, limits.frames);
        let of_part = |(caller, frame)| Node { caller, frame, number: NONE, end: None };
        taken.nodes.extend(nodes.into_iter().map(of_part));
        if let Some(empty) = taken.nodes.first_mut() {
            empty.number = EMPTY;
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
        let Self { parts, stacks, ends, known_ends, scratch, .. } = self;
        let taken = parts.get_mut(part as usize)?;
        // The part of the path that no sample had yet.
        scratch.clear();
        let mut caller = it.stack;
        let mut number = loop {
            let node = taken.nodes.get(caller as usize)?;
            if node.number != NONE {
                break node.number;
            }
            scratch.push(caller);
            caller = node.caller;
        };
        // A stack with a frame that there is no room for adds nothing.
        if taken.frames.has_gaps() {
            let mut frames = scratch.iter().filter_map(|&stack| Some(taken.nodes.get(stack as usize)?.frame));
            if !frames.all(|frame| taken.frames.number(frame).is_some()) {
                return None;
            }
        }
        let end = match it.end {
            PartEnd::Known(end) => end,
            PartEnd::OfLast { last, end, is_whole } => {
                let end = *known_ends.entry(taken.frames.number(last)?).or_insert(end);
                if let Some(node) = taken.nodes.get_mut(it.stack as usize).filter(|_| is_whole) {
                    node.end = Some(end);
                }
                end
            }
            PartEnd::Again(end) => taken.nodes.get(it.stack as usize)?.end.unwrap_or(end),
        };
        *ends.entry(end).or_default() += 1;
        while let Some(place) = scratch.pop() {
            let node = taken.nodes.get_mut(place as usize)?;
            number = stacks.called(number, taken.frames.number(node.frame)?, limits.stack_nodes)?;
            node.number = number;
        }
        Some((number, end))
    }
}

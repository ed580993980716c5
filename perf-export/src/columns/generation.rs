//! The stacks and frames since they were last written.
//!
//! Each is kept once, until there are so many that the memory for them is used up. Then they are written, and the next ones
//! get new numbers.

use std::ops::Range;

use hashbrown::HashMap;
use perf_profile::{
    EMPTY, FunctionAt, FunctionTable, Limits, NONE, NamingOptions, PendingEnd, Quality, StackTable,
    load_hottest_first,
};
use perf_session::{BuildId, SampleContext, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, SymbolLookup, Symbolizer};

use super::context::Context;
use super::options::Options;
use super::recent_stacks::RecentStacks;
use super::samples::FlatFrame;
use super::table::TableSet;
use super::utf8::utf8;
use super::{dsos, frames, stacks};

/// The stacks and frames since they were last written.
#[derive(Debug)]
pub(super) struct Generation {
    table: StackTable,
    /// Ends of call chains, by the index of their last frame.
    ends: HashMap<u32, StackEnd>,
    known: RecentStacks,
    named: FunctionTable,
    /// Number of samples of each stack.
    samples: Vec<u64>,
    quality: Quality,
    /// The numbers before the first stack, frame and DSO.
    stack_base: u64,
    frame_base: u64,
    dso_base: u64,
    flat: bool,
    /// The stacks of the samples whose flat stacks are not written yet.
    waiting: Vec<u32>,
    max_stack: usize,
    limits: Limits,
    naming: NamingOptions,
}

impl Generation {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            table: StackTable::default(),
            ends: HashMap::default(),
            known: RecentStacks::default(),
            named: FunctionTable::default(),
            samples: Vec::new(),
            quality: Quality::default(),
            stack_base: 0,
            frame_base: 0,
            dso_base: 0,
            flat: options.flat,
            waiting: Vec::new(),
            max_stack: options.max_stack.unwrap_or(usize::MAX),
            limits: options.limits,
            naming: options.naming,
        }
    }

    /// Loads the symbols of this generation's files on another thread.
    pub(super) fn load_ahead(&mut self, symbolizer: Option<&Symbolizer>) {
        self.table.frames.load_ahead(symbolizer, self.naming.threads);
    }

    /// Returns whether a stack of so many frames has room, whatever it is.
    #[inline]
    pub(super) fn has_room(&self, frames: usize) -> bool {
        self.table.frames.locations().len() + frames <= self.limits.frames
            && self.table.stacks.len() + frames <= self.limits.stack_nodes
    }

    /// Returns the number of a sample's stack in this generation, and how it ends. A stack that is larger than all limits is
    /// taken as empty.
    pub(super) fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::StackFinder,
        symbolizer: Option<&mut Symbolizer>,
    ) -> (u32, Option<StackEnd>) {
        if let Some((stack, end)) = self.known.find(stack, end) {
            return (stack, Some(end));
        }
        let number = self.table.number_new(at, stack, end, symbolizer, self.max_stack, &self.limits);
        let Some((stack, end)) = number else {
            self.count(EMPTY, 1);
            return (EMPTY, None);
        };
        let end = self.end_of(end, at.session(), finder);
        self.quality.count_stack(end);
        if self.known.add(stack, end) {
            self.count_known();
        }
        self.count(stack, 1);
        (stack, Some(end))
    }

    /// Returns how a stack ends, which each row has. It is found once for each last frame.
    fn end_of(
        &mut self,
        end: PendingEnd,
        session: &Session,
        finder: &mut perf_symbol::StackFinder,
    ) -> StackEnd {
        match end {
            PendingEnd::Known(end) => end,
            PendingEnd::OfLast(last) => {
                *self.ends.entry(last).or_insert_with(|| self.table.end_of(last, session, finder))
            }
        }
    }

    /// Counts samples of a stack.
    fn count(&mut self, stack: u32, samples: u64) {
        if self.samples.len() <= stack as usize {
            self.samples.resize(self.table.stacks.len(), 0);
        }
        if let Some(count) = self.samples.get_mut(stack as usize) {
            *count += samples;
        }
    }

    /// Counts the samples of the known stacks, and forgets these.
    fn count_known(&mut self) {
        for (stack, end, samples) in self.known.take() {
            self.quality.count_stacks(end, samples);
            self.count(stack, samples);
        }
    }

    /// Returns the number of a stack in the capture.
    pub(super) fn stack_id(&self, stack: u32) -> u64 {
        self.stack_base + u64::from(stack)
    }

    /// Keeps a sample's stack until the flat stacks are written.
    pub(super) fn wait(&mut self, stack: u32) {
        self.waiting.push(stack);
    }

    pub(super) fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Writes the flat stacks that wait, and the stacks, frames and DSOs of this generation, and starts the next one.
    pub(super) fn write(
        &mut self,
        tables: &mut TableSet,
        context: &Context,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
    ) {
        self.write_flat(tables, context, session, symbolizer);
        self.count_known();
        self.name(session, symbolizer);
        let looked = symbolizer.map(Symbolizer::lookups).unwrap_or_default();
        let build_ids: Vec<_> = self.table.frames.dsos().iter().map(|dso| session.build_id(dso)).collect();
        self.write_dsos(tables, context, &build_ids, &looked);
        let first_ids = self.write_frames(tables, context);
        let counts = (0..).zip(self.samples.iter().copied()).filter(|&(_, samples)| samples > 0);
        self.quality.count_table(&self.table, &self.named, &build_ids, counts, core::iter::empty());
        self.write_stacks(tables, context, &first_ids);
        self.stack_base += self.table.stacks.len() as u64;
        self.frame_base = first_ids.last().copied().unwrap_or(self.frame_base);
        self.dso_base += self.table.frames.dsos().len() as u64;
        self.table = StackTable::default();
        self.ends.clear();
        self.named = FunctionTable::default();
        self.samples.clear();
    }

    fn name(&mut self, session: &Session, symbolizer: Option<&Symbolizer>) {
        let counts = (0..).zip(self.samples.iter().copied());
        load_hottest_first(&self.table, counts, core::iter::empty(), session, symbolizer);
        self.named.extend(&self.table.frames, session, symbolizer, self.naming, &mut |_, _| {});
    }

    fn write_dsos(
        &self,
        tables: &mut TableSet,
        context: &Context,
        build_ids: &[Option<BuildId>],
        looked: &[SymbolLookup],
    ) {
        // Sorted by DSO.
        let looked: HashMap<_, _> = looked.iter().map(|it| ((&*it.dso, it.build_id), it)).collect();
        for ((dso, &build_id), number) in self.table.frames.dsos().iter().zip(build_ids).zip(self.dso_base..)
        {
            let looked = looked.get(&(&**dso, build_id)).copied();
            dsos::push(&mut tables.dsos, context, number, dso, build_id, looked);
        }
    }

    /// Returns the functions at a frame, innermost first, each with how many functions it is inlined into. One without
    /// function and line if nothing is known.
    fn functions(&self, frame: u32) -> impl Iterator<Item = (FunctionAt, i32)> + use<'_> {
        let found = self.named.functions_of(frame);
        let nothing = found.is_empty().then_some((FunctionAt::UNKNOWN, 0));
        let depths = (0..found.len() as i32).rev();
        found.iter().copied().zip(depths).chain(nothing)
    }

    /// Writes the functions of all frames, and returns the number of each frame's first one, and the next one.
    fn write_frames(&self, tables: &mut TableSet, context: &Context) -> Vec<u64> {
        let mut next = self.frame_base;
        let mut first_ids = Vec::with_capacity(self.table.frames.locations().len() + 1);
        for (place, number) in self.table.frames.locations().iter().zip(0..) {
            first_ids.push(next);
            let dso_id = (place.dso != NONE).then(|| self.dso_base + u64::from(place.dso));
            for (function, inline_depth) in self.functions(number) {
                let (symbol, line) = (self.named.symbol(function.symbol), self.named.line(function.line));
                if !self.flat {
                    let frame =
                        frames::FrameRow { frame_id: next, dso_id, place, symbol, line, inline_depth };
                    frames::push(&mut tables.frames, context, &frame);
                }
                next += 1;
            }
        }
        first_ids.push(next);
        first_ids
    }

    fn write_stacks(&self, tables: &mut TableSet, context: &Context, first_ids: &[u64]) {
        if self.flat {
            return;
        }
        let ids = |frame: u32| -> Range<u64> {
            let at = |index: usize| first_ids.get(index).copied().unwrap_or(0);
            at(frame as usize)..at(frame as usize + 1)
        };
        let mut frame_ids = Vec::new();
        for (stack, _) in (0..).zip(&self.samples).filter(|&(_, &samples)| samples > 0) {
            frame_ids.clear();
            frame_ids.extend(self.table.stacks.frames(stack).flat_map(ids));
            stacks::push(&mut tables.stacks, context, self.stack_id(stack), &frame_ids);
        }
    }

    /// Writes the stacks of the samples that wait for them.
    pub(super) fn write_flat(
        &mut self,
        tables: &mut TableSet,
        context: &Context,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
    ) {
        if self.waiting.is_empty() {
            return;
        }
        self.name(session, symbolizer);
        let dsos = self.table.frames.dsos().iter();
        let dsos: Vec<_> = dsos
            .map(|dso| {
                let build_id = session.build_id(dso).map(|id| id.to_string());
                (dsos::name_of(context, dso), build_id)
            })
            .collect();
        let symbols: Vec<_> = self.named.symbols().iter().map(|it| utf8(&it.name)).collect();
        let files: Vec<_> = self.named.lines().iter().map(|it| context.path(&it.file)).collect();
        for stack in core::mem::take(&mut self.waiting) {
            let frames = self.table.stacks.frames(stack);
            let flat = frames.flat_map(|frame| self.functions(frame).map(move |function| (frame, function)));
            let flat = flat.filter_map(|(frame, (function, inline_depth))| {
                let place = self.table.frames.location(frame)?;
                let dso = dsos.get(place.dso as usize);
                let symbol = self.named.symbol(function.symbol);
                Some(FlatFrame {
                    function: symbols.get(function.symbol as usize).map(|it| &**it),
                    file: files.get(function.line as usize).and_then(|it| it.as_deref()),
                    line: self.named.line(function.line).map(|it| it.line),
                    inline_depth,
                    dso: dso.and_then(|(name, _)| name.as_deref()),
                    build_id: dso.and_then(|(_, id)| id.as_deref()),
                    file_offset: place.offset,
                    guess: symbol.and_then(|it| it.guess).or(place.guess),
                })
            });
            tables.samples.push_flat((stack != EMPTY).then_some(flat));
        }
    }
}

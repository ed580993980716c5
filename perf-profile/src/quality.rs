//! The quality of the stacks and names of a run.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_session::{BuildId, Dso};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Doubt, Function, Guess, SymbolLookup};

use crate::function_table::FunctionTable;
use crate::missing_symbols::MissingSymbols;
use crate::stack_table::StackTable;
use crate::table::frames::NONE;

/// Counts of stacks by their ends, and of frames by what is known of them.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    stacks: u64,
    ends: BTreeMap<StackEnd, u64>,
    /// Frames, inlined ones not counted.
    frames: u64,
    mapped: u64,
    named: u64,
    with_line: u64,
    inlined: u64,
    guessed: u64,
    failed_unwinds: u64,
    /// Number of frames without a name, by what is mapped.
    unnamed: BTreeMap<(Arc<Dso>, Option<BuildId>), u64>,
}

/// Facts about a frame that are counted.
#[derive(Clone, Copy, Debug)]
struct FrameFacts {
    is_mapped: bool,
    is_named: bool,
    has_line: bool,
    /// Number of functions that are inlined at its address.
    inlined: u64,
    is_guess: bool,
}

impl Quality {
    /// Counts the frames of all stacks of a table. `stacks` has the number of samples of each stack, `frames` that of frames
    /// that are in no stack; numbers may come several times.
    pub fn count_table(
        &mut self,
        table: &StackTable,
        named: &FunctionTable,
        build_ids: &[Option<BuildId>],
        stacks: impl Iterator<Item = (u32, u64)>,
        frames: impl Iterator<Item = (u32, u64)>,
    ) {
        self.count_frames_of(table, named, build_ids, &times_of_frames(table, stacks, frames));
    }

    /// Does the same with the number of samples of each frame.
    pub(crate) fn count_frames_of(
        &mut self,
        table: &StackTable,
        named: &FunctionTable,
        build_ids: &[Option<BuildId>],
        times: &[u64],
    ) {
        let mut unnamed = vec![0_u64; table.frames.dsos().len()];
        for ((place, &times), number) in table.frames.locations().iter().zip(times).zip(0..) {
            if place.is_text() {
                continue;
            }
            let functions = named.functions_of(number);
            let has_line = named.line_of(number) != NONE;
            let inlined = functions.len().saturating_sub(1) as u64;
            let is_named = named.symbol_of(number) != NONE;
            let is_guess = place.guess.is_some()
                || functions.iter().any(|it| named.symbol(it.symbol).is_some_and(|it| it.guess.is_some()));
            let facts = FrameFacts { is_mapped: place.dso != NONE, is_named, has_line, inlined, is_guess };
            self.add_frames(&facts, times);
            if let Some(count) = unnamed.get_mut(place.dso as usize).filter(|_| !is_named) {
                *count += times;
            }
        }
        for ((dso, count), number) in table.frames.dsos().iter().zip(unnamed).zip(0_usize..) {
            self.add_unnamed(dso, build_ids.get(number).copied().flatten(), count);
        }
    }

    /// Adds the counts of another part of the run, for example of another thread.
    pub fn add(&mut self, other: &Self) {
        let Self {
            stacks,
            ends,
            frames,
            mapped,
            named,
            with_line,
            inlined,
            guessed,
            failed_unwinds,
            unnamed,
        } = other;
        self.stacks += stacks;
        self.frames += frames;
        self.mapped += mapped;
        self.named += named;
        self.with_line += with_line;
        self.inlined += inlined;
        self.guessed += guessed;
        self.failed_unwinds += failed_unwinds;
        for (&end, count) in ends {
            *self.ends.entry(end).or_default() += count;
        }
        for (file, count) in unnamed {
            *self.unnamed.entry(file.clone()).or_default() += count;
        }
    }

    /// Counts a stack.
    pub fn count_stack(&mut self, end: StackEnd) {
        self.count_stacks(end, 1);
    }

    /// Counts stacks by their ends, such as [`StackTable::ends`] returns.
    pub fn count_ends(&mut self, ends: &BTreeMap<StackEnd, u64>) {
        ends.iter().for_each(|(&end, &count)| self.count_stacks(end, count));
    }

    /// Counts stacks with the same end.
    pub fn count_stacks(&mut self, end: StackEnd, count: u64) {
        self.stacks += count;
        *self.ends.entry(end).or_default() += count;
    }

    /// Counts a frame with the functions at its address. `guess` is that of the frame.
    pub fn count_frame(
        &mut self,
        file: Option<(&Arc<Dso>, Option<BuildId>)>,
        functions: &[Function],
        guess: Option<Guess>,
    ) {
        let facts = FrameFacts {
            is_mapped: file.is_some(),
            is_named: functions.last().is_some_and(|it| it.name.is_some()),
            has_line: functions.iter().any(|it| it.line.is_some()),
            inlined: functions.iter().filter(|it| it.is_inlined).count() as u64,
            is_guess: guess.is_some() || functions.iter().any(|it| it.guess.is_some()),
        };
        self.add_frames(&facts, 1);
        if let Some((dso, build_id)) = file.filter(|_| !facts.is_named) {
            self.add_unnamed(dso, build_id, 1);
        }
    }

    fn add_frames(&mut self, facts: &FrameFacts, times: u64) {
        let FrameFacts { is_mapped, is_named, has_line, inlined, is_guess } = *facts;
        self.guessed += if is_guess { times } else { 0 };
        self.frames += times;
        self.mapped += if is_mapped { times } else { 0 };
        self.named += if is_named { times } else { 0 };
        self.with_line += if has_line { times } else { 0 };
        self.inlined += inlined * times;
    }

    /// Counts frames without a name. Files without such frames are not listed.
    fn add_unnamed(&mut self, dso: &Arc<Dso>, build_id: Option<BuildId>, times: u64) {
        if times > 0 {
            *self.unnamed.entry((Arc::clone(dso), build_id)).or_default() += times;
        }
    }

    /// Returns the number of stacks.
    #[must_use]
    pub fn stacks(&self) -> u64 {
        self.stacks
    }

    /// Returns the number of stacks with an end.
    #[must_use]
    pub fn stacks_with(&self, end: StackEnd) -> u64 {
        self.ends.get(&end).copied().unwrap_or(0)
    }

    /// Returns the number of stacks of the whole capture, selected or not, that its recorder could not unwind whole: see
    /// [`Session::failed_unwinds`](perf_session::Session::failed_unwinds).
    #[must_use]
    pub fn failed_unwinds(&self) -> u64 {
        self.failed_unwinds
    }

    /// Counts the stacks that the recorder of a capture could not unwind whole.
    pub fn count_failed_unwinds(&mut self, stacks: u64) {
        self.failed_unwinds += stacks;
    }

    /// Returns the number of frames, inlined functions not counted.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the number of frames whose address is mapped.
    #[must_use]
    pub fn mapped(&self) -> u64 {
        self.mapped
    }

    /// Returns the number of frames with a name.
    #[must_use]
    pub fn named(&self) -> u64 {
        self.named
    }

    /// Returns the number of frames with a line of source code.
    #[must_use]
    pub fn with_line(&self) -> u64 {
        self.with_line
    }

    /// Returns the number of inlined functions, which are no frames.
    #[must_use]
    pub fn inlined(&self) -> u64 {
        self.inlined
    }

    /// Returns the number of frames that are guesses, or whose names are.
    #[must_use]
    pub fn guessed(&self) -> u64 {
        self.guessed
    }

    /// Returns the number of stacks by their ends.
    #[must_use]
    pub fn ends(&self) -> &BTreeMap<StackEnd, u64> {
        &self.ends
    }

    /// Returns the files without names, those with the most frames first. `looked` is what
    /// [`Symbolizer::lookups`](perf_symbol::Symbolizer::lookups) returns.
    #[must_use]
    pub fn missing(&self, lookups: &[SymbolLookup]) -> Vec<MissingSymbols> {
        let mut found = HashMap::new();
        for it in lookups {
            found.entry((&it.dso, it.build_id)).or_insert(it);
        }
        let of = |(&(ref dso, build_id), &frames): (&(Arc<Dso>, Option<BuildId>), &u64)| {
            let lookup = found.get(&(dso, build_id));
            MissingSymbols {
                dso: Arc::clone(dso),
                build_id,
                frames,
                why: lookup.and_then(|it| it.why),
                is_beyond_limit: lookup.is_some_and(|it| it.is_beyond_limit),
                is_mounted: lookup.is_some_and(|it| it.is_mounted),
                is_go: lookup.is_some_and(|it| it.go_build_id.is_some()),
            }
        };
        let mut missing: Vec<_> = self.unnamed.iter().map(of).collect();
        missing.sort_by_key(|it| Reverse(it.frames));
        missing
    }
}

/// Returns the files whose names are guesses, and why. `looked` is what
/// [`Symbolizer::lookups`](perf_symbol::Symbolizer::lookups) returns.
pub fn doubtful(lookups: &[SymbolLookup]) -> impl Iterator<Item = (&SymbolLookup, Doubt)> {
    let of = |it: &SymbolLookup| it.doubt.filter(|doubt| doubt.guess().is_some());
    lookups.iter().filter_map(move |it| Some((it, of(it)?)))
}

/// Returns the number of samples of each frame of a table. `stacks` has that of each stack, `frames` that of frames that are
/// in no stack; numbers may come several times.
pub(crate) fn times_of_frames(
    table: &StackTable,
    stacks: impl Iterator<Item = (u32, u64)>,
    frames: impl Iterator<Item = (u32, u64)>,
) -> Vec<u64> {
    let mut times = vec![0_u64; table.frames.locations().len()];
    let mut add = |frame: u32, samples: u64| {
        if let Some(count) = times.get_mut(frame as usize) {
            *count += samples;
        }
    };
    let mut of_stack = vec![0_u64; table.stacks.len()];
    for (stack, samples) in stacks {
        if let Some(count) = of_stack.get_mut(stack as usize) {
            *count += samples;
        }
    }
    // Callers have lower numbers: what a stack has, its callers have when they are reached.
    for stack in (0..of_stack.len() as u32).rev() {
        let samples = of_stack.get(stack as usize).copied().unwrap_or(0);
        let Some((callers, frame)) = table.stacks.node(stack) else { continue };
        add(frame, samples);
        if let Some(count) = of_stack.get_mut(callers as usize) {
            *count += samples;
        }
    }
    frames.for_each(|(frame, samples)| add(frame, samples));
    times
}

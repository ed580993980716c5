//! The functions of all addresses, each address looked up once, on several threads.

use alloc::sync::Arc;
use core::num::NonZero;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use perf_session::Session;
use perf_symbol::{Function, Source, Symbolizer};

use super::frames::{Frames, NONE, short_name};
use super::progress::Naming;

/// A function, or what perf takes as one: an inlined function is another one in each function that it is inlined into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbol {
    pub(super) name: Arc<[u8]>,
    /// The number of the short name of the file.
    pub(super) dso: u32,
    /// The offset in the file of the function's start, or of that of the function that it is inlined into.
    pub(super) start: u64,
    pub(super) is_inlined: bool,
    pub(super) source: Option<Source>,
}

/// A place in source code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) file: Arc<[u8]>,
    pub(super) line: u32,
}

/// A function at an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionAt {
    /// [`NONE`] if only the line is known.
    pub(super) symbol: u32,
    pub(super) line: u32,
}

/// The functions of all frames.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) symbols: Vec<Symbol>,
    pub(super) lines: Vec<Line>,
    functions: Vec<FunctionAt>,
    /// By frame.
    ranges: Vec<Range<u32>>,
    /// The short names of files, and their numbers by DSO.
    pub(super) short_names: Vec<Vec<u8>>,
    short_name_of: Vec<u32>,
}

impl Named {
    /// Returns the numbers in [`function`](Self::function) of the functions of a frame, the innermost inlined one first.
    pub(super) fn functions(&self, frame: u32) -> Range<u32> {
        self.ranges.get(frame as usize).cloned().unwrap_or_default()
    }

    pub(super) fn function(&self, number: u32) -> Option<FunctionAt> {
        self.functions.get(number as usize).copied()
    }

    /// Returns the number of the symbol of a frame, the function that is not inlined; [`NONE`] if it has none.
    pub(super) fn symbol_of(&self, frame: u32) -> u32 {
        let range = self.functions(frame);
        let last = range.end.checked_sub(1).filter(|last| range.contains(last));
        last.and_then(|last| self.function(last)).map_or(NONE, |it| it.symbol)
    }

    /// Returns the line of the innermost function of a frame that has one.
    pub(super) fn line_of(&self, frame: u32) -> u32 {
        let mut functions = self.functions(frame).filter_map(|number| self.function(number));
        functions.find(|it| it.line != NONE).map_or(NONE, |it| it.line)
    }

    pub(super) fn symbol(&self, number: u32) -> Option<&Symbol> {
        self.symbols.get(number as usize)
    }

    /// Returns the number of the short name of a DSO; [`NONE`] if it is none.
    pub(super) fn short_name_of(&self, dso: u32) -> u32 {
        self.short_name_of.get(dso as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn short_name(&self, number: u32) -> &[u8] {
        self.short_names.get(number as usize).map_or(b"[unknown]", |name| name)
    }
}

/// Finds the functions of all frames, on so many threads. The result is the same for any number of threads.
pub(super) fn name(
    frames: &Frames,
    session: &Session,
    symbolizer: Option<&Symbolizer>,
    inlines: bool,
    threads: NonZero<usize>,
) -> Named {
    let mut named = Named::default();
    let mut numbers = HashMap::new();
    for dso in &frames.dsos {
        let name = short_name(dso);
        let next = named.short_names.len() as u32;
        let number = *numbers.entry(name.clone()).or_insert(next);
        if number == next {
            named.short_names.push(name);
        }
        named.short_name_of.push(number);
    }
    let found =
        symbolizer.map(|symbolizer| look_up(frames, session, symbolizer, threads)).unwrap_or_default();
    named.merge(frames, &found, inlines);
    named
}

/// What was found for the frames of a task.
type Found = Vec<(u32, Vec<Function>)>;

/// The smallest number of frames of a file that is worth to be divided: each thread reads the debug information anew.
const DIVIDED: usize = 1 << 14;

/// Looks all frames up, and returns their functions by frame.
fn look_up(
    frames: &Frames,
    session: &Session,
    symbolizer: &Symbolizer,
    threads: NonZero<usize>,
) -> Vec<Vec<Function>> {
    let mut order: Vec<u32> = (0..frames.list.len() as u32)
        .filter(|&frame| {
            let known = &frames.list[frame as usize];
            known.dso != NONE && known.generated == NONE
        })
        .collect();
    // The frames of a file together, so that few threads need its debug information.
    order.sort_by_key(|&frame| (frames.list[frame as usize].dso, frames.list[frame as usize].offset, frame));
    let mut tasks: Vec<&[u32]> = order
        .chunk_by(|&one, &other| frames.list[one as usize].dso == frames.list[other as usize].dso)
        .flat_map(|of_file| of_file.chunks(of_file.len().div_ceil(threads.get()).max(DIVIDED)))
        .collect();
    tasks.sort_by_key(|task| core::cmp::Reverse(task.len()));
    let mut naming = Naming::new(order.len());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let work = |symbolizer: Symbolizer, step: &mut dyn FnMut(usize)| {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Its debug information is needed no more after the task.
            let mut symbolizer = symbolizer.clone();
            let mut found: Found = Vec::with_capacity(task.len());
            for &number in *task {
                let Some((frame, is_caller)) = frames.frame(number) else { continue };
                found.push((number, symbolizer.functions(session, &frame, is_caller, None).to_vec()));
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            step(done.fetch_add(task.len(), Ordering::Relaxed) + task.len());
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(tasks.len()) {
            let symbolizer = symbolizer.clone();
            scope.spawn(|| work(symbolizer, &mut |_| {}));
        }
        work(symbolizer.clone(), &mut |done| naming.at(done));
    });
    let mut functions = vec![Vec::new(); frames.list.len()];
    for (frame, found) in results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten() {
        functions[frame as usize] = found;
    }
    functions
}

impl Named {
    /// Numbers the functions, in the order of the frames.
    fn merge(&mut self, frames: &Frames, found: &[Vec<Function>], inlines: bool) {
        let (mut symbols, mut lines) = (HashMap::new(), HashMap::new());
        for (number, known) in frames.list.iter().enumerate() {
            let looked_up = || found.get(number).map_or(&[][..], |it| it);
            let functions =
                frames.generated.get(known.generated as usize).map_or_else(looked_up, Vec::as_slice);
            let start = self.functions.len() as u32;
            // The symbol that contains the address, whose start that of inlined functions is.
            let begin = functions
                .last()
                .and_then(|it| it.offset)
                .map_or(0, |offset| known.offset.wrapping_sub(offset));
            // Without inlined functions, the line is still that of the innermost one.
            let first = if inlines { 0 } else { functions.len().saturating_sub(1) };
            for (index, function) in functions.iter().enumerate().skip(first) {
                let line_of = if inlines {
                    Some(function)
                } else {
                    functions[..=index].iter().find(|it| it.line.is_some())
                };
                let symbol = function.name.as_ref().map_or(NONE, |name| {
                    let dso = self.short_name_of(known.dso);
                    let (is_inlined, source) = (function.is_inlined, function.source);
                    let symbol = Symbol { name: Arc::clone(name), dso, start: begin, is_inlined, source };
                    let next = self.symbols.len() as u32;
                    let key = (Arc::clone(name), dso, begin, is_inlined);
                    let number = *symbols.entry(key).or_insert(next);
                    if number == next {
                        self.symbols.push(symbol);
                    }
                    number
                });
                let line =
                    line_of.and_then(|it| it.file.as_ref().zip(it.line)).map_or(NONE, |(file, line)| {
                        let line = Line { file: Arc::clone(file), line };
                        let next = self.lines.len() as u32;
                        let number = *lines.entry(line.clone()).or_insert(next);
                        if number == next {
                            self.lines.push(line);
                        }
                        number
                    });
                self.functions.push(FunctionAt { symbol, line });
            }
            self.ranges.push(start..self.functions.len() as u32);
        }
    }
}

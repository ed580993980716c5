//! The functions of all addresses, each address looked up once, on several threads.

mod merge;
mod part;

use std::borrow::Cow;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::Session;
use perf_symbol::{Function, Guess, NameSource, Symbolizer};

use crate::table::frames::{FrameTable, NONE, short_name};
use crate::work::sorting::sort_by_key;
use crate::work::spawn;
use part::FunctionTablePart;

/// A function, or what perf takes as one: an inlined function is another one in each function that it is inlined into.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbol {
    /// The name as people read it.
    pub name: Arc<[u8]>,
    /// The name as it is in the file: mangled, if it is.
    pub raw_name: Arc<[u8]>,
    /// The number of the [short name](FunctionTable::short_name) of the file.
    pub dso: u32,
    /// The offset in the file of the function's start, or of that of the function that it is inlined into.
    pub start: u64,
    /// The number of bytes of the function, or of that which it is inlined into; `None` if only DWARF knows the function.
    pub size: Option<u64>,
    /// Whether the function is inlined into another one.
    pub is_inlined: bool,
    /// Where the name was found.
    pub source: Option<NameSource>,
    /// Why the name, or the frame that has it, is a guess; `None` if it is not one. A function with guessed frames and others is
    /// two symbols.
    pub guess: Option<Guess>,
}

impl Symbol {
    /// Returns the name for a text: with [`Guess::MARK`] if it is a guess.
    #[must_use]
    pub fn label(&self) -> Cow<'_, [u8]> {
        match self.guess {
            None => Cow::Borrowed(&self.name),
            Some(_) => Cow::Owned([&*self.name, Guess::MARK.as_bytes()].concat()),
        }
    }
}

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SourceLine {
    /// Path of the file, as the compiler recorded it.
    pub file: Arc<[u8]>,
    /// The line, from 1 on.
    pub line: u32,
}

/// A function at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionAt {
    /// The index in [`FunctionTable::symbols`]; [`NONE`] if only the line is known.
    pub symbol: u32,
    /// The index in [`FunctionTable::lines`], or [`NONE`].
    pub line: u32,
}

impl FunctionAt {
    /// Neither a symbol nor a line.
    pub const UNKNOWN: Self = Self { symbol: NONE, line: NONE };
}

/// The functions of all frames.
#[derive(Debug, Default)]
pub struct FunctionTable {
    symbols: Vec<Symbol>,
    lines: Vec<SourceLine>,
    functions: Vec<FunctionAt>,
    /// By frame.
    ranges: Vec<Range<u32>>,
    /// The short names of files, and their numbers by DSO.
    short_names: Vec<Vec<u8>>,
    short_name_of: Vec<u32>,
}

/// How functions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamingOptions {
    /// Whether inlined functions are kept. Without them, a function still has the line of the innermost one.
    pub inlines: bool,
    /// Number of threads. The result is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for NamingOptions {
    /// With inlined functions, on all processors.
    fn default() -> Self {
        Self { inlines: true, threads: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN) }
    }
}

impl FunctionTable {
    /// Finds the functions of all frames. Without a symbolizer, no function has a name. `session` is that of the walk, after
    /// the last record. `progress` is called on the caller's thread, with the number of frames that are done and that of
    /// all.
    #[must_use]
    pub fn find(
        frames: &FrameTable,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
        naming: NamingOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let mut named = Self::default();
        named.extend(frames, session, symbolizer, naming, progress);
        named
    }

    /// Finds the functions of the frames that came since the last call. A function of earlier frames may come again.
    pub fn extend(
        &mut self,
        frames: &FrameTable,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
        naming: NamingOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) {
        let mut numbers: HashMap<_, _> = self.short_names.iter().cloned().zip(0..).collect();
        for dso in frames.dsos().iter().skip(self.short_name_of.len()) {
            let name = short_name(dso);
            let next = self.short_names.len() as u32;
            let number = *numbers.entry(name.clone()).or_insert(next);
            if number == next {
                self.short_names.push(name);
            }
            self.short_name_of.push(number);
        }
        let first = self.ranges.len();
        let add = |part: &mut FunctionTablePart, frame: u32, functions: &[Function]| {
            if let Some(place) = frames.location(frame) {
                part.add(frame, place, self.short_name_of(place.dso), functions, naming.inlines);
            }
        };
        let look_up =
            |symbolizer| look_up(frames, first, session, symbolizer, naming.threads, &add, progress);
        let mut parts = symbolizer.map(look_up).unwrap_or_default();
        let mut generated = FunctionTablePart::default();
        for (place, frame) in frames.locations().iter().zip(0..).skip(first) {
            if let Some(functions) = frames.generated.get(place.generated as usize) {
                add(&mut generated, frame, functions);
            }
        }
        parts.push(generated);
        self.merge(&parts, frames.locations().len());
    }

    /// Returns all functions, each once.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Returns all lines, each once.
    #[must_use]
    pub fn lines(&self) -> &[SourceLine] {
        &self.lines
    }

    /// Returns the functions at the address of a frame, the innermost inlined one first; empty if none is known.
    #[must_use]
    pub fn functions_of(&self, frame: u32) -> &[FunctionAt] {
        let Range { start, end } = self.functions(frame);
        self.functions.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the numbers of the same functions, for [`function`](Self::function).
    #[must_use]
    pub fn functions(&self, frame: u32) -> Range<u32> {
        self.ranges.get(frame as usize).cloned().unwrap_or_default()
    }

    /// Returns a function by its number.
    #[must_use]
    pub fn function(&self, number: u32) -> Option<FunctionAt> {
        self.functions.get(number as usize).copied()
    }

    /// Returns the number of the symbol of a frame, the function that is not inlined; [`NONE`] if it has none.
    #[must_use]
    pub fn symbol_of(&self, frame: u32) -> u32 {
        self.functions_of(frame).last().map_or(NONE, |it| it.symbol)
    }

    /// Returns the number of the symbol of the innermost function of a frame, which may be inlined: the function that a sample
    /// there is of. [`NONE`] if it has none.
    #[must_use]
    pub fn innermost_symbol_of(&self, frame: u32) -> u32 {
        self.functions_of(frame).first().map_or(NONE, |it| it.symbol)
    }

    /// Returns the line of the innermost function of a frame that has one; [`NONE`] if none has.
    #[must_use]
    pub fn line_of(&self, frame: u32) -> u32 {
        self.functions_of(frame).iter().find(|it| it.line != NONE).map_or(NONE, |it| it.line)
    }

    /// Returns a function by its index; `None` for [`NONE`].
    #[must_use]
    pub fn symbol(&self, number: u32) -> Option<&Symbol> {
        self.symbols.get(number as usize)
    }

    /// Returns a line by its index; `None` for [`NONE`].
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&SourceLine> {
        self.lines.get(number as usize)
    }

    /// Returns the number of the short name of a DSO; [`NONE`] if it is none.
    #[must_use]
    pub fn short_name_of(&self, dso: u32) -> u32 {
        self.short_name_of.get(dso as usize).copied().unwrap_or(NONE)
    }

    /// Returns a short name: that of a file without its folders. `[unknown]` for [`NONE`].
    #[must_use]
    pub fn short_name(&self, number: u32) -> &[u8] {
        self.short_names.get(number as usize).map_or(b"[unknown]", |name| name)
    }
}

/// The smallest number of frames of a file that is worth to be divided: each thread reads the debug information anew.
const DIVIDED: usize = 1 << 14;

/// Number of addresses whose functions are kept for those that follow.
const FEW: usize = 1 << 10;

/// Looks up the frames from `first` on, and returns their functions, which `add` adds to a part.
fn look_up(
    frames: &FrameTable,
    first: usize,
    session: &Session,
    symbolizer: &Symbolizer,
    threads: NonZero<usize>,
    add: &(impl Fn(&mut FunctionTablePart, u32, &[Function]) + Sync),
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<FunctionTablePart> {
    let places = frames.locations().iter().zip(0..).skip(first);
    // The frames of a file together, so that few threads need its debug information.
    let mut order: Vec<_> = places
        .filter(|(place, _)| place.dso != NONE || place.mode == CpuMode::KERNEL)
        .filter(|(place, _)| place.generated == NONE)
        .map(|(place, number)| (place.dso, place.offset, number))
        .collect();
    sort_by_key(&mut order, threads, |&it| it);
    let mut tasks: Vec<&[(u32, u64, u32)]> = order
        .chunk_by(|one, other| one.0 == other.0)
        .flat_map(|of_file| of_file.chunks(of_file.len().div_ceil(threads.get()).max(DIVIDED)))
        .collect();
    tasks.sort_by_key(|task| core::cmp::Reverse(task.len()));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let work = |symbolizer: Symbolizer, step: &mut dyn FnMut(usize)| {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Its debug information is needed no more after the task.
            let mut symbolizer = symbolizer.clone();
            // The addresses ascend, and each comes once or twice.
            symbolizer.set_cached(FEW);
            let mut part = FunctionTablePart::default();
            for &(_, _, number) in *task {
                let Some((frame, is_caller)) = frames.frame(number) else { continue };
                add(&mut part, number, symbolizer.functions(session, &frame, is_caller, None));
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push(part);
            step(done.fetch_add(task.len(), Ordering::Relaxed) + task.len());
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(tasks.len()) {
            let symbolizer = symbolizer.clone();
            if spawn(scope, || work(symbolizer, &mut |_| {})).is_none() {
                break;
            }
        }
        work(symbolizer.clone(), &mut |done| progress(done, order.len()));
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

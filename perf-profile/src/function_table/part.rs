//! The functions that one of several threads finds.

use core::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use perf_symbol::{Function, Guess};

use super::{FunctionAt, SourceLine, Symbol};
use crate::table::frames::{FrameLocation, NONE};
use crate::table::interner::Interner;

/// The functions of some frames. Symbols and lines have numbers of the part.
#[derive(Debug, Default)]
pub(super) struct FunctionTablePart {
    /// Symbols differ if anything of them does: which one of two with the same name is kept depends on the order of
    /// the frames.
    pub(super) symbols: Interner<Symbol>,
    pub(super) lines: Interner<SourceLine>,
    pub(super) functions: Vec<FunctionAt>,
    /// The frames, with the places of their functions.
    pub(super) frames: Vec<(u32, Range<u32>)>,
}

impl FunctionTablePart {
    /// Adds a frame with its functions. `dso` is the number of the file's short name.
    pub(super) fn add(
        &mut self,
        frame: u32,
        place: &FrameLocation,
        dso: u32,
        functions: &[Function],
        inlines: bool,
    ) {
        let start = self.functions.len() as u32;
        // The symbol that contains the address, whose start that of inlined functions is.
        let outermost = functions.last();
        let offset = outermost.and_then(|it| it.offset);
        let begin = offset.map_or(0, |offset| place.offset.wrapping_sub(offset));
        let size = outermost.and_then(|it| it.size);
        // Without inlined functions, the line is still that of the innermost one.
        let first = if inlines { 0 } else { functions.len().saturating_sub(1) };
        for (index, function) in functions.iter().enumerate().skip(first) {
            let line_of = if inlines {
                Some(function)
            } else {
                functions.iter().take(index + 1).find(|it| it.line.is_some())
            };
            let symbol = function.name.as_ref().map_or(NONE, |name| {
                let guess = place.guess.or(function.guess);
                self.symbol(name, function, dso, begin, size, guess)
            });
            let line = line_of.and_then(|it| it.file.as_ref().zip(it.line));
            let line = line.map_or(NONE, |(file, line)| self.line(file, line));
            self.functions.push(FunctionAt { symbol, line });
        }
        self.frames.push((frame, start..self.functions.len() as u32));
    }

    fn symbol(
        &mut self,
        name: &Arc<[u8]>,
        function: &Function,
        dso: u32,
        start: u64,
        size: Option<u64>,
        guess: Option<Guess>,
    ) -> u32 {
        let &Function { is_inlined, source, .. } = function;
        let raw_name = function.raw_name.as_ref().unwrap_or(name);
        let is = |it: &Symbol| {
            let same = (it.dso, it.start, it.size, it.is_inlined, it.source, it.guess);
            same == (dso, start, size, is_inlined, source, guess)
                && it.name == *name
                && it.raw_name == *raw_name
        };
        let hash = self.symbols.hash((&**name, start));
        self.symbols.number_by(
            hash,
            is,
            |hasher, it| hasher.hash_one((&*it.name, it.start)),
            || {
                let (name, raw_name) = (Arc::clone(name), Arc::clone(raw_name));
                Symbol { name, raw_name, dso, start, size, is_inlined, source, guess }
            },
        )
    }

    fn line(&mut self, file: &Arc<[u8]>, line: u32) -> u32 {
        // Most lines of a file are others.
        let hash = self.lines.hash((line, file.len()));
        let is = |it: &SourceLine| it.line == line && it.file == *file;
        let make = || SourceLine { file: Arc::clone(file), line };
        self.lines.number_by(hash, is, |hasher, it| hasher.hash_one((it.line, it.file.len())), make)
    }
}

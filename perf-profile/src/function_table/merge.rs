//! The functions of all frames, of what several threads found.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::part::FunctionTablePart;
use super::{FunctionAt, FunctionTable, SourceLine, Symbol};
use crate::table::frames::NONE;
use crate::table::interner::Interner;
use crate::table::number_cache::NumberCache;

/// What is new. Its numbers begin after those of what was there before.
struct NewFunctions {
    symbols: Interner<Symbol>,
    symbols_before: u32,
    lines: Interner<SourceLine>,
    lines_before: u32,
}

impl FunctionTable {
    /// Numbers the functions of the frames that came since the last call, up to `frames`, in the order of the frames. So the
    /// numbers do not depend on the parts. Functions that are in no part are not known.
    pub(super) fn merge(&mut self, parts: &[FunctionTablePart], frames: usize) {
        let first = self.ranges.len();
        // The part of each frame, and the place in it.
        let mut places = vec![(NONE, 0..0); frames.saturating_sub(first)];
        for (part, number) in parts.iter().zip(0..) {
            for (frame, range) in &part.frames {
                if let Some(place) = (*frame as usize).checked_sub(first).and_then(|it| places.get_mut(it)) {
                    *place = (number, range.clone());
                }
            }
        }
        let (symbols, lines) = Default::default();
        let (symbols_before, lines_before) = (self.symbols.len() as u32, self.lines.len() as u32);
        let mut new = NewFunctions { symbols, symbols_before, lines, lines_before };
        let known = |part: &FunctionTablePart| {
            (NumberCache::of(part.symbols.list().len()), NumberCache::of(part.lines.list().len()))
        };
        let mut known: Vec<_> = parts.iter().map(known).collect();
        for (part, range) in places {
            let start = self.functions.len() as u32;
            if let Some((part, (symbols, lines))) = parts.get(part as usize).zip(known.get_mut(part as usize))
            {
                let functions = part.functions.get(range.start as usize..range.end as usize);
                for it in functions.unwrap_or_default() {
                    let symbol = part.symbols.list().get(it.symbol as usize);
                    let symbol =
                        symbol.map_or(NONE, |symbol| symbols.number(it.symbol, || new.symbol(symbol)));
                    let line = part.lines.list().get(it.line as usize);
                    let line = line.map_or(NONE, |line| lines.number(it.line, || new.line(line)));
                    self.functions.push(FunctionAt { symbol, line });
                }
            }
            self.ranges.push(start..self.functions.len() as u32);
        }
        self.symbols.extend(new.symbols.into_list());
        self.lines.extend(new.lines.into_list());
    }
}

impl NewFunctions {
    /// Returns the number of a symbol. Of those with the same name, file and place, the first one is kept.
    fn symbol(&mut self, symbol: &Symbol) -> u32 {
        let place = |it: &Symbol| (it.dso, it.start, it.is_inlined, it.guess);
        let hash = self.symbols.hash((place(symbol), &*symbol.name));
        let is = |it: &Symbol| place(it) == place(symbol) && it.name == symbol.name;
        let hash_of = |hasher: &DefaultHashBuilder, it: &Symbol| hasher.hash_one((place(it), &*it.name));
        self.symbols_before + self.symbols.number_by(hash, is, hash_of, || symbol.clone())
    }

    /// Returns the number of a line.
    fn line(&mut self, line: &SourceLine) -> u32 {
        self.lines_before + self.lines.number(line.clone())
    }
}

//! The functions of all frames, of what several threads found.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::part::Part;
use super::{FunctionAt, Line, Named, Symbol};
use crate::frames::NONE;
use crate::known_numbers::KnownNumbers;
use crate::numbering::Numbering;

/// The numbers of what is new, which begin after those of what was there before.
#[derive(Default)]
struct Numbers {
    symbols: Numbering,
    symbols_before: usize,
    lines: Numbering,
    lines_before: usize,
    hasher: DefaultHashBuilder,
}

impl Named {
    /// Numbers the functions of the frames that came since the last call, up to `frames`, in the order of the frames. So the
    /// numbers do not depend on the parts. Functions that are in no part are not known.
    pub(super) fn merge(&mut self, parts: &[Part], frames: usize) {
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
        let (symbols_before, lines_before) = (self.symbols.len(), self.lines.len());
        let mut numbers = Numbers { symbols_before, lines_before, ..Numbers::default() };
        let known = |part: &Part| (KnownNumbers::of(part.symbols.len()), KnownNumbers::of(part.lines.len()));
        let mut known: Vec<_> = parts.iter().map(known).collect();
        for (part, range) in places {
            let start = self.functions.len() as u32;
            if let Some((part, (symbols, lines))) = parts.get(part as usize).zip(known.get_mut(part as usize))
            {
                let functions = part.functions.get(range.start as usize..range.end as usize);
                for it in functions.unwrap_or_default() {
                    let symbol = part.symbols.get(it.symbol as usize);
                    let symbol = symbol.map_or(NONE, |symbol| {
                        symbols.number(it.symbol, || numbers.symbol(symbol, &mut self.symbols))
                    });
                    let line = part.lines.get(it.line as usize);
                    let line = line
                        .map_or(NONE, |line| lines.number(it.line, || numbers.line(line, &mut self.lines)));
                    self.functions.push(FunctionAt { symbol, line });
                }
            }
            self.ranges.push(start..self.functions.len() as u32);
        }
    }
}

impl Numbers {
    /// Returns the number of a symbol. Of those with the same name, file and place, the first one is kept.
    fn symbol(&mut self, symbol: &Symbol, list: &mut Vec<Symbol>) -> u32 {
        let Self { symbols, symbols_before, hasher, .. } = self;
        let of = |number: u32| list.get(*symbols_before + number as usize);
        let key = |it: &Symbol| (it.dso, it.start, it.is_inlined);
        let is = |number: u32| of(number).is_some_and(|it| key(it) == key(symbol) && it.name == symbol.name);
        let hash_of = |it: &Symbol| hasher.hash_one((key(it), &*it.name));
        let number = symbols.number(hash_of(symbol), is, |number| of(number).map_or(0, hash_of));
        let number = *symbols_before + number as usize;
        if number == list.len() {
            list.push(symbol.clone());
        }
        number as u32
    }

    /// Returns the number of a line.
    fn line(&mut self, line: &Line, list: &mut Vec<Line>) -> u32 {
        let Self { lines, lines_before, hasher, .. } = self;
        let of = |number: u32| list.get(*lines_before + number as usize);
        let number = lines.number(
            hasher.hash_one(line),
            |number| of(number) == Some(line),
            |number| of(number).map_or(0, |it| hasher.hash_one(it)),
        );
        let number = *lines_before + number as usize;
        if number == list.len() {
            list.push(line.clone());
        }
        number as u32
    }
}

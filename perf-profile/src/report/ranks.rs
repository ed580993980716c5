//! The ranks of texts: rows are compared many times, and most comparisons of names begin with the same bytes.

use core::cmp::Ordering;
use std::sync::OnceLock;

use super::texts::TextInterner;
use crate::function_table::{FunctionTable, Symbol};

/// By its number, the rank of each of some things in their order. Equal ones have the same rank.
#[derive(Debug, Default)]
pub(super) struct Ranks(Vec<u32>);

impl Ranks {
    /// Ranks `count` things, compared by their numbers.
    pub(super) fn new(count: usize, compare: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_unstable_by(|&one, &other| compare(one, other));
        let mut ranks = vec![0; count];
        let (mut rank, mut before) = (0, None);
        for number in order {
            rank += u32::from(before.is_some_and(|before| compare(before, number) != Ordering::Equal));
            if let Some(it) = ranks.get_mut(number) {
                *it = rank;
            }
            before = Some(number);
        }
        Self(ranks)
    }

    /// Returns the rank of a thing; the last one for a number that is none.
    #[inline]
    pub(super) fn rank(&self, number: u32) -> u32 {
        self.0.get(number as usize).copied().unwrap_or(u32::MAX)
    }

    /// Compares two things by their ranks.
    #[inline]
    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        self.rank(one).cmp(&self.rank(other))
    }
}

/// The ranks of what rows are compared by, each found when it is needed first.
#[derive(Debug, Default)]
pub(super) struct RowRanks {
    texts: OnceLock<Ranks>,
    short_names: OnceLock<Ranks>,
    names: OnceLock<Ranks>,
    symbols: OnceLock<Ranks>,
}

impl RowRanks {
    /// Returns the ranks of texts.
    pub(super) fn texts(&self, texts: &TextInterner) -> &Ranks {
        let text = |number: usize| texts.get(number as u32);
        self.texts.get_or_init(|| Ranks::new(texts.len(), |one, other| text(one).cmp(text(other))))
    }

    /// Returns the ranks of the short names of `dsos` DSOs at most.
    pub(super) fn short_names(&self, named: &FunctionTable, dsos: usize) -> &Ranks {
        let name = |number: usize| named.short_name(number as u32);
        self.short_names.get_or_init(|| Ranks::new(dsos, |one, other| name(one).cmp(name(other))))
    }

    /// Returns the ranks of symbols by their names.
    pub(super) fn names(&self, named: &FunctionTable) -> &Ranks {
        let symbols = named.symbols();
        let name = |number: usize| symbols.get(number).map(|it| (&it.name, it.guess));
        let compare = |one: usize, other: usize| name(one).cmp(&name(other));
        self.names.get_or_init(|| Ranks::new(symbols.len(), compare))
    }

    /// Returns the ranks of symbols by the names of their files, and by their addresses there.
    ///
    /// perf: `sort__sym_cmp`, `tools/perf/util/sort.c`.
    pub(super) fn symbols(&self, named: &FunctionTable) -> &Ranks {
        let symbols = named.symbols();
        let compare = |one: &Symbol, other: &Symbol| {
            let by_file = named.short_name(one.dso).cmp(named.short_name(other.dso));
            by_file
                .then_with(|| one.start.cast_signed().cmp(&other.start.cast_signed()))
                .then_with(|| (&one.name, one.guess).cmp(&(&other.name, other.guess)))
        };
        let compare = |one: usize, other: usize| match (symbols.get(one), symbols.get(other)) {
            (Some(one), Some(other)) => compare(one, other),
            (one, other) => one.is_some().cmp(&other.is_some()),
        };
        self.symbols.get_or_init(|| Ranks::new(symbols.len(), compare))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_rank() {
        let texts = ["b", "", "c", "b", "a"];
        let ranks = Ranks::new(texts.len(), |one, other| texts[one].cmp(texts[other]));
        for (one, a) in (0..).zip(texts) {
            for (other, b) in (0..).zip(texts) {
                assert_eq!(ranks.compare(one, other), a.cmp(b), "{a:?} {b:?}");
            }
            assert_eq!(ranks.compare(one, u32::MAX), Ordering::Less);
        }
        assert_eq!(ranks.compare(5, u32::MAX), Ordering::Equal);
    }
}

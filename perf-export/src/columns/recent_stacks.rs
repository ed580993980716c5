//! Cache of stacks by their frames, so that a stack that recurs is not interned frame by frame.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

use super::heads::ENDS;

/// Number of words of all stacks that are known. Beyond it all are forgotten, so that memory has a limit.
const WORDS: usize = 1 << 21;

/// Number of words before those of a stack: what is known of it, and how often it came again.
const HEAD: usize = 2;

/// Stacks by their frames. A look-up that finds a stack reads two places in memory, which are in no cache of the processor
/// for most stacks. [`perf_profile::table::stack_cache`] takes less memory. With it, an export of stacks that come again
/// would take a sixth longer.
#[derive(Debug, Default)]
pub(super) struct RecentStacks {
    /// The hash of each stack, and its place in `words`.
    places: HashTable<(u64, u32)>,
    /// The stacks, one after the other, and after them the one that was looked up last.
    words: Vec<u64>,
    /// Start of that one, and its hash if it may be added.
    end: usize,
    looked_up: Option<u64>,
    hasher: DefaultHashBuilder,
}

impl RecentStacks {
    /// Returns the number of a stack and how it ends; `None` if it is not known. Then [`add`](Self::add) may add it.
    #[inline]
    pub(super) fn find(
        &mut self,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
    ) -> Option<(u32, StackEnd)> {
        let Self { places, words, .. } = self;
        words.truncate(self.end);
        self.looked_up = None;
        words.extend_from_slice(&[0, 0, end.map_or(0, |end| end as u64 + 1)]);
        for it in stack {
            // The table of frames keeps the DSO, and so its address, until this is emptied.
            words.extend_from_slice(&perf_profile::table::stack_cache::words(it)?);
        }
        let (known, asked) = words.split_at_mut(self.end);
        let asked = asked.get(HEAD..).unwrap_or_default();
        let hash = self.hasher.hash_one(asked);
        let is_asked = |known: &[u64]| match known {
            [facts, _, words @ ..] => words.get(..words_of(*facts)) == Some(asked),
            _ => false,
        };
        let found = places
            .find(hash, |&(other, place)| other == hash && known.get(place as usize..).is_some_and(is_asked));
        if let Some(&(_, place)) = found
            && let Some([facts, samples, ..]) = known.get_mut(place as usize..)
        {
            *samples += 1;
            return Some((*facts as u32, end_of(*facts)));
        }
        self.looked_up = Some(hash);
        None
    }

    /// Adds the stack that was not found. Returns whether all stacks have to be [taken](Self::take).
    pub(super) fn add(&mut self, stack: u32, end: StackEnd) -> bool {
        let Some(hash) = self.looked_up.take() else { return false };
        let (start, count) = (self.end, self.words.len() - self.end - HEAD);
        if let Some(facts) = self.words.get_mut(start) {
            *facts = u64::from(stack) | (end as u64) << 32 | (count as u64) << 35;
        }
        self.places.insert_unique(hash, (hash, start as u32), |&(hash, _)| hash);
        self.end = self.words.len();
        self.end >= WORDS
    }

    /// Forgets all stacks, and returns the number and the end of each, and how often it came again.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u32, StackEnd, u64)> + use<> {
        self.places.clear();
        self.looked_up = None;
        let mut words = core::mem::take(&mut self.words);
        words.truncate(core::mem::take(&mut self.end));
        let mut at = 0;
        core::iter::from_fn(move || {
            let (&facts, &samples) = words.get(at).zip(words.get(at + 1))?;
            at += HEAD + words_of(facts);
            Some((facts as u32, end_of(facts), samples))
        })
    }
}

/// Returns the number of words of a stack.
#[inline]
fn words_of(facts: u64) -> usize {
    (facts >> 35) as usize
}

#[inline]
fn end_of(facts: u64) -> StackEnd {
    let [first, ..] = ENDS;
    ENDS.get((facts >> 32 & 7) as usize).copied().unwrap_or(first)
}

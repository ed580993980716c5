//! Stacks whose numbers are known, so that one that comes again is not numbered frame by frame.

use std::sync::Arc;

use perf_session::{DsoKind, Mapping};
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

use super::heads::ENDS;
use crate::seeded::Seeded;

/// Number of words of all stacks that are known. Beyond it all are forgotten, so that memory has a limit.
const WORDS: usize = 1 << 21;

/// Number of words before those of a stack: what is known of it, and how often it came again.
const HEAD: usize = 2;

/// Stacks by their frames. A look-up that finds a stack reads two places in memory, which are in no cache of the processor
/// for most stacks.
#[derive(Debug, Default)]
pub(super) struct KnownStacks {
    /// Half of a hash, and the place in `words` plus one; 0 where there is none. Twice as many as stacks, a power of two.
    slots: Vec<(u32, u32)>,
    len: usize,
    /// The stacks, one after the other, and after them the one that was looked up last.
    words: Vec<u64>,
    /// Where that one begins, and its hash if it may be added.
    end: usize,
    looked_up: Option<u32>,
    hasher: Seeded,
}

impl KnownStacks {
    /// Returns the number of a stack and how it ends; `None` if it is not known. Then [`add`](Self::add) may add it.
    #[inline]
    pub(super) fn find(
        &mut self,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
    ) -> Option<(u32, StackEnd)> {
        let Self { slots, words, .. } = self;
        words.truncate(self.end);
        self.looked_up = None;
        words.extend_from_slice(&[0, 0, end.map_or(0, |end| end as u64 + 1)]);
        for it in stack {
            let mapping = it.frame.mapping;
            // Other functions are at the addresses of generated code at other times.
            if mapping.is_some_and(|it| it.dso().kind() == DsoKind::Memory && it.is_executable()) {
                return None;
            }
            // The table of frames keeps the DSO, and so its address, until this is emptied.
            let dso = mapping.map_or(0, |mapping| Arc::as_ptr(mapping.dso()) as usize as u64);
            let offset = mapping.map_or(it.frame.ip, |mapping| mapping.offset_of(it.frame.ip));
            let is_executable = mapping.is_some_and(Mapping::is_executable);
            let flags =
                u64::from(it.frame.mode.0) | u64::from(it.is_caller) << 8 | u64::from(is_executable) << 9;
            words.extend_from_slice(&[dso ^ flags << 48, offset]);
        }
        let (known, asked) = words.split_at_mut(self.end);
        let asked = asked.get(HEAD..).unwrap_or_default();
        let hash = (self.hasher.hash_of_words(asked) >> 32) as u32;
        let mut at = first(slots, hash);
        while let Some(&(other, place)) = slots.get(at).filter(|(_, place)| *place > 0) {
            if other == hash
                && let Some([facts, samples, rest @ ..]) = known.get_mut(place as usize - 1..)
                && rest.get(..words_of(*facts)) == Some(asked)
            {
                *samples += 1;
                return Some((*facts as u32, end_of(*facts)));
            }
            at = (at + 1) & (slots.len() - 1);
        }
        self.looked_up = Some(hash);
        None
    }

    /// Adds the stack that was not found. Returns whether all stacks have to be [taken](Self::take).
    pub(super) fn add(&mut self, stack: u32, end: StackEnd) -> bool {
        let Some(hash) = self.looked_up.take() else { return false };
        if self.slots.len() <= 2 * self.len {
            self.grow();
        }
        let (start, count) = (self.end, self.words.len() - self.end - HEAD);
        if let Some(facts) = self.words.get_mut(start) {
            *facts = u64::from(stack) | (end as u64) << 32 | (count as u64) << 35;
        }
        put(&mut self.slots, hash, start as u32 + 1);
        self.len += 1;
        self.end = self.words.len();
        self.end >= WORDS
    }

    #[cold]
    fn grow(&mut self) {
        let size = (4 * self.len).next_power_of_two().max(1 << 10);
        let before = core::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (hash, place) in before.into_iter().filter(|(_, place)| *place > 0) {
            put(&mut self.slots, hash, place);
        }
    }

    /// Forgets all stacks, and returns the number and the end of each, and how often it came again.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u32, StackEnd, u64)> + use<> {
        self.slots.clear();
        (self.len, self.looked_up) = (0, None);
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

/// Returns the first slot for a hash.
#[inline]
fn first(slots: &[(u32, u32)], hash: u32) -> usize {
    hash as usize & slots.len().wrapping_sub(1)
}

/// Writes a place into the first empty slot for a hash.
fn put(slots: &mut [(u32, u32)], hash: u32, place: u32) {
    let mut at = first(slots, hash);
    while slots.get(at).is_some_and(|(_, place)| *place > 0) {
        at = (at + 1) & (slots.len() - 1);
    }
    if let Some(slot) = slots.get_mut(at) {
        *slot = (hash, place);
    }
}

//! Stacks whose numbers are known, so that one that comes again is not numbered frame by frame.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use perf_session::{DsoKind, Mapping};
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

/// Number of stacks that are known. A new one takes the place of one with the same hash, so that memory has a limit and no
/// capture can make look-ups slow.
const PLACES: usize = 1 << 17;

/// Stacks by their frames.
#[derive(Debug, Default)]
pub(super) struct KnownStacks {
    places: Vec<Option<KnownStack>>,
    /// The words of the last stack that was looked up, and its place.
    words: Vec<u64>,
    place: usize,
    seed: u64,
}

#[derive(Clone, Debug)]
struct KnownStack {
    words: Box<[u64]>,
    stack: u32,
    end: StackEnd,
}

impl KnownStacks {
    /// Returns the number of a stack and how it ends; `None` if it is not known. Then [`add`](Self::add) may add it.
    #[inline]
    pub(super) fn find(
        &mut self,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
    ) -> Option<(u32, StackEnd)> {
        self.words.clear();
        self.words.push(end.map_or(0, |end| end as u64 + 1));
        for it in stack {
            let mapping = it.frame.mapping;
            // Other functions are at the addresses of generated code at other times.
            if mapping.is_some_and(|it| it.dso().kind() == DsoKind::Memory && it.is_executable()) {
                self.words.clear();
                return None;
            }
            // The table of frames keeps the DSO, and so its address, until this is emptied.
            let dso = mapping.map_or(0, |mapping| Arc::as_ptr(mapping.dso()) as usize as u64);
            let offset = mapping.map_or(it.frame.ip, |mapping| mapping.offset_of(it.frame.ip));
            let is_executable = mapping.is_some_and(Mapping::is_executable);
            let flags =
                u64::from(it.frame.mode.0) | u64::from(it.is_caller) << 8 | u64::from(is_executable) << 9;
            self.words.extend([dso ^ flags << 48, offset]);
        }
        if self.places.is_empty() {
            self.seed = RandomState::new().hash_one(0);
            self.places.resize(PLACES, None);
        }
        let hash = self.words.iter().fold(self.seed, |hash, &word| {
            let product = u128::from(hash ^ word) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
            (product as u64) ^ (product >> 64) as u64
        });
        self.place = hash as usize % PLACES;
        let known = self.places.get(self.place)?.as_ref()?;
        (*known.words == *self.words).then_some((known.stack, known.end))
    }

    /// Adds the stack that was not found.
    pub(super) fn add(&mut self, stack: u32, end: StackEnd) {
        if self.words.is_empty() {
            return;
        }
        if let Some(place) = self.places.get_mut(self.place) {
            *place = Some(KnownStack { words: self.words.as_slice().into(), stack, end });
        }
    }

    /// Forgets all stacks.
    pub(super) fn clear(&mut self) {
        self.places.fill(None);
    }
}

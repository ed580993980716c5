//! Stacks that came before, so that one that comes again is not numbered frame by frame.

use core::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use perf_session::Mapping;
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

use crate::pending_end::PendingEnd;
use crate::table::frames::{FrameTable, flags, is_generated};

/// The numbers of stacks by their hashes. What the frames of a stack are is not kept twice: a look-up compares them with
/// those of the tree.
#[derive(Debug, Default)]
pub struct StackCache {
    table: HashTable<HashedStack>,
    hasher: DefaultHashBuilder,
}

/// A stack that came before.
#[derive(Debug)]
struct HashedStack {
    hash: u64,
    stack: u32,
    /// How the stack ends, as it was given, and as it is counted.
    given: Option<StackEnd>,
    end: PendingEnd,
}

/// Returns a frame as two words: the DSO with what kind of frame it is, and the offset. All frames with other words have other
/// numbers as long as the DSO lives. `None` for generated code, where other functions are at other times.
#[inline]
pub fn words(it: &StackFrame<'_>) -> Option<[u64; 2]> {
    let mapping = it.frame.mapping;
    if mapping.is_some_and(is_generated) {
        return None;
    }
    let dso = mapping.map_or(0, |mapping| Arc::as_ptr(mapping.dso()) as usize as u64);
    let offset = mapping.map_or(it.frame.ip, |mapping| mapping.offset_of(it.frame.ip));
    let is_executable = mapping.is_some_and(Mapping::is_executable);
    Some([dso ^ flags(it.frame.mode, it.is_caller, is_executable, it.guess()) << 48, offset])
}

impl StackCache {
    /// Returns the hash of a stack; `None` of one that has generated code.
    #[inline]
    pub fn hash(&self, stack: &[StackFrame<'_>]) -> Option<u64> {
        let mut hasher = self.hasher.build_hasher();
        let mut last = 0;
        for it in stack {
            let [file, offset] = words(it)?;
            // Most frames are in the file of the frame before.
            if file != last {
                hasher.write_u64(file);
                last = file;
            }
            hasher.write_u64(offset);
        }
        Some(hasher.finish())
    }

    /// Returns the number of a stack, and how it ends; `None` if it is not known. `hash` is that of the stack. `numbers_of`
    /// returns the frames of a stack that was added, innermost first.
    #[inline]
    pub fn find<I: Iterator<Item = u32>>(
        &self,
        hash: u64,
        stack: &[StackFrame<'_>],
        given: Option<StackEnd>,
        frames: &mut FrameTable,
        numbers_of: impl Fn(u32) -> I,
    ) -> Option<(u32, PendingEnd)> {
        let mut is_elsewhere = false;
        let found = self.table.find(hash, |known| {
            if known.hash != hash || known.given != given {
                return false;
            }
            is_elsewhere = false;
            let mut numbers = numbers_of(known.stack);
            let mut is_next = |it: &StackFrame<'_>| {
                let Some(place) = numbers.next().and_then(|number| frames.location(number)) else {
                    return false;
                };
                is_elsewhere |= place.ip != it.frame.ip;
                frames.is_at(place, it)
            };
            stack.iter().all(&mut is_next) && numbers.next().is_none()
        })?;
        if is_elsewhere {
            numbers_of(found.stack).zip(stack).for_each(|(number, it)| frames.see(number, it.frame.ip));
        }
        Some((found.stack, found.end))
    }

    /// Adds a stack that was not found.
    pub fn add(&mut self, hash: u64, stack: u32, given: Option<StackEnd>, end: PendingEnd) {
        self.table.insert_unique(hash, HashedStack { hash, stack, given, end }, |known| known.hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::record::CpuMode;
    use perf_session::Frame;
    use perf_symbol::unwind::FrameSource;

    /// Else a capture could have any number of stacks with one hash.
    #[test]
    fn frames_of_all_kinds_have_hashes_of_their_own() {
        let known = StackCache::default();
        let hash = |ip, mode, is_caller| {
            let frame = Frame { ip, mode, mapping: None };
            known.hash(&[StackFrame { frame, is_caller, source: FrameSource::Chain }])
        };
        let user = hash(1, CpuMode::USER, false);
        assert_eq!(hash(1, CpuMode::USER, false), user);
        assert_ne!(hash(2, CpuMode::USER, false), user);
        assert_ne!(hash(1, CpuMode::KERNEL, false), user);
        assert_ne!(hash(1, CpuMode::USER, true), user);
    }
}

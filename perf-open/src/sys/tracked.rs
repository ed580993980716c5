//! The words of a mapping as loom sees them, in the test of all interleavings.
//!
//! loom knows only its own atomics and cells. So each word has an atomic, which is loaded and stored in place of the
//! memory, and a cell, which is accessed whenever a slice of the word is created and whenever the word is written. loom
//! reports an access to a cell that no release and acquire orders after the accesses of other threads.

use alloc::collections::BTreeMap;
use core::mem::offset_of;

use loom::cell::UnsafeCell;
use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::MmapPage;

use super::sync::AtomicU64;

type Page = MmapPage<NativeEndian>;

/// The words of a mapping, by offset. Of a control page, only those that rings use.
#[derive(Debug, Default)]
pub(super) struct TrackedWords(BTreeMap<usize, TrackedWord>);

#[derive(Debug)]
struct TrackedWord {
    atomic: AtomicU64,
    /// Stands for the bytes of the word in slices.
    in_slices: UnsafeCell<()>,
}

impl TrackedWords {
    /// Returns the words of `len` zeroed bytes: of an area, or of a control page of `page` bytes and the area after it.
    pub(super) fn of_heap(len: usize, page: usize) -> Self {
        let positions = offset_of!(Page, data_head)..size_of::<Page>();
        let claims = page - 16..page;
        let offsets: Vec<usize> = if len > page {
            positions.chain(claims).chain(page..len).step_by(8).collect()
        } else {
            (0..len).step_by(8).collect()
        };
        let word = || TrackedWord { atomic: AtomicU64::new(0), in_slices: UnsafeCell::new(()) };
        Self(offsets.into_iter().map(|at| (at, word())).collect())
    }

    fn word(&self, at: usize) -> &TrackedWord {
        self.0.get(&at).unwrap_or_else(|| panic!("no ring uses the word at {at}"))
    }

    /// Returns the atomic of the word at `at`.
    pub(super) fn atomic(&self, at: usize) -> &AtomicU64 {
        &self.word(at).atomic
    }

    /// Notes that the word at `at` is written.
    pub(super) fn write(&self, at: usize) {
        self.word(at).in_slices.with_mut(|_| ());
    }

    /// Notes that a slice of the `len` bytes at `at` is created.
    pub(super) fn read(&self, at: usize, len: usize) {
        (at..at + len).step_by(8).for_each(|at| self.word(at).in_slices.with(|_| ()));
    }
}

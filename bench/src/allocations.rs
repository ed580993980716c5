//! Counts allocations, and the peak of allocated bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system allocator with counters.
///
/// The counters are updated without a lock, because a lock would slow down the contestants that allocate.
/// Contestants run on one thread; a second thread can only make a counter miss an update.
#[derive(Debug)]
pub(crate) struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn allocated(bytes: usize) {
    ALLOCATIONS.store(ALLOCATIONS.load(Relaxed).wrapping_add(1), Relaxed);
    let live = LIVE.load(Relaxed).wrapping_add(bytes);
    LIVE.store(live, Relaxed);
    if live > PEAK.load(Relaxed) {
        PEAK.store(live, Relaxed);
    }
}

fn freed(bytes: usize) {
    LIVE.store(LIVE.load(Relaxed).wrapping_sub(bytes), Relaxed);
}

// SAFETY: every call is passed to the system allocator unchanged; counting does not access the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller fulfils the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the system allocator returned `at` for this layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(size);
        // SAFETY: the system allocator returned `at` for this layout, and the caller guarantees
        // that `size` is valid.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The allocations of a piece of work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocations {
    /// Number of allocations.
    pub(crate) count: usize,
    /// Peak of allocated bytes, in addition to those that were allocated before.
    pub(crate) peak: usize,
}

/// Does the work; returns its result and its allocations.
pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Allocations) {
    let (count, live) = (ALLOCATIONS.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    let done = work();
    let count = ALLOCATIONS.load(Relaxed).wrapping_sub(count);
    (done, Allocations { count, peak: PEAK.load(Relaxed).saturating_sub(live) })
}

//! What is allocated: how often, and how much at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counted.
///
/// Contestants run on one thread: counts are read, changed and stored without a lock, which would cost those that
/// allocate more than the counting is worth. Another thread may lose a count, nothing else.
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

// SAFETY: every call goes on to the system's allocator as it came; counting does not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps to the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: `at` came from the system's allocator with this layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(size);
        // SAFETY: `at` came from the system's allocator with this layout, and the caller vouches for `size`.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What a piece of work allocated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocations {
    /// How often.
    pub(crate) count: usize,
    /// Bytes at once at most, beyond what was there before.
    pub(crate) peak: usize,
}

/// Does the work and tells what it allocated.
pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Allocations) {
    let (count, live) = (ALLOCATIONS.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    let done = work();
    let count = ALLOCATIONS.load(Relaxed).wrapping_sub(count);
    (done, Allocations { count, peak: PEAK.load(Relaxed).saturating_sub(live) })
}

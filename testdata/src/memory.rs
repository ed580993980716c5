//! The system's allocator, with counts for each thread, because the test harness has threads of its own.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: testdata::memory::Counting = testdata::memory::Counting;
//!
//! let (vec, used) = testdata::memory::measure(|| vec![0_u8; 1000]);
//! assert_eq!((vec.len(), used.peak, used.calls), (1000, 1000, 1));
//! ```

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

/// Maximum number of live bytes of a thread, so that excessive use ends the test and not the machine.
const MOST: usize = 1 << 30;

/// The allocator that a test program sets as its global one.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to `System`, or fails as an allocator may; counting neither allocates nor
// unwinds, because the counters are constants without destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get().saturating_add(layout.size());
        if live > MOST {
            return core::ptr::null_mut();
        }
        LIVE.set(live);
        PEAK.set(PEAK.get().max(live));
        CALLS.set(CALLS.get().saturating_add(1));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // Memory that another thread allocated was not counted here.
        LIVE.set(LIVE.get().saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` is from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The memory that a function used on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// The most bytes that were live at once. Growth of a block counts the old and the new one.
    pub peak: usize,
    /// The number of allocations.
    pub calls: usize,
}

/// Returns the result of `run` and the memory that it used. All is 0 if [`Counting`] is not the global allocator.
pub fn measure<T>(run: impl FnOnce() -> T) -> (T, Used) {
    let (before, calls) = (LIVE.get(), CALLS.get());
    PEAK.set(before);
    let value = run();
    (value, Used { peak: PEAK.get() - before, calls: CALLS.get() - calls })
}

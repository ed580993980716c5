//! The system's allocator, which counts for each thread what is live.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

/// Bytes that a thread may have live at all, so that what would take all memory ends the test and not the machine.
const MOST: usize = 1 << 30;

struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to `System` as it is, or fails as an allocator may; counting neither allocates nor unwinds, as
// the counters are constants without destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get().saturating_add(layout.size());
        if live > MOST {
            return core::ptr::null_mut();
        }
        LIVE.set(live);
        PEAK.set(PEAK.get().max(live));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // What another thread allocated was not counted here.
        LIVE.set(LIVE.get().saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` is from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `run` gives, and the most bytes that it had live at once. Growing a block counts the old and the new one.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let value = run();
    (value, PEAK.get() - before)
}

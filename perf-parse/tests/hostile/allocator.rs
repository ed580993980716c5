//! The system's allocator, with a count of the live bytes of each thread.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

/// Maximum number of live bytes of a thread, so that excessive use ends the test and not the machine.
const MOST: usize = 1 << 30;

struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
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

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the result of `run` and the peak of its live bytes. Growth of a block counts the old and the new one.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let value = run();
    (value, PEAK.get() - before)
}

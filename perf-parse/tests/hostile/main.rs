//! The guarantees of SECURITY.md for hostile input, tested with captures that are truncated, mutated or made up: no
//! panic, no endless loop, no memory out of proportion.
//!
//! A separate test binary, because its allocator counts.

#![cfg(feature = "std")]

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
mod bombs;
mod captures;
mod drive;
mod fields;
mod kinds;
mod mutations;
mod worst;

use testdata::memory::{Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the result of `run` and the peak of its live bytes.
fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let (value, used) = measure(run);
    (value, used.peak)
}

//! Written captures: read back, compared with perf's own, and read by perf.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what a test does not expect fails it"
)]

extern crate alloc;

mod captures;
mod common;
mod features;
mod pipe;
mod refused;
mod round_trip;
#[cfg(feature = "zstd")]
mod zstd;

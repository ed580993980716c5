//! Written captures: read back, compared with perf's own, and read by perf.

extern crate alloc;

mod captures;
mod edit;
mod features;
mod merge;
mod pipe;
mod refused;
mod round_trip;
#[cfg(feature = "zstd")]
mod zstd;

//! The installed perf reads captures written here, and the tracepoints of the running kernel are parsed. On a machine
//! with neither, a test is ignored, with the reason.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "what a test does not expect fails it"
)]

#[allow(dead_code, reason = "shared with the tests that read what is written themselves")]
#[path = "../file_writer/common.rs"]
mod common;
mod perf;
mod tracepoints;
#[cfg(feature = "zstd")]
mod zstd;

fn main() -> std::process::ExitCode {
    needs::run(&[
        perf::TESTS,
        perf::files::TESTS,
        perf::pipes::TESTS,
        tracepoints::TESTS,
        #[cfg(feature = "zstd")]
        zstd::TESTS,
    ])
}

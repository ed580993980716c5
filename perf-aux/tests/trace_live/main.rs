//! The traces of captures, compared with the perf of this machine.

#[allow(dead_code, reason = "the program `trace` makes more kinds of records")]
#[path = "../trace/capture.rs"]
mod capture;
mod perf;

use std::process::ExitCode;

fn main() -> ExitCode {
    needs::run(&[perf::TESTS])
}

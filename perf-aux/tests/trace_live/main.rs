//! The traces of captures, compared with the perf of this machine.

#[path = "../trace/capture.rs"]
mod capture;
mod perf;

use std::process::ExitCode;

fn main() -> ExitCode {
    needs::run(&[perf::TESTS])
}

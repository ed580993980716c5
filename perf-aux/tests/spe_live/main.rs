//! The real perf prints the same packets and the same samples of Arm SPE.
//!
//! `perf` is the one in the path, or the one that the variable `SPE_PERF` names. perf 6.1 and perf 7.2 print different
//! texts; another version is taken for 7.2.

mod dump;
mod perf;
mod samples;

use std::process::ExitCode;

fn main() -> ExitCode {
    needs::run(&[dump::TESTS, samples::TESTS])
}

//! Instruction-Based Sampling: raw data, and its text beside that of perf.

mod samples;
mod text;

fn main() -> std::process::ExitCode {
    needs::run(&[samples::TESTS, text::TESTS])
}

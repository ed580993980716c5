//! CoreSight: metadata and its text beside that of perf, frames beside OpenCSD's.

mod formatter;
mod frames;
mod metadata;
mod perf;

fn main() -> std::process::ExitCode {
    needs::run(&[frames::TESTS, metadata::TESTS, perf::TESTS])
}

//! The installed perf reads captures written here, the examples run, and the tracepoints of the running kernel are parsed
//! and printed. On a machine with neither perf nor tracefs, a test is ignored, with the reason.

mod examples;
mod perf;
mod print_fmt;
mod tracepoints;
#[cfg(feature = "zstd")]
mod zstd;

fn main() -> std::process::ExitCode {
    needs::run(&[
        examples::TESTS,
        perf::TESTS,
        perf::files::TESTS,
        perf::pipes::TESTS,
        print_fmt::TESTS,
        tracepoints::TESTS,
        #[cfg(feature = "zstd")]
        zstd::TESTS,
    ])
}

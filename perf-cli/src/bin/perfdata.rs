//! The program `perfdata`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(perf_cli::run(std::env::args_os(), None))
}

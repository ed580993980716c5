//! `perfdata annotate`: on a capture and a program that are written here, and what it says about wrong arguments.

mod arguments;
mod made;
mod text;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[arguments::TESTS, text::TESTS])
}

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `perfdata` in a folder.
fn perfdata(folder: &std::path::Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(args).current_dir(folder).env("TZ", "UTC").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

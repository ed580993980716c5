//! `perfdata annotate`: on a capture and a program that are written here, and what it says about wrong arguments.

mod arguments;
mod text;

use std::path::{Path, PathBuf};
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

/// Returns a folder of the test with a program of three functions, and a capture of it.
fn folder() -> PathBuf {
    let folder = needs::folder();
    testdata::annotated::write(&folder);
    folder
}

/// Runs `perfdata` in a folder.
fn perfdata(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(args).current_dir(folder).env("TZ", "UTC").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

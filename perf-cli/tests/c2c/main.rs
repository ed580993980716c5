//! `perfdata c2c`: against texts of perf 6.1 and 7.2, against the installed perf, and its JSON against its text.

mod arguments;
mod live;
mod texts;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[arguments::TESTS, live::TESTS, texts::TESTS])
}

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `perfdata c2c report` on a file of `testdata`, in which the files of the capture are.
fn c2c(file: &str, args: &[&str]) -> Run {
    let folder = testdata::path("").parent().unwrap().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["c2c", "report", "--symfs"]).arg(&folder).arg(folder.join(file));
    let output = command.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// The capture with memory accesses.
const ACCESSES: &str = "c2c/accesses.data";

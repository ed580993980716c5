//! `perfdata sched`: against texts of perf 6.1 and 7.2, against the installed perf, and its sums against each other.

mod arguments;
mod live;
mod texts;
mod waits;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[arguments::TESTS, live::TESTS, texts::TESTS, waits::TESTS])
}

/// The capture with switches.
const SWITCHES: &str = "sched/switches.data";

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `perfdata sched VERB` on a file of `testdata`; other paths are taken as they are.
fn sched(verb: &str, file: &str, args: &[&str]) -> Run {
    let path = testdata::path("").parent().unwrap().join(file);
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["sched", verb]).arg(path).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs a verb with `--format json`, and returns the document.
fn json(verb: &str, file: &str, args: &[&str]) -> serde_json::Value {
    let run = sched(verb, file, &[&["--format", "json"], args].concat());
    assert_eq!(run.status, 0, "{run:?}");
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

//! `perfdata lock`: against texts of perf 6.1 and 7.2, against the installed perf, and its sums against each other.

mod arguments;
mod live;
mod texts;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[arguments::TESTS, live::TESTS, texts::TESTS])
}

/// The capture with waits for locks of the kernel.
const CONTENTION: &str = "lock/contention.data";

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs perfdata with a verb on a file of `testdata`; other paths are taken as they are. Names are those of the capture's kernel.
fn perfdata(verb: &[&str], file: &str, args: &[&str]) -> Run {
    let folder = testdata::path("").parent().unwrap().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(verb).arg(folder.join(file));
    if file == CONTENTION {
        command.arg("--kallsyms").arg(folder.join("lock/kallsyms"));
    }
    let output = command.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn lock(verb: &str, args: &[&str]) -> Run {
    perfdata(&["lock", verb], CONTENTION, args)
}

/// Runs a verb with `--format json`, and returns the document.
fn json(verb: &str, file: &str, args: &[&str]) -> serde_json::Value {
    let run = perfdata(&["lock", verb], file, &[&["--format", "json"], args].concat());
    assert_eq!(run.status, 0, "{run:?}");
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

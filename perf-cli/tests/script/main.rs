//! `perfdata script`: against the installed perf, which is shown as ignored where there is none; against goldens; its
//! JSON lines against the dump; its call chains; and what it says about wrong arguments.

mod arguments;
mod chains;
mod functions;
mod golden;
mod groups;
mod instructions;
mod json;
mod made;
mod perf;
mod spans;

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    needs::run(&[
        arguments::TESTS,
        chains::TESTS,
        functions::TESTS,
        golden::TESTS,
        groups::TESTS,
        instructions::TESTS,
        json::TESTS,
        perf::TESTS,
        spans::TESTS,
    ])
}

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `perfdata VERB` on a file of `testdata`, such as `captures/plain.data`.
fn perfdata(verb: &str, file: &str, args: &[&str]) -> Run {
    let path = testdata::path("").parent().unwrap().join(file);
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.arg(verb).arg(path).args(args).env("TZ", "UTC").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

//! `perfdata stat` on the machine that runs the tests.
#![cfg(target_os = "linux")]

pub(crate) mod counts;
pub(crate) mod ends;
pub(crate) mod options;
pub(crate) mod perf;
pub(crate) mod recorded;
pub(crate) mod usage;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn stat(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).arg("stat").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Starts a run.
fn spawn(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.arg("stat").args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a line of standard output.
fn line(child: &mut Child) -> (String, impl Read + use<>) {
    first_line(child.stdout.take().unwrap())
}

/// Waits for a line of standard error, where the counts are.
fn counted(child: &mut Child) -> (String, impl Read + use<>) {
    first_line(child.stderr.take().unwrap())
}

fn first_line<R: Read>(out: R) -> (String, impl Read) {
    let mut out = BufReader::new(out);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    (line, out)
}

/// Returns the JSON lines of a run that must succeed.
fn json(args: &[&str]) -> Vec<Value> {
    let run = stat(["--json"].iter().chain(args));
    assert_eq!(run.status, 0, "{run:?}");
    objects(&run.err)
}

/// Returns the objects of a text of JSON lines.
fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// Returns the count of the event at `index`.
fn value(lines: &[Value], index: usize) -> u64 {
    real(&lines[index]) as u64
}

/// Returns the count of an event in its unit.
fn real(line: &Value) -> f64 {
    let value = line["counter-value"].as_str().and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| panic!("{line}"))
}

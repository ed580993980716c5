//! `perfdata stat`, on the machine that runs the tests.
//!
//! What a machine does not allow or have is not tested there, which is said on standard error.
#![cfg(target_os = "linux")]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "what a test does not expect fails it"
)]

#[path = "stat/counts.rs"]
mod counts;
#[path = "stat/ends.rs"]
mod ends;
#[path = "stat/perf.rs"]
mod perf;
#[path = "stat/usage.rs"]
mod usage;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use perf_open::{Builder, Event, Target};
use serde_json::Value;

/// What a run printed, and how it ended.
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

/// Begins a run.
fn spawn(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.arg("stat").args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a line of standard output.
fn line(child: &mut Child) -> (String, impl Read + use<>) {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    (line, out)
}

/// The JSON lines of a run that ends well: the events, and what is at the end.
fn json(args: &[&str]) -> (Vec<Value>, Value) {
    let run = stat(["--json"].iter().chain(args));
    assert_eq!(run.status, 0, "{run:?}");
    let mut lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let totals = lines.pop().unwrap();
    assert!(totals["elapsed_s"].as_f64().unwrap() > 0.0, "{run:?}");
    (lines, totals)
}

/// The count of the event at `index`.
fn value(lines: &[Value], index: usize) -> u64 {
    lines[index]["value"].as_u64().unwrap_or_else(|| panic!("{lines:?}"))
}

/// Whether events of the kernel may be counted on `target`; if not, says that `what` is not tested.
fn may_count(target: &Target<'_>, event: &str, what: &str) -> bool {
    let events = perf_open::event::parse(event).map_err(|error| error.to_string());
    let opened = events.and_then(|groups| {
        let event: Event = groups[0].events[0].clone();
        Builder::new(event).open(target).map_err(|error| error.to_string())
    });
    if let Err(error) = &opened {
        eprintln!("not tested: {what}: {error}");
    }
    opened.is_ok()
}

/// A file made for one test.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stat-{name}"))
}

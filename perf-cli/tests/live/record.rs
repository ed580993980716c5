//! `perfdata record`, live: what it records of programs that run, and what perf says of it.

#![cfg(target_os = "linux")]

pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod output;
pub(crate) mod overwrite;
pub(crate) mod perf;
pub(crate) mod whom;
pub(crate) mod workload;

use core::time::Duration;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Instant;

use serde_json::Value;

/// How long anything may take before it is taken to have failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The name of an event as it is to be recorded here: of user space alone where the kernel may not be.
fn event(name: &str) -> String {
    format!("{name}{}", needs::modifier())
}

/// Options of `record`, with the events as they are to be recorded here.
fn here(options: &[&str]) -> Vec<String> {
    let follows = |at: usize| at.checked_sub(1).map(|before| options[before]);
    let event = |name: &str| match needs::modifier().strip_prefix(':') {
        Some(modifier) if name.contains(':') => format!("{name}{modifier}"),
        _ => event(name),
    };
    let options = options.iter().enumerate();
    options.map(|(at, &it)| if follows(at) == Some("-e") { event(it) } else { it.to_owned() }).collect()
}

fn perfdata() -> Command {
    Command::new(env!("CARGO_BIN_EXE_perfdata"))
}

/// `perfdata record` of a command in `folder`, to its `perf.data`; not started yet.
fn record(folder: &Path, options: &[&str], command: &[String]) -> Command {
    let mut recorder = perfdata();
    recorder.current_dir(folder).arg("record").args(here(options)).arg("--").args(command);
    recorder
}

/// A recording that must succeed, and what was recorded.
fn recorded(folder: &Path, options: &[&str], command: &[String]) -> Dump {
    succeeds(&mut record(folder, &[&["-q"], options].concat(), command));
    let dump = dump(&folder.join("perf.data"));
    assert_eq!((dump.status, &*dump.err), (0, ""), "{options:?}");
    dump
}

/// Runs what must succeed without a word on standard error: what it prints.
fn succeeds(command: &mut Command) -> String {
    let (status, out, err) = run(command);
    assert_eq!((status, &*err), (0, ""), "{command:?}");
    out
}

/// The exit status, and what is printed.
fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code().unwrap_or_else(|| panic!("{command:?}: {status}")), text(&stdout), text(&stderr))
}

/// What `perfdata dump` or `perfdata ring` shows.
struct Dump {
    status: i32,
    err: String,
    header: Value,
    records: Vec<Value>,
}

fn dump(path: &Path) -> Dump {
    shown(perfdata().arg("dump").arg(path))
}

fn shown(command: &mut Command) -> Dump {
    let (status, out, err) = run(command.args(["--format", "jsonl"]));
    let mut lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 1, "{command:?}: {status}: {err}");
    lines.pop();
    let header = lines.remove(0)["header"].take();
    Dump { status, err, header, records: lines }
}

impl Dump {
    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|record| record["type"] == kind).collect()
    }

    fn samples(&self) -> Vec<&Value> {
        self.of_type("SAMPLE").into_iter().map(|record| &record["fields"]).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.header["attrs"].as_array().unwrap().iter().map(|attr| attr["name"].as_str().unwrap()).collect()
    }
}

/// Waits until a condition holds.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that is killed in the end, if it still runs.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Its exit status, once it has ended.
    fn ends(&mut self) -> i32 {
        let mut status = None;
        until("the program ends", || {
            status = self.0.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code()).expect("it was not killed")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether there is a sample in a capture, be it finished or not.
fn has_sample(capture: &Path) -> bool {
    let output =
        perfdata().arg("dump").arg(capture).args(["--type", "SAMPLE", "--limit", "1"]).output().unwrap();
    output.stdout.starts_with(b"0x")
}

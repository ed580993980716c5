//! `perfdata record`, live: what it records of programs that run, and what perf says of it.
//!
//! Where events may not be opened, or there is no perf, the tests that need them say so and pass.

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

extern crate alloc;

#[path = "record/events.rs"]
mod events;
#[path = "record/output.rs"]
mod output;
#[path = "record/overwrite.rs"]
mod overwrite;
#[path = "record/whom.rs"]
mod whom;
#[path = "record/workload.rs"]
mod workload;

use core::time::Duration;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::Instant;

use serde_json::Value;

/// How long anything may take before it is taken to have failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether events may be opened here, of any task and cpu; says what is not tested if not.
fn may_record() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    const CAP_PERFMON: u32 = 38;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let has = |capability: u32| effective & (1 << capability) != 0;
    let is_there = Path::new("/proc/sys/kernel/perf_event_paranoid").exists();
    let may = is_there && (has(CAP_SYS_ADMIN) || has(CAP_PERFMON));
    if !may {
        eprintln!("skipped: without CAP_PERFMON and perf_event_open, no recording is tested");
    }
    may
}

/// Whether a program is there; says what is not tested if not.
fn has(program: &str, what: &str) -> bool {
    let is_there =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: without {program}, {what} cannot be tested");
    }
    is_there
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("record-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

fn perfdata() -> Command {
    Command::new(env!("CARGO_BIN_EXE_perfdata"))
}

/// `perfdata record` of a command in `folder`, to its `perf.data`; not started yet.
fn record(folder: &Path, options: &[&str], command: &[String]) -> Command {
    let mut recorder = perfdata();
    recorder.current_dir(folder).arg("record").args(options).arg("--").args(command);
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

/// The real perf, which does not read a configuration.
fn perf(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut perf = Command::new("perf");
    perf.args(arguments)
        .envs([("PERF_CONFIG", "/dev/null"), ("LC_ALL", "C")])
        .env("HOME", env!("CARGO_TARGET_TMPDIR"));
    perf
}

/// What perf prints of a capture, which it must read; nothing where there is no perf.
fn perf_says(arguments: &[&str], capture: &Path) -> Option<String> {
    if !has("perf", "what it reads") {
        return None;
    }
    let (status, out, err) = run(perf(arguments).arg("-i").arg(capture));
    assert_eq!(status, 0, "{arguments:?}: {err}");
    Some(out)
}

/// Holds our dump of a capture against perf's, field by field.
fn agrees_with_perf(capture: &Path) {
    if !has("perf", "what it says of captures") || !has("python3", "what perf says of captures") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/perf_script_d.py");
    let mut check = Command::new("python3");
    check.arg(script).arg(capture).args(["--perfdata", env!("CARGO_BIN_EXE_perfdata")]);
    check.env("HOME", env!("CARGO_TARGET_TMPDIR"));
    let (status, out, err) = run(&mut check);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains(" 0 differences"), "{out}");
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

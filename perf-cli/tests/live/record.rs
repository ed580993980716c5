//! Live `perfdata record`: recordings of programs that run, and the installed perf on those recordings.

#![cfg(target_os = "linux")]

pub(crate) mod aux_area;
pub(crate) mod bpf;
pub(crate) mod cache;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod kcore;
pub(crate) mod messages;
pub(crate) mod namespaces;
pub(crate) mod observed;
pub(crate) mod output;
pub(crate) mod overwrite;
pub(crate) mod perf;
pub(crate) mod python;
pub(crate) mod requests;
pub(crate) mod synthesized;
pub(crate) mod threads;
pub(crate) mod workload;

use core::time::Duration;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use serde_json::Value;

/// The time after which anything has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the name of an event for this machine: of user space only, if the kernel may not be recorded.
fn event(name: &str) -> String {
    format!("{name}{}", needs::modifier())
}

/// Returns options of `record`, with the events for this machine.
fn here(options: &[&str]) -> Vec<String> {
    let follows = |at: usize| at.checked_sub(1).map(|before| options[before]);
    let event = |name: &str| match needs::modifier().strip_prefix(':') {
        Some(modifier) if name.contains(':') => format!("{name}{modifier}"),
        _ => event(name),
    };
    let options = options.iter().enumerate();
    options.map(|(at, &it)| if follows(at) == Some("-e") { event(it) } else { it.to_owned() }).collect()
}

/// Returns the command `perfdata`, with a home of its own: recordings write to the cache there.
fn perfdata() -> Command {
    let mut perfdata = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    perfdata.env("HOME", needs::home());
    perfdata
}

/// Returns the command `perfdata record` of a command in `folder`, to its `perf.data`; not started yet.
fn record(folder: &Path, options: &[&str], command: &[String]) -> Command {
    let mut recorder = perfdata();
    recorder.current_dir(folder).arg("record").args(here(options)).arg("--").args(command);
    recorder
}

/// What [`in_own_mounts`] needs.
const OWN_MOUNTS: needs::Need = needs::Need::Runs(&["unshare", "-m", "true"]);

/// Returns the command that runs a script of the shell in `folder`, with mounts of its own. `$0` is perfdata, and arguments can
/// be added; not started yet.
fn in_own_mounts(folder: &Path, script: &str) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.current_dir(folder).env("HOME", needs::home());
    unshare.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_perfdata")]);
    unshare
}

/// Makes a recording that must succeed. Returns its dump.
fn recorded(folder: &Path, options: &[&str], command: &[String]) -> Dump {
    succeeds(&mut record(folder, &[&["-q"], options].concat(), command));
    let dump = dump(&folder.join("perf.data"));
    assert_eq!((dump.status, &*dump.err), (0, ""), "{options:?}");
    dump
}

/// Runs a command that must succeed with empty standard error. Returns its output.
fn succeeds(command: &mut Command) -> String {
    let (status, out, err) = run(command);
    assert_eq!((status, &*err), (0, ""), "{command:?}");
    out
}

/// Returns the exit status and the output.
fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code().unwrap_or_else(|| panic!("{command:?}: {status}")), text(&stdout), text(&stderr))
}

/// The output of `perfdata dump` or `perfdata ring`.
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

/// A program that is killed at the end if it still runs.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        assert!(kill(name, &self.0.id().to_string()));
    }

    /// Kills what is left of the process group that the program leads.
    fn kill_group(&self) {
        kill("KILL", &format!("-{}", self.0.id()));
    }

    /// Waits for the program to end. Returns its exit status.
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

/// Sends a signal to a process, or to a group. Returns whether there is one.
fn kill(name: &str, target: &str) -> bool {
    let kill = format!("kill -{name} {target}");
    Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status().unwrap().success()
}

/// Returns whether a capture contains a sample. It may be unfinished.
fn has_sample(capture: &Path) -> bool {
    let output =
        perfdata().arg("dump").arg(capture).args(["--type", "SAMPLE", "--limit", "1"]).output().unwrap();
    output.stdout.starts_with(b"0x")
}

//! The behaviour of the command line: exit statuses, diagnostics, the account, modes, filters, a reader that closes its
//! end.

mod clean;
mod compressed;
mod damage;
mod default;
mod edit;
mod features;
mod filters;
mod greeting;
mod info_json;
#[cfg(unix)]
mod inputs;
mod modes;
mod packets;
mod perf_verbs;
mod provisional;
mod repair;
mod several;
mod shell;
mod time_order;
mod tracepoints;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn perfdata(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn dump(file: &Path, args: &[&str]) -> Run {
    let file = file.as_os_str();
    perfdata(["dump".as_ref(), file].into_iter().chain(args.iter().map(AsRef::as_ref)))
}

/// A dump as JSON lines: exit status, header, records, account.
#[derive(Debug)]
struct Jsonl {
    run: Run,
    records: Vec<Value>,
    account: Value,
}

fn jsonl(file: &Path, args: &[&str]) -> Jsonl {
    let run = dump(file, &[args, &["--format", "jsonl"]].concat());
    let mut lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let account = lines.pop().unwrap()["account"].take();
    assert!(account.is_object() && lines[0]["header"].is_object(), "{run:?}");
    lines.remove(0);
    Jsonl { run, records: lines, account }
}

/// Writes a file for one test.
fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = needs::folder().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Creates an empty folder for one test.
fn scratch_folder(name: &str) -> PathBuf {
    let path = needs::folder().join(name);
    fs::create_dir(&path).unwrap();
    path
}

fn fails(args: &[&str], why: &str) {
    let run = perfdata(args);
    assert_eq!((run.status, &*run.out), (1, ""), "{args:?}: {}", run.err);
    assert!(run.err.contains(why), "{args:?}: {:?} does not say {why:?}", run.err);
}

#[test]
fn a_whole_capture_is_0() {
    let plain = testdata::path("plain.data");
    for verb in ["info", "dump"] {
        let run = perfdata([verb.as_ref(), plain.as_os_str()]);
        assert_eq!((run.status, &*run.err), (0, ""), "{verb}");
        assert!(run.out.lines().count() > 20, "{verb}");
    }
}

#[test]
fn wrong_usage_is_1() {
    let plain = testdata::path("plain.data");
    let plain = plain.to_str().unwrap();
    fails(&[], "Usage: perfdata");
    fails(&["frobnicate", plain], "'frobnicate'");
    fails(&["info"], "<FILE>");
    fails(&["dump"], "<FILE>");
    fails(&["dump", plain, "--frobnicate"], "'--frobnicate'");
    fails(&["dump", plain, "--format", "xml"], "jsonl");
    fails(&["dump", plain, "--limit", "few"], "'few'");
}

/// The commands that `perfdata` alone shows exist, and do what it says.
#[test]
fn without_arguments_the_first_commands_are_shown() {
    let run = perfdata([] as [&str; 0]);
    assert_eq!((run.status, &*run.out), (1, ""));
    let verbs: Vec<&str> = run
        .err
        .lines()
        .filter_map(|line| line.strip_prefix("  perfdata ")?.split_whitespace().next())
        .collect();
    let first = if cfg!(target_os = "linux") { "record" } else { "info" };
    assert_eq!(verbs, [first, "report", "flamegraph"], "{}", run.err);
    assert!(run.err.contains("perfdata --help"), "{}", run.err);
    for verb in verbs {
        assert_eq!(perfdata([verb, "--help"]).status, 0, "{verb}");
    }
    let folder = scratch_folder("first");
    fs::copy(testdata::path("callchain.data"), folder.join("perf.data")).unwrap();
    for verb in ["report", "flamegraph"] {
        let run = Command::new(env!("CARGO_BIN_EXE_perfdata"))
            .arg(verb)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(0), "{verb}: {run:?}");
    }
    assert!(folder.join("flamegraph.html").exists());
}

#[test]
fn what_is_no_capture_is_1() {
    let text = scratch("text", b"no capture, but long enough to be the header of one. ".repeat(3).as_slice());
    let empty = scratch("empty", b"");
    let folder = scratch_folder("folder");
    for verb in ["info", "dump"] {
        fails(&[verb, "no-such-file"], "no-such-file: No such file");
        fails(&[verb, folder.to_str().unwrap()], "/folder/data: No such file");
        fails(&[verb, empty.to_str().unwrap()], "/empty: ");
        fails(&[verb, text.to_str().unwrap()], "/text: 0x0: header.magic: ");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let capture = testdata::path("everything.data");
    for args in [&[][..], &["--format", "jsonl"], &["--fields", "offset,type,stack_user,regs_intr,raw"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
        command.arg("dump").arg(&capture).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let whole = perfdata(command.get_args()).out.len();
        assert!(whole > 1 << 17, "{whole} bytes fit into the pipe, the program would not notice");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{args:?}");
        assert!(line.ends_with('\n'), "{args:?}");
    }
}

#[test]
fn help_has_an_example_of_every_verb() {
    let whole = perfdata(["--help"]);
    assert_eq!((whole.status, &*whole.err), (0, ""));
    assert!(whole.out.contains("Exit status: 0"));
    let commands = whole.out.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let verbs: Vec<_> = commands.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(verbs.contains(&"info") && verbs.contains(&"dump"), "{verbs:?}");
    let examples = whole.out.split("Examples:\n").nth(1).unwrap();
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        let example = |line: &str| {
            let rest = line.split(&format!("perfdata {verb}")).nth(1);
            line.starts_with("  ") && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        assert!(examples.lines().any(example), "{verb}: {examples}");
        let help = perfdata([verb, "--help"]);
        assert_eq!((help.status, &*help.err), (0, ""), "{verb}");
        let examples = help.out.split("Examples:\n").nth(1).unwrap_or_default();
        assert!(examples.lines().any(example), "{verb}: {}", help.out);
    }
}

#[test]
fn version_is_that_of_the_package() {
    let version = perfdata(["--version"]);
    assert_eq!((version.status, &*version.err), (0, ""));
    assert_eq!(version.out, concat!("perfdata ", env!("CARGO_PKG_VERSION"), "\n"));
}

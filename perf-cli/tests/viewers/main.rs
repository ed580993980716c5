//! `perfdata export` for viewers of profiles: the sums of what is written against those of `perfdata report`, the
//! tables against each other, hostile names, and the same bytes on any number of threads.

mod firefox;
#[path = "../report/made.rs"]
#[allow(dead_code, reason = "the tests of reports use more of it")]
mod made;
mod speedscope;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use perf_cli::Streams;
use serde_json::Value;

/// What a run wrote to one stream.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs the program; returns the exit status, the output and the errors.
fn run(args: &[&str]) -> (u8, String, String) {
    let (out, errors) = (Written::default(), Written::default());
    let streams = Streams {
        input: Box::new(io::empty()),
        output: Box::new(out.clone()),
        errors: Box::new(errors.clone()),
    };
    let args = core::iter::once("perfdata").chain(args.iter().copied()).map(Into::into);
    let status = perf_cli::run(args, Some(streams));
    (status, out.text(), errors.text())
}

/// Exports captures without the files of this machine.
fn export(to: &str, files: &[&Path], args: &[&str]) -> (u8, String, String) {
    let files = files.iter().map(|path| path.to_str().unwrap());
    let all: Vec<_> = ["export", "--to", to, "-o", "-", "--symfs", "/nonexistent"]
        .into_iter()
        .chain(args.iter().copied())
        .chain(files)
        .collect();
    run(&all)
}

fn exported(to: &str, file: &Path) -> Value {
    let (status, out, errors) = export(to, &[file], &[]);
    assert!(status == 0 || status == 3, "{}: {errors}", file.display());
    serde_json::from_str(&out).unwrap()
}

/// The samples and periods of each event, by its name.
type Sums = BTreeMap<String, (u64, u64)>;

fn add(sums: &mut Sums, name: &str, samples: u64, period: u64) {
    let sum = sums.entry(name.to_owned()).or_default();
    *sum = (sum.0 + samples, sum.1.wrapping_add(period));
}

/// Returns the sums of a report; `None` for what is no capture.
fn reported(file: &Path) -> Option<Sums> {
    let args = [
        "report",
        "--format",
        "json",
        "--no-branch-stack",
        "--no-group",
        "--no-symbols",
        "--sort",
        "pid",
        "-g",
        "none",
    ];
    let (status, out, _) = run(&[&args[..], &["--no-children", file.to_str().unwrap()]].concat());
    if status != 0 && status != 3 {
        return None;
    }
    let mut sums = Sums::new();
    let document: Value = serde_json::from_str(&out).unwrap();
    for table in list(&document["tables"]) {
        let total = &table["totals"][0];
        let (samples, period) = (number(&total["samples"]), number(&total["period"]));
        if samples > 0 {
            add(&mut sums, text(&table["name"]), samples, period);
        }
    }
    Some(sums)
}

/// Returns all captures that can be reported, and the sums of their reports.
fn captures() -> Vec<(PathBuf, Sums)> {
    let all: Vec<_> =
        testdata::captures().into_iter().filter_map(|path| Some((path.clone(), reported(&path)?))).collect();
    assert!(all.iter().filter(|(_, sums)| !sums.is_empty()).count() > 30, "{}", all.len());
    all
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// A name with what JSON escapes, what a terminal obeys, and what turns text around; as perfdata shows it.
const HOSTILE: (&str, &str) = ("a\"\\\n\u{1b}[1m\u{202e}", "a\"\\\\n\\u{1b}[1m\\u{202e}");

fn same_bytes(to: &str) {
    for name in ["callchain.data", "dwarf.data", "group_read.data", "tasks.data"] {
        let path = testdata::path(name);
        let of = |threads| export(to, &[&path], &["--threads", threads]).1;
        let first = of("1");
        assert!(first.len() > 200, "{name}");
        assert!(first == of("4") && first == of("1"), "{to}: {name}");
    }
}

//! `perfdata export` to the formats that are protobuf: pprof, OTLP and Perfetto's. The messages are read here by their field numbers,
//! without the code that writes them.

mod made;
mod otlp;
mod perfetto;
mod pprof;
mod wire;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Runs `perfdata`.
fn perfdata(args: &[&dyn AsRef<OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(args.iter().map(AsRef::as_ref)).output().unwrap()
}

/// Exports captures to standard output.
fn export(to: &str, captures: &[&Path], args: &[&str]) -> Vec<u8> {
    let mut words: Vec<&dyn AsRef<OsStr>> = vec![&"export", &"--to", &to, &"-o", &"-"];
    words.extend(captures.iter().map(|it| it as &dyn AsRef<OsStr>));
    words.extend(args.iter().map(|it| it as &dyn AsRef<OsStr>));
    let output = perfdata(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    // 3: the capture is damaged, and was read.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{captures:?}: {said}");
    output.stdout
}

/// What a report counts: the number of samples and the sum of the periods of each event.
type Totals = BTreeMap<String, (u64, u64)>;

/// Returns what the report of a capture counts; `None` if it is no capture with samples.
fn totals(capture: &Path) -> Option<Totals> {
    let words = [
        "report",
        "--no-group",
        "--no-branch-stack",
        "--format",
        "json",
        "--sort",
        "pid",
        "-g",
        "none",
        "--no-symbols",
    ];
    let mut words: Vec<&dyn AsRef<OsStr>> = words.iter().map(|it| it as &dyn AsRef<OsStr>).collect();
    words.push(&capture);
    let output = perfdata(&words);
    if !matches!(output.status.code(), Some(0 | 3)) {
        return None;
    }
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut totals = Totals::new();
    for table in document["tables"].as_array().unwrap() {
        let of = &table["totals"][0];
        let (samples, period) = totals.entry(table["name"].as_str().unwrap().to_owned()).or_default();
        *samples += of["samples"].as_u64().unwrap();
        *period = period.wrapping_add(of["period"].as_u64().unwrap());
    }
    totals.retain(|_, (samples, _)| *samples > 0);
    Some(totals)
}

/// Returns all captures with samples, and what their reports count.
fn captures() -> Vec<(PathBuf, Totals)> {
    let found =
        testdata::captures().into_iter().filter_map(|path| totals(&path).map(|totals| (path, totals)));
    let found: Vec<_> = found.filter(|(_, totals)| !totals.is_empty()).collect();
    assert!(found.len() > 80, "{}", found.len());
    found
}

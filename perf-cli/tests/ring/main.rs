//! `perfdata ring`: recorded rings of `testdata/rings`, and handmade ones for other cases.

mod attr;
mod aux_area;
mod damage;
mod made;
mod options;
mod output;
mod several;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The offset of `data_head` in the control page; the fields after it follow.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
const DATA_OFFSET: usize = 1040;
const DATA_SIZE: usize = 1048;
/// The size of the control page of every recorded ring.
const PAGE: usize = 4096;

/// The output and exit status of a run.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `perfdata ring` in the folder of the recorded rings.
fn ring(args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.current_dir(folder()).arg("ring").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// The output of `perfdata ring` as JSON lines.
#[derive(Debug)]
struct Jsonl {
    status: i32,
    err: String,
    header: Value,
    records: Vec<Value>,
    account: Value,
}

fn jsonl(args: &[&str]) -> Jsonl {
    let Run { status, out, err } = ring(&[args, &["--format", "jsonl"]].concat());
    let mut lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 1, "{args:?}: {status}: {err}");
    let account = lines.pop().unwrap()["account"].take();
    let header = lines.remove(0)["header"].take();
    Jsonl { status, err, header, records: lines, account }
}

/// Returns the records of rings without errors. A torn oldest record is not an error.
fn clean(args: &[&str]) -> Vec<Value> {
    let Jsonl { status, err, records, .. } = jsonl(args);
    let faults: Vec<_> = err.lines().filter(|line| !line.contains("the end of the oldest record")).collect();
    assert!((status, faults.is_empty()) == (0, true), "{args:?}: {status}: {err}");
    records
}

fn fails(args: &[&str], why: &str) {
    let Run { status, out, err } = ring(args);
    assert_eq!((status, &*out), (1, ""), "{args:?}: {err}");
    assert!(err.contains(why), "{args:?}: {err:?} does not say {why:?}");
}

/// Returns the folder of the recorded rings.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/rings")
}

/// Returns the bytes of a recorded ring.
fn recorded(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

/// Writes a file for one test. Returns its path.
fn scratch(name: &str, bytes: &[u8]) -> String {
    let path = needs::folder().join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

/// Returns a field of the control page of a little-endian dump.
fn word(dump: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(dump[at..at + 8].try_into().unwrap())
}

fn number(record: &Value, field: &str) -> u64 {
    record[field].as_u64().unwrap()
}

fn offsets(records: &[Value]) -> Vec<u64> {
    records.iter().map(|record| number(record, "offset")).collect()
}

/// Returns the records without their offsets.
fn unplaced(mut records: Vec<Value>) -> Vec<Value> {
    for record in &mut records {
        record.as_object_mut().unwrap().remove("offset");
    }
    records
}

/// Returns the time of a record.
fn time(record: &Value) -> u64 {
    let own = if record["type"] == "SAMPLE" { &record["fields"] } else { &record["sample_id"] };
    number(own, "time")
}

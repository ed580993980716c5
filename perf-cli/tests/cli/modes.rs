//! Captures in all modes: pipes, folders, standard input. Also tests the order of the records.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Jsonl, Run, dump, fails, jsonl, perfdata, scratch_folder};

/// Captures of every mode, compressed and not.
const EVERY_MODE: [&str; 5] =
    ["plain.data", "touch.zstd.data", "buildid.pipe.data", "tracing.pipe.data", "compressed.zstd.pipe.data"];

/// Returns the header line of a dump.
fn header(dumped: &Jsonl) -> Value {
    let line: Value = serde_json::from_str(dumped.run.out.lines().next().unwrap()).unwrap();
    line["header"].clone()
}

#[test]
fn pipes_decode() {
    for name in ["buildid.pipe.data", "tracing.pipe.data", "compressed.zstd.pipe.data"] {
        let path = testdata::path(name);
        let dumped = jsonl(&path, &[]);
        assert_eq!((dumped.run.status, &*dumped.run.err), (0, ""), "{name}");
        let header = header(&dumped);
        assert_eq!(header["mode"], "pipe", "{name}");
        assert!(!header["attrs"].as_array().unwrap().is_empty(), "{name}");
        assert!(header["features"]["HOSTNAME"].is_string(), "{name}");
        assert_eq!(dumped.account["bytes"], fs::metadata(&path).unwrap().len() - 16, "{name}");
        let samples: Vec<_> = dumped.records.iter().filter(|record| record["type"] == "SAMPLE").collect();
        assert!(!samples.is_empty(), "{name}");
        assert!(samples.iter().all(|sample| sample["fields"]["ip"].is_u64()), "{name}");
        let shown = perfdata(["info".as_ref(), path.as_os_str()]);
        assert_eq!((shown.status, &*shown.err), (0, ""), "{name}");
        assert!(shown.out.contains("pipe mode"), "{name}: {}", shown.out);
    }
}

/// Runs perfdata with a file as standard input, or with a pipe that contains its bytes.
fn from_stdin(path: &Path, is_pipe: bool, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = if is_pipe {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = fs::read(path).unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        output
    } else {
        command.stdin(File::open(path).unwrap()).output().unwrap()
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn standard_input_is_as_a_file() {
    for name in EVERY_MODE {
        let path = testdata::path(name);
        for format in ["text", "jsonl"] {
            for order in ["file", "time"] {
                let by_path = dump(&path, &["--format", format, "--order", order]);
                assert_eq!((by_path.status, &*by_path.err), (0, ""), "{name}");
                let args = ["dump", "-", "--format", format, "--order", order];
                for is_pipe in [false, true] {
                    let run = from_stdin(&path, is_pipe, &args);
                    assert_eq!((run.status, &*run.err), (0, ""), "{name} {args:?}");
                    assert!(run.out == by_path.out, "{name} {args:?}: from a pipe: {is_pipe}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_capture_on_standard_input_is_1() {
    for bytes in [&b""[..], b"PERFILE2", b"no capture, but long enough to be the header of one"] {
        let path = crate::scratch("stdin", bytes);
        for is_pipe in [false, true] {
            let run = from_stdin(&path, is_pipe, &["dump", "-"]);
            assert_eq!((run.status, &*run.out), (1, ""), "{bytes:?}: {}", run.err);
            assert!(run.err.starts_with("perfdata: standard input: 0x"), "{bytes:?}: {}", run.err);
        }
    }
}

fn in_data_file(record: &Value) -> u64 {
    record.get("data_file").map_or(0, |file| file.as_u64().unwrap())
}

#[test]
fn a_folder_is_its_files_in_turn() {
    let folder = testdata::path("threads.dir");
    let dumped = jsonl(&folder, &[]);
    assert_eq!((dumped.run.status, &*dumped.run.err), (0, ""));
    let main = jsonl(&folder.join("data"), &[]);
    assert_eq!(header(&dumped), header(&main));
    // `data` does not list the other files, so it contains only its own records.
    let in_file = |file| dumped.records.iter().filter(move |record| in_data_file(record) == file);
    assert!(in_file(0).eq(&main.records));
    assert!(dumped.records.is_sorted_by_key(in_data_file));
    let mut bytes = main.account["bytes"].as_u64().unwrap();
    for (file, name) in [(1, "data.0"), (2, "data.1")] {
        let mut offset = 0;
        for record in in_file(file) {
            assert_eq!(record["offset"], offset, "{name}");
            offset += record["size"].as_u64().unwrap();
        }
        assert_eq!(offset, fs::metadata(folder.join(name)).unwrap().len(), "{name}");
        bytes += offset;
    }
    assert_eq!(dumped.account["bytes"], bytes);
    assert_eq!(dumped.account["records"], dumped.records.len());
    assert!(in_file(1).chain(in_file(2)).any(|record| record["type"] == "SAMPLE"));
}

/// `data.10` comes after `data.2`, and files with another name are ignored.
#[test]
fn the_files_of_a_folder_go_by_number() {
    let from = testdata::path("threads.dir");
    let folder = scratch_folder("numbers.dir");
    for (name, copy) in [("data", "data"), ("data.0", "data.10"), ("data.1", "data.2"), ("data", "other")] {
        fs::copy(from.join(name), folder.join(copy)).unwrap();
    }
    let (expected, actual) = (jsonl(&from, &[]), jsonl(&folder, &[]));
    let of = |dumped: &Jsonl, file| -> Vec<_> {
        let records = dumped.records.iter().filter(|record| in_data_file(record) == file);
        records.map(|record| (record["offset"].clone(), record["fields"].clone())).collect()
    };
    for (file, from) in [(0, 0), (1, 2), (2, 1)] {
        assert!(!of(&expected, from).is_empty());
        assert_eq!(of(&actual, file), of(&expected, from));
    }
    assert_eq!(actual.account, expected.account);
}

/// Returns the time of a record. As in perf's order, 0 is the time of records that perf synthesized.
fn time(record: &Value) -> Option<u64> {
    let own = if record["type"] == "SAMPLE" { &record["fields"] } else { &record["sample_id"] };
    own["time"].as_u64()
}

#[test]
fn order_time_sorts() {
    let captures: Vec<PathBuf> =
        ["system_wide.data", "overwrite.data", "threads.dir", "compressed.zstd.pipe.data"]
            .map(testdata::path)
            .into();
    for path in captures {
        let [file, by_time] = ["file", "time"].map(|order| jsonl(&path, &["--order", order]));
        let name = path.display();
        assert_eq!((by_time.run.status, &*by_time.run.err), (0, ""), "{name}");
        assert_eq!(by_time.account, file.account, "{name}: nothing late, nothing lost");
        let times: Vec<_> = by_time.records.iter().filter_map(time).collect();
        assert!(times.is_sorted(), "{name}");
        assert_ne!(by_time.records, file.records, "{name}: is no test of the order");
        // The sort is stable, and the records are the same.
        let mut expected: Vec<_> = file.records.iter().filter(|record| time(record).is_some()).collect();
        expected.sort_by_key(|record| time(record));
        assert!(by_time.records.iter().filter(|record| time(record).is_some()).eq(expected), "{name}");
        let without = |records: &[Value]| -> Vec<Value> {
            records.iter().filter(|record| time(record).is_none()).cloned().collect()
        };
        assert_eq!(without(&by_time.records), without(&file.records), "{name}");
    }
}

#[test]
fn an_order_that_is_none_is_1() {
    let plain = testdata::path("plain.data");
    fails(&["dump", plain.to_str().unwrap(), "--order", "size"], "'size'");
}

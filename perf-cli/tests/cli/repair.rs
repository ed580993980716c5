//! `repair`: the readable parts of a capture become a valid one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Run, jsonl, perfdata, scratch_folder};

/// Repairs a capture. The results are in the folder.
fn repair(input: &Path, folder: &Path) -> (Run, PathBuf, Value) {
    let (output, report) = (folder.join("mended.data"), folder.join("report.json"));
    let args = ["repair".as_ref(), input.as_os_str(), "-o".as_ref(), output.as_os_str()];
    let report_args = ["--report".as_ref(), report.as_os_str()];
    let run = perfdata(args.into_iter().chain(report_args));
    let report = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    (run, output, report)
}

/// Returns the records of a capture, without their offsets, and without those that a file stores in a section.
fn records(path: &Path) -> Vec<Value> {
    let sections = ["HEADER_ATTR", "HEADER_FEATURE", "HEADER_TRACING_DATA"];
    let mut records = jsonl(path, &[]).records;
    records.retain(|record| !sections.contains(&record["type"].as_str().unwrap()));
    for record in &mut records {
        for place in ["offset", "inner", "data_file"] {
            record.as_object_mut().unwrap().remove(place);
        }
    }
    records
}

#[test]
fn whole_captures_of_every_mode_keep_every_record() {
    let folder = scratch_folder("repair_whole");
    for name in [
        "everything.data",
        "identifier.data",
        "touch.zstd.data",
        "tracing.pipe.data",
        "compressed.zstd.pipe.data",
        "threads.dir",
    ] {
        let input = testdata::path(name);
        let (run, output, report) = repair(&input, &folder);
        assert_eq!(run.status, 0, "{name}: {}", run.err);
        assert_eq!(report["dropped"], 0, "{name}");
        let (before, after) = (records(&input), records(&output));
        assert!(before.len() > 10, "{name}");
        assert!(before == after, "{name}: the records differ");
        assert_eq!(jsonl(&output, &[]).account["diagnostics"], Value::Array(Vec::new()), "{name}");
    }
}

#[test]
fn a_killed_recording_is_mended() {
    let folder = scratch_folder("repair_killed");
    let input = testdata::path("killed.data");
    let (run, output, report) = repair(&input, &folder);
    assert_eq!(run.status, 3, "{}", run.err);
    assert_eq!(report["written"], jsonl(&input, &[]).account["records"]);
    let mended = jsonl(&output, &[]);
    assert_eq!((mended.run.status, &*mended.run.err), (0, ""));
    assert!(records(&input) == records(&output));
}

#[test]
fn what_cannot_be_decoded_is_left_out_and_said() {
    let folder = scratch_folder("repair_damaged");
    let whole = testdata::path("plain.data");
    let records_before = jsonl(&whole, &[]).records;
    let sample = records_before.iter().position(|record| record["type"] == "SAMPLE").unwrap();
    let offset = records_before[sample]["offset"].as_u64().unwrap() as usize;
    let mut bytes = fs::read(&whole).unwrap();
    // Reduces the size: the next record starts 8 bytes after the end that it gives.
    bytes[offset + 6] -= 8;
    let damaged = folder.join("damaged.data");
    fs::write(&damaged, bytes).unwrap();
    let (run, output, report) = repair(&damaged, &folder);
    assert_eq!(run.status, 3);
    assert!(run.err.contains(&format!("{offset:#x}")) || run.err.contains("SAMPLE"), "{}", run.err);
    let lost = report["dropped"].as_u64().unwrap();
    let skipped = report["account"]["bytes_skipped"].as_u64().unwrap();
    assert!(lost + skipped > 0, "{report}");
    let mended = jsonl(&output, &[]);
    assert_eq!((mended.run.status, &*mended.run.err), (0, ""));
    assert!(mended.records.len() + 2 >= records_before.len(), "{} are left", mended.records.len());
}

#[test]
fn the_capture_itself_is_not_written_over() {
    let folder = scratch_folder("repair_itself");
    let input = folder.join("capture.data");
    fs::copy(testdata::path("plain.data"), &input).unwrap();
    let before = fs::read(&input).unwrap();
    let run = perfdata(["repair".as_ref(), input.as_os_str(), "-o".as_ref(), input.as_os_str()]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("is read as input; give -o another name"), "{}", run.err);
    assert!(fs::read(&input).unwrap() == before);
}

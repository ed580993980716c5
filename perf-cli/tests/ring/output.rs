//! `-o`: writes the rings as a perf.data.

use std::process::Command;

use serde_json::Value;

use crate::{clean, number, recorded, ring, scratch, unplaced};

/// Writes rings as a perf.data. Returns the messages, the exit status, and the path of the file.
fn write(name: &str, args: &[&str]) -> (String, i32, String) {
    let out = needs::folder().join(format!("{name}.data"));
    let out = out.into_os_string().into_string().unwrap();
    let run = ring(&[args, &["-o", &out]].concat());
    assert_eq!(run.out, "", "nothing is shown");
    (run.err, run.status, out)
}

/// Returns the records of a perf.data.
fn dumped(file: &str) -> Vec<Value> {
    let mut perfdata = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = perfdata.args(["dump", file, "--format", "jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1..lines.len() - 1].to_vec()
}

#[test]
fn a_perf_data_of_a_ring_has_its_records() {
    for name in ["forward-wrapped", "forward-lost", "backward-part", "backward-full"] {
        let (dump, attr) = (format!("{name}.ring"), format!("{name}.attr"));
        let (err, status, file) = write(name, &[&dump, "--attr", &attr]);
        let records = clean(&[&dump, "--attr", &attr]);
        assert_eq!(status, 0, "{err}");
        assert!(err.ends_with(&format!("records written: {}, dropped: 0\n", records.len())), "{err}");
        assert!(unplaced(dumped(&file)) == unplaced(records), "{name}");
    }
}

#[test]
fn several_rings_are_written_by_time() {
    let args = ["pair-0.ring", "pair-1.ring", "--attr", "pair.attr.data"];
    let (err, status, file) = write("pair", &args);
    assert_eq!(status, 0, "{err}");
    let mut records = unplaced(clean(&args));
    for record in &mut records {
        // The file does not contain the ring of a record.
        record.as_object_mut().unwrap().remove("data_file");
    }
    assert!(unplaced(dumped(&file)) == records);
}

#[test]
fn what_cannot_be_kept_is_said_where_it_stands() {
    let mut dump = recorded("forward-wrapped.ring");
    let records = clean(&["forward-wrapped.ring", "--attr", "forward-wrapped.attr"]);
    let damaged = number(&records[5], "offset") as usize;
    dump[damaged + 6..damaged + 8].copy_from_slice(&[4, 0]);
    let dump = scratch("damaged-output", &dump);
    let (err, status, file) = write("damaged", &[&dump, "--attr", "forward-wrapped.attr"]);
    assert_eq!(status, 3, "{err}");
    assert!(err.starts_with(&format!("{:#x}: header.size: ", damaged + 6)), "{err}");
    assert_eq!(dumped(&file).len(), records.len() - 1);
}

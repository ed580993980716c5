//! `perfdata dump` of tracepoints: decoded by the formats in the capture, or reported as not decodable.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures/raw.data");

/// Returns the exit status, standard output and standard error of a dump.
fn dump(path: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.arg("dump").args(args).arg(path).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

/// Dumps the capture with the first `from` replaced by `to`, which has the same length.
fn dump_changed(name: &str, from: &[u8], to: &[u8], args: &[&str]) -> (Option<i32>, String, String) {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs::read(CAPTURE).unwrap();
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    let path = needs::folder().join(format!("{name}.data"));
    fs::write(&path, bytes).unwrap();
    dump(&path, args)
}

const SAMPLES: [&str; 4] = ["--type", "SAMPLE", "--format", "jsonl"];

/// Returns the samples of a dump as JSON lines: all lines except the header and the account.
fn samples(out: &str) -> Vec<Value> {
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1..lines.len() - 1].to_vec()
}

#[test]
fn json_has_the_fields_beside_raw() {
    let (status, out, err) = dump(Path::new(CAPTURE), &SAMPLES);
    assert_eq!((status, &*err), (Some(0), ""));
    let samples = samples(&out);
    assert_eq!(
        samples[0]["fields"]["tracepoint"],
        json!({
            "common_type": 365, "common_flags": 0, "common_preempt_count": 1, "common_pid": 8501,
            "filename": "./workload", "pid": 8501, "old_pid": 8501,
        })
    );
    assert_eq!(samples[1]["fields"]["tracepoint"]["args"], json!([0, 140_737_203_181_612_u64, 0, 895, 0, 0]));
    for sample in samples {
        let fields = &sample["fields"];
        assert!(fields["raw"].is_string());
        assert_eq!(fields["tracepoint"]["common_pid"], fields["tid"]);
    }
}

#[test]
fn text_has_a_line_of_the_tracepoints_own_fields() {
    let (status, out, _) = dump(Path::new(CAPTURE), &["--type", "SAMPLE", "--limit", "2"]);
    assert_eq!(status, Some(0));
    let lines: Vec<&str> =
        out.lines().filter(|line| line.contains("sys_enter: ") || line.contains("exec: ")).collect();
    assert_eq!(
        lines,
        [
            "    sched:sched_process_exec: filename=./workload pid=8501 old_pid=8501",
            "    raw_syscalls:sys_enter: id=12 args=[0,140737203181612,0,895,0,0]",
        ]
    );
}

#[test]
fn each_field_is_a_column() {
    let args = ["--type", "SAMPLE", "--limit", "2", "--fields", "event,filename,args"];
    let (_, out, err) = dump(Path::new(CAPTURE), &args);
    assert_eq!(
        (&*out, &*err),
        (
            "sched:sched_process_exec\t./workload\t-\nraw_syscalls:sys_enter\t-\t[0,140737203181612,0,895,0,0]\n",
            ""
        )
    );
    let (_, out, _) = dump(Path::new(CAPTURE), &[&args[..], &["--format", "jsonl"]].concat());
    let lines: Vec<Value> = out.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({"event": 1, "filename": "./workload"}));
}

#[test]
fn a_field_beyond_the_raw_data_is_left_out_and_the_others_are_shown() {
    let (from, to) = (b"old_pid;\toffset:16;", b"old_pid;\toffset:99;");
    let (status, out, err) = dump_changed("beyond", from, to, &SAMPLES);
    assert_eq!(status, Some(3));
    assert!(err.lines().next().unwrap().contains("SAMPLE: raw: needs 103 bytes, 36 are left"), "{err}");
    let samples = samples(&out);
    let tracepoint = &samples[0]["fields"]["tracepoint"];
    assert_eq!(tracepoint["filename"], "./workload");
    assert!(tracepoint.get("old_pid").is_none());
    assert!(samples[0]["error"].as_str().unwrap().ends_with("raw: needs 103 bytes, 36 are left"));
    assert_eq!(samples[1]["fields"]["tracepoint"]["id"], 12);
    let (_, out, _) = dump_changed("beyond-text", from, to, &["--type", "SAMPLE", "--limit", "1"]);
    assert!(out.contains("sched_process_exec: filename=./workload pid=8501\n"), "{out}");
}

#[test]
fn a_name_is_escaped() {
    let (_, out, _) = dump_changed("name", b"pid_t old_pid;", b"pid_t o\"\\\x07\xffid;", &SAMPLES);
    assert_eq!(samples(&out)[0]["fields"]["tracepoint"]["o\"\\\u{7}\\xffid"], 8501);
}

#[test]
fn a_format_that_is_none_leaves_its_raw_data_alone() {
    for (name, from, to, field, decoded) in [
        ("id", &b"ID: 365"[..], &b"ID: x65"[..], "ID: is 120, but must be a number of 32 bits", true),
        ("magic", b"\x17\x08\x44tracing", b"\x17\x08\x44Tracing", "magic: is 84, but must be", false),
    ] {
        let (status, out, err) = dump_changed(name, from, to, &SAMPLES);
        assert_eq!(status, Some(3));
        assert!(err.contains(field), "{err}");
        let samples = samples(&out);
        assert!(samples[0]["fields"]["tracepoint"].is_null() && samples[0]["fields"]["raw"].is_string());
        assert_eq!(samples[1]["fields"]["tracepoint"].is_object(), decoded);
        let account: Value = serde_json::from_str(out.lines().next_back().unwrap()).unwrap();
        assert_eq!(account["account"]["diagnostics"].as_array().unwrap().len(), 1);
    }
}

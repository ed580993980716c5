//! JSON lines of samples.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    samples_are_those_of_the_dump,
    a_tracepoint_has_its_fields,
    a_tracepoint_of_a_pipe_has_its_fields,
    frames_have_their_files,
    the_account_counts_what_was_printed,
    a_python_program_counts_in_which_file_each_program_ran,
];

/// Returns the objects of the lines: the samples, and the account.
fn lines(verb: &str, file: &str, args: &[&str]) -> (Vec<Value>, Value) {
    let run = perfdata(verb, file, &[&["--format", "jsonl"], args].concat());
    assert_eq!((run.status, &*run.err), (0, ""), "{file}");
    let mut lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let account = lines.pop().unwrap();
    (lines, account)
}

fn samples_are_those_of_the_dump() {
    for file in ["captures/mem.data", "synthetic/memory.be.data", "synthetic/branches.le.data"] {
        let (samples, _) = lines("script", file, &[]);
        let (dumped, _) = lines("dump", file, &["--type", "SAMPLE", "--order", "time"]);
        let dumped: Vec<_> = dumped.iter().filter(|it| it["type"] == "SAMPLE").collect();
        assert!(!samples.is_empty());
        assert_eq!(samples.len(), dumped.len(), "{file}");
        for (sample, record) in samples.iter().zip(dumped) {
            assert_eq!((&sample["offset"], &sample["event"]), (&record["offset"], &record["event"]));
            let fields = &record["fields"];
            for name in ["pid", "tid", "cpu", "time", "addr", "phys_addr", "data_src", "branch_stack"] {
                assert_eq!(sample.get(name), fields.get(name), "{file}: {name}");
            }
            let weight = fields.get("weight").or_else(|| fields.get("weight_struct")?.get("var1_dw"));
            assert_eq!(sample.get("weight"), weight, "{file}");
            assert_eq!(sample["stack"][0]["ip"], fields["ip"], "{file}");
        }
    }
}

fn a_tracepoint_has_its_fields() {
    let (samples, _) = lines("script", "captures/raw.data", &[]);
    let exec = samples.iter().find(|it| it["event_name"] == "sched:sched_process_exec").unwrap();
    assert_eq!(exec["trace"]["filename"], "./workload");
    assert_eq!(exec["trace"]["pid"], exec["pid"]);
}

/// The formats are in a record, which comes before the samples.
fn a_tracepoint_of_a_pipe_has_its_fields() {
    let path = testdata::path("tracing.pipe.data");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["script", "-", "--format", "jsonl"]).stdin(std::fs::File::open(path).unwrap());
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let piped: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (samples, account) = lines("script", "captures/tracing.pipe.data", &[]);
    assert_eq!(piped, [samples.clone(), vec![account]].concat());
    assert!(!samples.is_empty());
    let is_whole = |it: &Value| it["trace"]["id"].is_u64() && it["trace"]["args"][5].is_u64();
    assert!(samples.iter().all(is_whole), "{}", samples[0]);
}

fn frames_have_their_files() {
    let (samples, _) = lines("script", "captures/callchain.data", &[]);
    let frames: Vec<_> = samples.iter().flat_map(|it| it["stack"].as_array().unwrap()).collect();
    let in_linker = |it: &&&Value| it["dso"].as_str().is_some_and(|dso| dso.contains("/ld-linux"));
    let of_linker = frames.iter().find(in_linker).expect("a frame in the dynamic linker");
    assert_eq!(of_linker["mode"], "user");
    assert_eq!(of_linker["build_id"].as_str().map(str::len), Some(40));
    assert!(of_linker["file_offset"].as_u64().unwrap() < of_linker["ip"].as_u64().unwrap());
    let of_kernel = frames.iter().find(|it| it["mode"] == "kernel").expect("a frame in the kernel");
    assert_eq!(of_kernel["dso"], "[kernel.kallsyms]");
    assert!(of_kernel.get("file_offset").is_none(), "its file is not known");
}

/// Returns the frames of a sample. An inlined function is none.
fn frames_of(sample: &Value) -> impl Iterator<Item = &Value> {
    sample["stack"].as_array().unwrap().iter().filter(|it| it["inlined"] != true)
}

fn the_account_counts_what_was_printed() {
    let (samples, account) = lines("script", "captures/callchain.data", &["--max-stack", "3"]);
    let frames = || samples.iter().flat_map(frames_of);
    assert!(samples.iter().all(|it| frames_of(it).count() <= 3));
    assert_eq!(account["stacks"]["samples"], samples.len());
    assert_eq!(account["frames"]["total"], frames().count());
    assert_eq!(account["frames"]["mapped"], frames().filter(|it| it.get("dso").is_some()).count());
    assert_eq!(account["account"]["bytes_skipped"], 0);
}

/// The example `by_file` of perf-session prints the same.
fn a_python_program_counts_in_which_file_each_program_ran() {
    needs::all(&[needs::Need::Runs(&["python3", "--version"])]);
    let lines = perfdata("script", "captures/system_wide.data", &["--format", "jsonl"]).out;
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../perf-session/examples/by_file.py");
    let mut python =
        Command::new("python3").arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let printed = python.wait_with_output().unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let expected = "       1 perf-exec [kernel.kallsyms]
       1 swapper [kernel.kallsyms]
       1 workload /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
       5 workload [kernel.kallsyms]
";
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected);
}

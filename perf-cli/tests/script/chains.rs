//! Call chains: those whose user part comes later, and those without frames.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::made::{DEFERRED, KERNEL, Made, USER};
use crate::{Run, perfdata};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    user_parts_that_come_later,
    user_parts_that_come_later_in_a_pipe,
    more_samples_than_may_wait,
    chains_without_frames,
    frames_before_an_unknown_marker,
    addresses_alone_in_a_pipe_are_those_recorded,
];

const ARGS: [&str; 2] = ["-F", "comm,tid,time,ip"];

fn script(path: &Path, args: &[&str]) -> Run {
    perfdata("script", path.to_str().unwrap(), args)
}

/// Returns the text of samples: thread, microseconds, frames.
fn text(samples: &[(&str, u64, u64, &[&str])]) -> String {
    let sample = |(comm, tid, at, frames): &(&str, u64, u64, &[&str])| {
        let frames: String = frames.iter().map(|ip| format!("\t{ip:>16}\n")).collect();
        format!("{comm} {tid:5}  1000.{at:06}: \n{frames}\n")
    };
    samples.iter().map(sample).collect()
}

/// Two threads. The comments have the times of the records.
fn two_threads() -> Made {
    Made::new()
        .comm(5, "five") // 0
        .comm(6, "six") // 1
        .sample(5, &[KERNEL, 0xa1, DEFERRED, 1]) // 2
        .sample(6, &[KERNEL, 0xb1, USER, 0xb2]) // 3
        .sample(5, &[KERNEL, 0xa2, 0xa3, DEFERRED, 1]) // 4
        .sample(6, &[DEFERRED, 1]) // 5
        .sample(6, &[KERNEL, 0xb3, DEFERRED, 2]) // 6
        .deferred(5, 1, &[USER, 0xaa, 0xab]) // 7
        .sample(5, &[USER, 0xa4]) // 8
        .deferred(6, 2, &[0xba]) // 9
        .sample(6, &[KERNEL, 0xb4, DEFERRED, 3]) // 10
        .sample(5, &[KERNEL, 0xa5, DEFERRED, 4]) // 11
        .sample(6, &[KERNEL, 0xb5]) // 12
        .deferred(7, 3, &[0xff]) // 13
}

/// perf 7.2 prints the same, but prints the cookie of a part that did not come as an address.
fn user_parts_that_come_later() {
    let run = script(&two_threads().file("two"), &ARGS);
    assert_eq!((run.status, &*run.err), (0, ""));
    let expected = text(&[
        ("six", 6, 3, &["b1", "b2"]),
        // With the record of their thread.
        ("five", 5, 2, &["a1", "aa", "ab"]),
        ("five", 5, 4, &["a2", "a3", "aa", "ab"]),
        ("five", 5, 8, &["a4"]),
        // A part of another thread with the same cookie is not that of this sample.
        ("six", 6, 5, &[]),
        ("six", 6, 6, &["b3", "ba"]),
        ("six", 6, 12, &["b5"]),
        // At the end, in the order in which they came.
        ("six", 6, 10, &["b4"]),
        ("five", 5, 11, &["a5"]),
    ]);
    assert_eq!(run.out, expected);
    // The filters apply when a sample is printed.
    let run =
        script(&two_threads().file("one"), &["-F", "comm,tid,time,ip", "--tid", "5", "--max-stack", "2"]);
    let expected = text(&[
        ("five", 5, 2, &["a1", "aa"]),
        ("five", 5, 4, &["a2", "a3"]),
        ("five", 5, 8, &["a4"]),
        ("five", 5, 11, &["a5"]),
    ]);
    assert_eq!((run.status, run.out), (0, expected));
}

/// Returns the samples of JSON lines, without their offsets.
fn samples(out: &str) -> Vec<Value> {
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let samples = lines.filter(|line| line.get("account").is_none());
    samples
        .map(|mut line| {
            line.as_object_mut().unwrap().remove("offset");
            line
        })
        .collect()
}

fn user_parts_that_come_later_in_a_pipe() {
    let made = two_threads();
    let of_file = samples(&script(&made.file("json"), &["--format", "jsonl"]).out);
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["script", "-", "--format", "jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&made.pipe()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(samples(&String::from_utf8(output.stdout).unwrap()), of_file);
    assert_eq!(of_file.len(), 9);
    let frame = |ip: u64, mode: &str| json!({"ip": ip, "mode": mode});
    let joined = json!([frame(0xa1, "kernel"), frame(0xaa, "user"), frame(0xab, "user")]);
    assert_eq!(of_file[1]["stack"], joined);
}

/// The first of them wait; the others are printed at once, without their user part.
fn more_samples_than_may_wait() {
    // The limit is 64 MiB, and each sample of a file in memory counts 256 bytes.
    const MOST: u64 = (64 << 20) / 256;
    let made = (0..MOST + 2).fold(Made::new(), |made, _| made.sample(5, &[DEFERRED, 1]));
    let run = script(&made.deferred(5, 1, &[0xa]).file("many"), &ARGS);
    let (tail, first) = (":5     5  1000.", text(&[(":5", 5, MOST, &[]), (":5", 5, MOST + 1, &[])]));
    assert!(run.out.starts_with(&first), "{}", &run.out[..200]);
    assert_eq!(run.out.matches(tail).count() as u64, MOST + 2);
    assert_eq!(run.out.matches("\t               a\n").count() as u64, MOST);
    assert_eq!(run.status, 3);
    let said = [
        "because too many waited for it: 2\n",
        "there are more than 67108864 bytes of samples that wait for their call chain",
        "faults: 1,",
    ];
    said.iter().for_each(|said| assert!(run.err.contains(said), "{}", run.err));
}

/// Text has no frame, as in perf. In JSON lines the sample's own address is the only one.
fn chains_without_frames() {
    let made = Made::new().sample(5, &[]).sample(5, &[KERNEL, USER]).sample(5, &[USER, 0xa]);
    let path = made.file("empty");
    let run = script(&path, &ARGS);
    let expected = text(&[(":5", 5, 0, &[]), (":5", 5, 1, &[]), (":5", 5, 2, &["a"])]);
    assert_eq!(run.out, expected);
    let of_json = samples(&script(&path, &["--format", "jsonl"]).out);
    let own = json!([{"ip": 0x1234, "mode": "user"}]);
    assert_eq!((&of_json[0]["stack"], &of_json[1]["stack"]), (&own, &own));
    assert_eq!(of_json[2]["stack"], json!([{"ip": 0xa, "mode": "user"}]));
    let none = samples(&script(&path, &["--format", "jsonl", "--max-stack", "0"]).out);
    assert!(none.iter().all(|sample| sample["stack"] == json!([])));
}

/// perf prints no frame of a chain with a marker that it does not know. It does not look beyond the last frame it prints.
fn frames_before_an_unknown_marker() {
    let made = Made::new().sample(5, &[USER, 0xa, 0xb, u64::MAX, 0xc]);
    let path = made.file("marker");
    for (most, frames) in [("1", &["a"][..]), ("2", &["a", "b"]), ("3", &[])] {
        let run = script(&path, &[&ARGS[..], &["--max-stack", most]].concat());
        assert_eq!(run.out, text(&[(":5", 5, 0, frames)]), "{most}");
    }
}

/// perf adds the function, and prints offsets in files that it does not name.
fn addresses_alone_in_a_pipe_are_those_recorded() {
    let path = testdata::path("compressed.zstd.pipe.data");
    let lines = script(&path, &["--format", "jsonl", "--no-symbols"]).out;
    let samples = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let frames = samples.flat_map(|it| it["stack"].as_array().cloned().unwrap_or_default());
    let recorded: Vec<_> = frames.collect();
    assert!(recorded.iter().any(|frame| frame["mode"] == "user" && frame["file_offset"] != frame["ip"]));
    let expected: Vec<_> =
        recorded.iter().map(|frame| format!("{:x}", frame["ip"].as_u64().unwrap())).collect();
    let out = script(&path, &["-F", "ip"]).out;
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), expected);
}

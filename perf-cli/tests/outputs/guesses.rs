//! A frame that is a guess is marked in each output.

use std::fs;
use std::io::Cursor;
use std::time::{Duration, SystemTime};

use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use serde_json::Value;
use testdata::elf::{Elf, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

use crate::{Folder, new};

/// The address of `.text`, and the stack pointer.
const CODE: u64 = 0x7000_0000_0000;
const SP: u64 = 0x7fff_0000_1000;

/// Returns a folder with a program without unwind information, and a capture of its function `leaf` with a copy of the stack.
/// The frame pointer is that of the first word.
fn capture(name: &str, stack: &[u64]) -> Folder {
    let folder = new(name);
    // leaf calls itself, and caller calls it.
    let elf = Elf::new(62, true).code(0x10b, &[0xe8, 0xf0, 0xff, 0xff, 0xff]);
    let mut elf = elf.code(0x203, &[0xe8, 0xf8, 0xfe, 0xff, 0xff]);
    elf.functions = vec![("leaf", 0x100, 0x100), ("caller", 0x200, 0x100)];
    let path = folder.path("prog").into_os_string().into_string().unwrap();
    fs::write(&path, elf.build()).unwrap();
    let sample = StackSample {
        big: false,
        mappings: vec![(CODE, 0x1000, TEXT_OFFSET, 5, path.leak())],
        abi: 2,
        regs: vec![(6, SP), (7, SP), (8, CODE + 0x108)],
        stack: stack.iter().flat_map(|word| word.to_le_bytes()).collect(),
        chain: Some(Vec::new()),
        branches: None,
        has_stack: true,
        is_kernel: false,
    };
    let event = EventFields { attr: sample.attr(), ids: vec![7], ..EventFields::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default()).unwrap();
    let records = sample.records();
    let mut rest = &records[..];
    while let Some(&[low, high]) = rest.get(6..8) {
        let (record, after) = rest.split_at(usize::from(u16::from_le_bytes([low, high])));
        writer.record(record).unwrap();
        rest = after;
    }
    fs::write(folder.path("in.data"), writer.finish().unwrap().into_inner()).unwrap();
    folder
}

/// Returns a folder with a capture in which `caller` called `leaf`.
fn guessed(name: &str) -> Folder {
    capture(name, &[0, CODE + 0x208])
}

/// `--max-stack` is the limit of unwinding, too.
#[test]
fn more_frames_than_the_kernel_records() {
    let frame = |number: u64| [SP + 16 * (number + 1), CODE + 0x110];
    let mut stack: Vec<u64> = (0..150).flat_map(frame).collect();
    stack.extend([0, CODE + 0x208]);
    let folder = capture("guesses-deep", &stack);
    let frames = |args: &[&str]| folder.run(&[args, &["in.data"]].concat()).out.matches("leaf").count();
    let of_caller = |args: &[&str]| folder.run(&[args, &["in.data"]].concat()).out.contains("caller");
    for threads in ["1", "4"] {
        let limit = ["--threads", threads, "--max-stack", "1000"];
        for verb in [&["script"][..], &["script", "--format", "jsonl"], &["fold"]] {
            assert_eq!(frames(&[verb, &limit].concat()), 151, "{verb:?}");
            assert!(of_caller(&[verb, &limit].concat()), "{verb:?}");
            assert_eq!(frames(&[verb, &["--threads", threads]].concat()), 127, "{verb:?}");
            assert_eq!(frames(&[verb, &["--max-stack", "128"]].concat()), 128, "{verb:?}");
        }
        assert!(of_caller(&[&["report", "--stdio", "--children", "-g", "caller"][..], &limit].concat()));
        assert!(!of_caller(&["report", "--stdio", "--children", "-g", "caller", "--threads", threads]));
    }
    let run = folder.run(&["export", "--to", "speedscope", "--max-stack", "1000", "-o", "o.json", "in.data"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(String::from_utf8(folder.read("o.json")).unwrap().contains("caller [guessed]"));
}

#[test]
fn texts_have_a_mark_after_the_name() {
    let folder = guessed("guesses");
    let out = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.status, 0, "{}", run.err);
        run.out
    };
    let script = out(&["script", "-F", "ip,sym,symoff", "in.data"]);
    let frames: Vec<_> = script.lines().filter_map(|line| line.trim().split_once(' ')).collect();
    assert_eq!(frames.iter().map(|it| it.1).collect::<Vec<_>>(), ["leaf+0x8", "caller [guessed]+0x7"]);
    assert_eq!(out(&["fold", "in.data"]), ":5;caller [guessed];leaf 0\n");
    let report = out(&["report", "--stdio", "-g", "caller", "in.data"]);
    assert!(report.contains("[.] caller [guessed]\n"), "{report}");
    assert!(report.contains("0.00 % of stacks rooted"), "{report}");
    assert!(report.contains("50.0 % guessed"), "{report}");
    for (args, file) in [
        (&["flamegraph", "-o", "out.svg"][..], "out.svg"),
        (&["export", "--to", "speedscope", "-o", "out.json"], "out.json"),
        (&["export", "--to", "firefox", "-o", "fx.json"], "fx.json"),
    ] {
        out(&[args, &["in.data"]].concat());
        let text = String::from_utf8(folder.read(file)).unwrap();
        assert!(text.contains("caller [guessed]") && !text.contains("leaf [guessed]"), "{args:?}");
    }
}

/// The program was built again, without a build id.
#[test]
fn a_file_that_was_modified_after_the_recording() {
    let folder = guessed("guesses-modified");
    let out = |args: &[&str]| folder.run(args).out;
    assert!(!out(&["report", "--stdio", "in.data"]).contains("leaf [guessed]"));
    let program = fs::File::options().write(true).open(folder.path("prog")).unwrap();
    program.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    let script = out(&["script", "-F", "ip,sym", "in.data"]);
    assert!(script.contains(" leaf [guessed]\n") && script.contains(" caller [guessed]\n"), "{script}");
    let why = "no build id was recorded, and the file was modified after the recording";
    let report = out(&["report", "--stdio", "in.data"]);
    assert!(report.contains("[.] leaf [guessed]"), "{report}");
    assert!(
        report.contains(&format!(
            "/prog: its names are guesses: {why}. Record with --buildid-mmap, which tells files apart\n"
        )),
        "{report}"
    );
    let lines = out(&["script", "--format", "jsonl", "in.data"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["stack"][0]["guessed"], true);
    assert_eq!(lines[1]["doubtful"][0]["why"], why);
    let report: Value = serde_json::from_str(&out(&["report", "--format", "json", "in.data"])).unwrap();
    assert_eq!(report["quality"]["doubtful"][0]["why"], why);
}

#[test]
fn json_has_a_member_and_the_plain_name() {
    let folder = guessed("guesses-json");
    let lines = folder.run(&["script", "--format", "jsonl", "in.data"]).out;
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sample = lines.next().unwrap();
    assert_eq!(sample["stack_end"], "no-unwind-info");
    let frames = sample["stack"].as_array().unwrap();
    assert_eq!((&frames[0]["sym"], frames[0].get("guessed")), (&"leaf".into(), None));
    assert_eq!((&frames[1]["sym"], &frames[1]["guessed"]), (&"caller".into(), &true.into()));
    assert_eq!(lines.next().unwrap()["frames"]["guessed"], 1);

    let report = folder.run(&["report", "--format", "json", "--children", "-g", "caller", "in.data"]).out;
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["tables"][0]["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["symbol"] == name).unwrap();
    assert_eq!(row("caller")["guessed"], true);
    assert_eq!(row("leaf").get("guessed"), None);
}

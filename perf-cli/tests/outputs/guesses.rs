//! A frame that is a guess is marked in each output.

use std::fs;
use std::io::Cursor;

use perf_abi::endian::LittleEndian;
use perf_parse::file::write::{EventFields, FileWriter, Options};
use serde_json::Value;
use testdata::elf::{Elf, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

use crate::{Folder, new};

/// The address of `.text`, and the stack pointer.
const CODE: u64 = 0x7000_0000_0000;
const SP: u64 = 0x7fff_0000_1000;

/// Returns a folder with a program without unwind information, and a capture of its function `leaf`, whose frame pointer leads
/// to `caller`.
fn guessed(name: &str) -> Folder {
    let folder = new(name);
    let mut elf = Elf::new(62, true).code(0x203, &[0xe8, 0xf8, 0xfe, 0xff, 0xff]);
    elf.functions = vec![("leaf", 0x100, 0x100), ("caller", 0x200, 0x100)];
    let path = folder.path("prog").into_os_string().into_string().unwrap();
    fs::write(&path, elf.build()).unwrap();
    let sample = StackSample {
        big: false,
        mappings: vec![(CODE, 0x1000, TEXT_OFFSET, 5, path.leak())],
        abi: 2,
        regs: vec![(6, SP + 8), (7, SP), (8, CODE + 0x108)],
        stack: [7, 0, CODE + 0x208].iter().flat_map(|word: &u64| word.to_le_bytes()).collect(),
        chain: Some(Vec::new()),
        branches: None,
        has_stack: true,
        is_kernel: false,
    };
    let event = EventFields { attr: sample.attr(), ids: vec![7], ..EventFields::default() };
    let mut writer =
        FileWriter::<LittleEndian, _>::new(Cursor::new(Vec::new()), &[event], &Options::default()).unwrap();
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

//! Names that would control a terminal, or show as something else, are printed with escapes.

use std::fs;
use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::LittleEndian;
use perf_abi::event::EventType;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{Entries, FeatureData, PmuMapping};
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Comm;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{ByteStr, Record, SampleLayout};
use serde_json::Value;

use crate::{Run, new};

/// Escape, C1 control, right-to-left override, an isolate, a zero width space, line separator, invisible letter, tag.
const NAME: &str = "a\u{1b}[2J\u{9b}2J\u{202e}gpj\u{2066}\u{200b}\u{2028}\u{3164}\u{e0041}z";
const ESCAPED: &str = r"a\u{1b}[2J\u{9b}2J\u{202e}gpj\u{2066}\u{200b}\u{2028}\u{3164}\u{e0041}z";

/// Returns a capture in which every name is [`NAME`].
fn capture() -> Vec<u8> {
    let attr = Attr {
        kind: EventType::SOFTWARE,
        sample_type: SampleType::IP,
        flags: AttrFlags::COMM,
        ..Attr::default()
    };
    let (name, text) = (NAME.as_bytes(), ByteStr::from(NAME));
    let events = [EventFields { attr, name: Some(name.to_vec()), ids: vec![7], ..EventFields::default() }];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &events, &WriteOptions::default()).unwrap();
    for data in [
        FeatureData::Hostname(text),
        FeatureData::OsRelease(text),
        FeatureData::CpuDesc(text),
        FeatureData::CmdLine(Entries::from(&[text, "perf".into()])),
        FeatureData::PmuMappings(Entries::from(&[PmuMapping { kind: EventType(1), name: text }])),
    ] {
        writer.features().set(&data).unwrap();
    }
    let (mut record, layout) = (Vec::new(), SampleLayout::new(&attr).unwrap());
    let comm = Record::Comm(Comm { pid: 1, tid: 2, comm: name });
    write::record::<LittleEndian>(&mut record, &layout, Misc(0), &comm, &SampleIdFields::default()).unwrap();
    writer.record(&record).unwrap();
    // A sample that cannot be decoded, for a diagnostic.
    writer.record(&[9, 0, 0, 0, 2, 0, 8, 0]).unwrap();
    writer.finish().unwrap().into_inner()
}

/// Checks that standard output and standard error contain no character of the name but its letters.
fn is_safe(run: &Run) {
    let hidden: Vec<char> = NAME.chars().filter(|it| !it.is_ascii_graphic()).collect();
    for text in [&run.out, &run.err] {
        let found =
            text.chars().find(|it| hidden.contains(it) || (it.is_control() && *it != '\n' && *it != '\t'));
        assert_eq!(found, None, "{text}");
    }
}

#[test]
fn names_in_a_capture_are_escaped_in_text() {
    let folder = new("escapes_text");
    fs::write(folder.path("in"), capture()).unwrap();
    for args in [
        &["info", "in"][..],
        &["dump", "in"],
        &["dump", "in", "--fields", "comm"],
        &["dump", "in", "--event", NAME],
        &["dump", "in", "--event", "none"],
    ] {
        let run = folder.run(args);
        is_safe(&run);
        let times = format!("{}{}", run.out, run.err).matches(ESCAPED).count();
        assert!(times >= 1, "{args:?}: {run:?}");
    }
    let info = folder.run(&["info", "in"]);
    assert!(info.out.matches(ESCAPED).count() >= 6, "{}", info.out);
}

#[test]
fn names_in_a_capture_are_escaped_and_exact_in_json() {
    let folder = new("escapes_json");
    fs::write(folder.path("in"), capture()).unwrap();
    let run = folder.run(&["dump", "in", "--format", "jsonl"]);
    is_safe(&run);
    let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let header = &lines[0]["header"];
    assert_eq!(header["attrs"][0]["name"], NAME);
    assert_eq!(
        (&header["features"]["HOSTNAME"], &header["features"]["CMDLINE"][0]),
        (&NAME.into(), &NAME.into())
    );
    assert_eq!(header["features"]["PMU_MAPPINGS"][0]["name"], NAME);
    assert_eq!(lines[1]["fields"]["comm"], NAME);
    let run = folder.run(&["dump", "in", "--format", "jsonl", "--fields", "comm"]);
    is_safe(&run);
    let line: Value = serde_json::from_str(run.out.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["comm"], NAME);
}

#[test]
fn names_of_files_are_escaped() {
    let folder = new("escapes_files");
    // A name that ends the line of a message and starts another.
    let name = format!("{NAME}\nperfdata: all is well");
    let escaped = format!("{ESCAPED}\\nperfdata: all is well");
    let expect = |args: &[&str], status: i32| {
        let run = folder.run(args);
        is_safe(&run);
        assert_eq!(run.status, status, "{args:?}: {run:?}");
        assert!(format!("{}{}", run.out, run.err).contains(&escaped), "{args:?}: {run:?}");
        assert!(!run.err.lines().any(|line| line == "perfdata: all is well"), "{args:?}: {run:?}");
    };
    for verb in ["info", "dump"] {
        expect(&[verb, &name], 1);
    }
    expect(&["repair", &name, "-o", "out"], 1);
    expect(&["ring", &name, "--attr", &name], 1);
    fs::write(folder.path(&name), capture()).unwrap();
    expect(&["info", &name], 3);
    expect(&["repair", &name, "-o", &name], 1);
    expect(&["repair", &name, "-o", "out", "--report", &name], 1);
    expect(&["dump", &name, "--fields", &name], 3);
    expect(&["ring", &name, "--attr", &name], 1);
}

/// The parser repeats arguments of the command line in its messages.
#[test]
fn words_of_the_command_line_are_escaped() {
    let folder = new("escapes_words");
    for args in [
        &[NAME][..],
        &["dump", NAME, NAME],
        &["dump", "x", "--format", NAME],
        &["dump", "x", "--limit", NAME],
    ] {
        let run = folder.run(args);
        is_safe(&run);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.err.contains(ESCAPED), "{run:?}");
    }
    #[cfg(target_os = "linux")]
    for args in [
        &["list", NAME][..],
        &["stat", "-e", NAME, "true"],
        &["stat", "--", NAME],
        &["record", "-e", NAME, "true"],
    ] {
        let run = folder.run(args);
        is_safe(&run);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.err.contains(ESCAPED), "{run:?}");
    }
}

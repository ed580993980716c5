//! A capture with very many errors: few of the diagnostics are printed, and all are counted.

use core::fmt::Debug;
use std::fs;
use std::io::Cursor;

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions, ZstdOptions};
use serde_json::Value;

use crate::{Run, new, with_rings};

/// The number of diagnostics that are printed before the rest is counted.
const LIMIT: usize = 1000;

/// Returns a compressed capture with this many samples that end before their second field: 22 KB for four million of
/// them.
fn faulty(records: usize) -> Vec<u8> {
    let attr =
        Attr { kind: EventType::SOFTWARE, sample_type: SampleType::IP | SampleType::TIME, ..Attr::default() };
    let options = WriteOptions { zstd: Some(ZstdOptions::default()), ..WriteOptions::default() };
    let events = [EventFields { attr, ..EventFields::default() }];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &events, &options).unwrap();
    for _ in 0..records {
        // A sample with only an IP.
        writer.record(&[9, 0, 0, 0, 2, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the line that counts the diagnostics that were not printed, if there is one.
fn counted(run: &Run) -> Option<&str> {
    let more = |line: &&str| line.contains("more diagnostics are not printed, by kind: ");
    run.err.lines().find(more)
}

fn of_an_account(account: &Value, faults: usize) {
    let kept = account["diagnostics"].as_array().unwrap().len();
    assert_eq!(kept, faults.min(LIMIT));
    assert_eq!(account["diagnostics_by_kind"], serde_json::json!({"record": faults}));
    assert_eq!(account["diagnostics_omitted"].as_u64().unwrap_or(0), (faults - kept) as u64);
}

fn is_bounded(run: &Run, faults: usize, what: &dyn Debug) {
    assert_eq!(run.status, 3, "{what:?}: {}", run.err.lines().last().unwrap_or_default());
    let diagnostics = run.err.lines().filter(|line| line.contains(": SAMPLE: ")).count();
    assert_eq!(diagnostics, faults.min(LIMIT), "{what:?}");
    let more = faults.saturating_sub(LIMIT);
    let expected = format!("perfdata: {more} more diagnostics are not printed, by kind: record {more}");
    assert_eq!(counted(run), (more > 0).then_some(&*expected), "{what:?}");
    assert!(run.err.lines().count() <= LIMIT + 3, "{what:?}");
}

#[test]
fn every_verb_prints_a_thousand_and_counts_the_rest() {
    let folder = new("diagnostics");
    for faults in [LIMIT - 1, LIMIT, LIMIT + 1, 20_000] {
        fs::write(folder.path("in"), faulty(faults)).unwrap();
        let verbs: [&[&str]; 8] = [
            &["info", "in"],
            &["dump", "in"],
            &["dump", "in", "--threads", "1"],
            &["dump", "in", "--fields", "time"],
            &["dump", "in", "--order", "time"],
            &["dump", "in", "--format", "jsonl"],
            &["repair", "in", "-o", "out", "--report", "report"],
            &["index", "in"],
        ];
        for verb in verbs {
            let run = folder.run(verb);
            is_bounded(&run, faults, &verb);
            if verb.contains(&"jsonl") {
                let last: Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
                of_an_account(&last["account"], faults);
            }
        }
        let report: Value = serde_json::from_slice(&folder.read("report")).unwrap();
        of_an_account(&report["account"], faults);
    }
}

#[test]
fn a_ring_of_faults_prints_a_thousand_too() {
    const PAGE: usize = 4096;
    const SIZE: usize = 1 << 16;
    let folder = with_rings("diagnostics_ring");
    let sample = [9, 0, 0, 0, 2, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut ring = vec![0; PAGE];
    for (at, value) in [(1024, SIZE), (1032, 0), (1040, PAGE), (1048, SIZE)] {
        ring[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
    }
    ring.extend(sample.repeat(SIZE / sample.len()));
    fs::write(folder.path("faulty"), ring).unwrap();
    for more in [&[][..], &["--format", "jsonl"], &["-o", "out"]] {
        let args = [&["ring", "faulty", "--attr", "attr.data"], more].concat();
        is_bounded(&folder.run(&args), SIZE / sample.len(), &args);
    }
}

/// Each line is one write, so that lines of several programs do not mix on a terminal.
#[test]
fn lines_of_two_programs_do_not_mix() {
    let folder = new("diagnostics_lines");
    fs::write(folder.path("in"), faulty(LIMIT)).unwrap();
    let errors = fs::File::options().create(true).append(true).open(folder.path("errors")).unwrap();
    let start = || {
        let mut info = folder.command(&["info", "in"]);
        info.stdout(std::process::Stdio::null()).stderr(errors.try_clone().unwrap()).spawn().unwrap()
    };
    for mut run in [start(), start(), start()] {
        assert_eq!(run.wait().unwrap().code(), Some(3));
    }
    let alone = folder.run(&["info", "in"]).err;
    let mut expected = alone.repeat(3).lines().map(str::to_owned).collect::<Vec<_>>();
    let mixed = String::from_utf8(folder.read("errors")).unwrap();
    let mut mixed: Vec<_> = mixed.lines().map(str::to_owned).collect();
    expected.sort();
    mixed.sort();
    assert!(expected == mixed, "a line is in pieces");
}

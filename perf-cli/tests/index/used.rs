//! Verbs read only the parts of a capture that they need, by the index beside it.

use std::fs::{self, File};
use std::io::Cursor;

use needs::{Folder, Run};
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::LittleEndian;
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::record::Misc;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Comm;
use perf_parse::sample::ReadValue;
use perf_parse::write::{self, ReadFields, SampleFields, SampleIdFields};
use perf_parse::{Reader, Record, SampleLayout};

use crate::new;

/// Number of records: some chunks of an index.
const RECORDS: u64 = 20_000;

/// The time of a record, in microseconds.
const START: u64 = 5_000_000;

/// The span of a part in the middle, in seconds.
const PART: &str = "5.010,5.0105";

/// Writes samples of 1 us each. Each hundredth record renames a thread instead. With `read`, the samples read a counter.
fn capture(folder: &Folder, read: bool) -> Vec<u8> {
    let leading = SampleType::IP | SampleType::TID | SampleType::TIME;
    let more = if read { SampleType::READ | SampleType::IDENTIFIER } else { SampleType::NONE };
    let attr = Attr {
        sample_type: leading | more,
        read_format: if read { ReadFormat::ID } else { ReadFormat::default() },
        flags: AttrFlags::SAMPLE_ID_ALL,
        sample_period: 1,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap();
    let event = EventFields { attr, ids: vec![7], ..EventFields::default() };
    let out = Cursor::new(Vec::new());
    let mut writer = FileWriter::new(out, &[event], &WriteOptions::default()).unwrap();
    for number in 0..RECORDS {
        let (tid, time) = (100 + (number / 100 % 7) as i32, (START + number) * 1000);
        let mut record = Vec::new();
        if number % 100 == 0 {
            let trailer = SampleIdFields { pid: tid, tid, time, id: 7, ..SampleIdFields::default() };
            let comm = format!("at-{number}");
            let comm = Record::Comm(Comm { pid: tid, tid, comm: comm.as_bytes() });
            write::record::<LittleEndian>(&mut record, &layout, Misc(0), &comm, &trailer).unwrap();
        } else {
            let value = ReadValue { value: number * 3, id: Some(7), lost: None };
            let fields = SampleFields {
                identifier: read.then_some(7),
                ip: Some(0x1000 + number % 50),
                pid_tid: Some((tid, tid)),
                time: Some(time),
                read: read.then(|| ReadFields { values: vec![value], ..ReadFields::default() }),
                ..SampleFields::default()
            };
            write::sample::<LittleEndian>(&mut record, &layout, Misc(2), &fields).unwrap();
        }
        writer.record(&record).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    fs::write(folder.path("perf.data"), &bytes).unwrap();
    bytes
}

/// The verbs that select samples by their time.
const VERBS: [&[&str]; 8] = [
    &["dump"],
    &["dump", "--order", "time"],
    &["dump", "--fields", "tid,time,ip"],
    &["script"],
    &["fold"],
    &["report", "--stdio"],
    &["flamegraph", "--no-symbols", "-o", "-"],
    &["export", "--to", "speedscope", "--no-symbols", "-o", "-"],
];

fn runs(folder: &Folder, time: &str) -> Vec<Run> {
    VERBS.map(|verb| folder.run(&[verb, &["--time", time]].concat())).into()
}

/// Compares runs, apart from lines on standard error about the index.
fn are_equal(indexed: &[Run], whole: &[Run]) {
    for ((indexed, whole), verb) in indexed.iter().zip(whole).zip(VERBS) {
        assert!(indexed.out == whole.out, "{verb:?}: {}\n{}", indexed.err, whole.err);
        assert_eq!(indexed.status, whole.status, "{verb:?}: {}", indexed.err);
    }
}

/// Damages the capture so that it is read only up to the damage, and beyond it with an error. The file keeps its time.
fn damage(folder: &Folder, bytes: &[u8]) {
    let reader = Reader::new(bytes).unwrap();
    let place = reader.records().nth(50).unwrap().unwrap().position();
    let mut damaged = bytes.to_vec();
    damaged[place.offset as usize..][..16].fill(0);
    let path = folder.path("perf.data");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, damaged).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn only_the_parts_that_are_needed_are_read() {
    let folder = new("index_used");
    let bytes = capture(&folder, false);
    let spans = [PART, ",5.0001", "5.019,", "1,2", "5.001,5.002 5.018,5.0185", "10%-20%"];
    // The verb dump takes one span in seconds.
    let some = |time: &str| runs(&folder, time).split_off(if time.contains([' ', '%']) { 3 } else { 0 });
    let whole = spans.map(some);
    folder.run(&["index"]).succeeds();
    let indexed = spans.map(some);
    for (indexed, whole) in indexed.iter().zip(&whole) {
        let verbs = VERBS.iter().rev().zip(indexed.iter().rev()).zip(whole.iter().rev());
        for ((verb, indexed), whole) in verbs {
            assert!(indexed.out == whole.out && indexed.status == whole.status, "{verb:?}: {}", indexed.err);
        }
    }
    assert!(whole[0][3].out.contains("at-1") && whole[0][3].out.lines().count() > 400);

    damage(&folder, &bytes);
    are_equal(&runs(&folder, PART), &whole[0]);
    // What is left out has no faults; without --time, and without the index, it has.
    assert_eq!(folder.run(&["script"]).status, 3);
    fs::remove_file(folder.path("perf.data.idx")).unwrap();
    assert!(runs(&folder, PART).iter().all(|run| run.status == 3));
}

#[test]
fn an_index_that_cannot_be_used_is_reported() {
    let folder = new("index_unusable");
    let bytes = capture(&folder, false);
    let whole = runs(&folder, PART);
    folder.run(&["index"]).succeeds();
    let index = folder.read("perf.data.idx");
    let mut flipped = index.clone();
    flipped[100] ^= 1;
    for (index, why) in [
        (flipped, "checksum"),
        (index[..index.len() / 2].to_vec(), "chunks"),
        (b"no index".to_vec(), "PERFIDX1"),
        (Vec::new(), "perf.data.idx"),
    ] {
        fs::write(folder.path("perf.data.idx"), index).unwrap();
        let runs = runs(&folder, PART);
        are_equal(&runs, &whole);
        for run in runs {
            let reports =
                |line: &str| line.contains(why) && line.ends_with("; the whole capture is read instead");
            assert_eq!(run.err.lines().filter(|line| reports(line)).count(), 1, "{}", run.err);
        }
    }
    // A capture that has changed since.
    fs::write(folder.path("perf.data.idx"), &index).unwrap();
    fs::write(folder.path("perf.data"), &bytes).unwrap();
    let run = folder.run(&["fold", "--time", PART]);
    assert!(run.err.contains("capture.modified"), "{}", run.err);
    assert_eq!(run.out, whole[4].out);
    // Not read if it is not needed.
    assert_eq!(folder.run(&["fold"]).err.lines().filter(|line| line.contains(".idx")).count(), 0);
}

#[test]
fn all_samples_are_read_if_a_period_is_the_difference_to_the_sample_before() {
    let folder = new("index_counters");
    let bytes = capture(&folder, true);
    let time = ["--time", PART];
    let verbs: [&[&str]; 2] = [&["script", "-F", "tid,time,period"], &["report", "--stdio"]];
    let run = |verb: &[&str]| folder.run(&[verb, &time].concat());
    let whole = verbs.map(run);
    folder.run(&["index"]).succeeds();
    for (verb, whole) in verbs.iter().zip(&whole) {
        assert_eq!(run(verb).out, whole.out, "{verb:?}");
    }
    damage(&folder, &bytes);
    assert!(verbs.iter().all(|verb| run(verb).status == 3));
}

//! The print formats of every committed capture, and the texts of their events.

use std::fs;
use std::path::{Path, PathBuf};

use perf_parse::abi::endian::Endianness;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::tracepoint::{PrintFmt, Tracepoints, TracingData};
use perf_parse::{Reader, Record};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata");

/// Appends the files of a folder and of the folders in it.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push(path);
        }
    }
}

#[test]
fn every_committed_format_parses_and_prints() {
    let mut paths = Vec::new();
    files(Path::new(TESTDATA), &mut paths);
    let (mut captures, mut formats, mut events, mut evaluated) = (0, 0, 0, 0);
    for path in paths {
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(reader) = Reader::new(&bytes) else { continue };
        let Some(section) = reader.feature(Feature::TRACING_DATA) else { continue };
        let Ok(data) = TracingData::parse(section.bytes) else { continue };
        captures += 1;
        let tracepoints = Tracepoints::new(&data);
        let parsed: Vec<_> = tracepoints
            .formats()
            .iter()
            .map(|format| (format, PrintFmt::new(format).unwrap_or_else(|error| panic!("{path:?}: {error}"))))
            .collect();
        formats += parsed.len();
        for record in reader.records() {
            let Ok(record) = record else { break };
            let Ok(Record::Sample(sample)) = record.decode() else { continue };
            let Some(event) = record.event().filter(|event| event.attr.kind == EventType::TRACEPOINT) else {
                continue;
            };
            let found = parsed.iter().find(|(format, _)| u64::from(format.id) == event.attr.config);
            let (Some((_, print_fmt)), Ok(tail)) = (found, sample.tail()) else { continue };
            let Some(raw) = tail.raw else { continue };
            let mut out = Vec::new();
            let written = match data.endianness {
                Endianness::Little => print_fmt.write(raw, Endianness::Little, &(), &mut out),
                Endianness::Big => print_fmt.write(raw, Endianness::Big, &(), &mut out),
            };
            events += 1;
            evaluated += u32::from(written.is_ok());
        }
    }
    println!("{captures} captures, {formats} formats, {evaluated} of {events} events evaluated");
    assert!(captures >= 4 && formats >= 10 && events > 700, "{captures} {formats} {events}");
    assert_eq!(evaluated, events);
}

#[test]
fn events_of_a_capture_have_the_text_of_perf() {
    let bytes = fs::read(format!("{TESTDATA}/captures/raw.data")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let data = TracingData::parse(reader.feature(Feature::TRACING_DATA).unwrap().bytes).unwrap();
    let tracepoints = Tracepoints::new(&data);
    let mut texts = Vec::new();
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode().unwrap() else { continue };
        let format = tracepoints.get(record.event().unwrap().attr.config).unwrap();
        let mut out = Vec::new();
        let raw = sample.tail().unwrap().raw.unwrap();
        PrintFmt::new(format).unwrap().write(raw, Endianness::Little, &(), &mut out).unwrap();
        texts.push(String::from_utf8(out).unwrap());
    }
    let expected = include_str!("raw.txt");
    assert_eq!(texts.join("\n"), expected.trim_end());
}

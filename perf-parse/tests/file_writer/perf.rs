//! The real perf reads what is written, and says of it what it says of its own captures.
//!
//! Where there is no perf, the tests say so and pass.

use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use perf_parse::SampleLayout;
use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::File;
use perf_parse::file::write::{EventFields, Features, FileWriter, Options, PipeWriter};
use perf_parse::write::{self, SampleFields};

use crate::captures::{events, rewrite};
use crate::common::{capture, event, finish, kind, records, scratch, walk, writer};

/// What perf prints on standard output; `None` if it does not run, or fails.
pub(crate) fn perf(args: &[&str], input: &Path) -> Option<String> {
    let output = Command::new("perf")
        .args(args)
        .arg("-i")
        .arg(input)
        .envs([("HOME", env!("CARGO_TARGET_TMPDIR")), ("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null")])
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether perf runs at all; says so if not.
pub(crate) fn runs() -> bool {
    let runs = Command::new("perf").arg("--version").output().is_ok_and(|output| output.status.success());
    if !runs {
        eprintln!("skipped: perf does not run here");
    }
    runs
}

/// What perf prints of a capture of its own; says so and gives `None` if it does not read it here.
pub(crate) fn expected(args: &[&str], original: &Path) -> Option<String> {
    let expected = perf(args, original);
    if expected.is_none() {
        eprintln!("skipped: perf {} does not read {}", args[0], original.display());
    }
    expected
}

/// The features, every sample, and the records that tell of maps, tasks and losses; without the symbols of the kernel,
/// which takes perf long to read.
pub(crate) const SCRIPT: &[&str] = &[
    "script",
    "-f",
    "--header",
    "--show-mmap-events",
    "--show-task-events",
    "--show-lost-events",
    "--kallsyms=/dev/null",
];
const EVLIST: &[&str] = &["evlist", "-f", "-v"];
const HEADER: &[&str] = &["report", "-f", "--header-only"];

/// The captures that perf is asked about: each of another layout.
const READ: [&str; 10] =
    ["plain", "callchain", "dwarf", "raw", "group_read", "ids", "identifier", "mem", "inherit_stat", "lost"];

/// Without the lines that tell of the file and not of the capture, and of features that pipes do not have.
fn undated(printed: &str) -> Vec<&str> {
    let of_file = [
        "# captured on",
        "# data offset",
        "# data size",
        "# feat offset",
        "# missing features",
        "# CACHE info",
        "# ====",
    ];
    let of_capture = |line: &&str| *line != "#" && !of_file.iter().any(|start| line.starts_with(start));
    printed.lines().filter(of_capture).collect()
}

#[test]
fn files_read_as_the_originals() {
    if !runs() {
        return;
    }
    for name in READ {
        let original = capture(&format!("{name}.data"));
        let bytes = std::fs::read(&original).unwrap();
        let file = File::<LittleEndian>::open(&bytes).unwrap();
        let written = scratch(&format!("{name}.data"), &rewrite(&file, writer(&events(&file))));
        for args in [SCRIPT, EVLIST, HEADER] {
            let Some(expected) = expected(args, &original) else { continue };
            assert!(undated(&expected).len() > 1 || args == EVLIST, "{name}: perf {args:?}: {expected}");
            let read = perf(args, &written).unwrap_or_else(|| panic!("perf {args:?} {}", written.display()));
            assert_eq!(undated(&read), undated(&expected), "{name}: perf {args:?}");
        }
    }
}

#[test]
fn an_attr_of_any_size_will_do() {
    if !runs() {
        return;
    }
    let original = capture("ids.data");
    let bytes = std::fs::read(&original).unwrap();
    let file = File::<LittleEndian>::open(&bytes).unwrap();
    // perf refuses a file with larger attrs than its own, which in 6.1 has 128 bytes.
    for version in AttrVersion::ALL.into_iter().filter(|&version| version <= AttrVersion::VER7) {
        let options = Options { attr_version: Some(version), ..Options::default() };
        let writer = FileWriter::new(Cursor::new(Vec::new()), &events(&file), &options).unwrap();
        let written = scratch(&format!("ids.{}.data", version.size()), &rewrite(&file, writer));
        let Some(expected) = expected(SCRIPT, &original) else { return };
        let read = perf(SCRIPT, &written).unwrap();
        // The size of the attrs is in EVENT_DESC too.
        let sized = expected.replace(", size = 128, ", &format!(", size = {}, ", version.size()));
        assert_eq!(undated(&read), undated(&sized));
        let evlist = perf(EVLIST, &written).unwrap();
        assert_eq!(evlist.matches(&format!(", size: {}, ", version.size())).count(), 3, "{evlist}");
    }
}

#[test]
fn pipes_read_as_the_files_they_were_made_of() {
    if !runs() {
        return;
    }
    for name in READ {
        let original = capture(&format!("{name}.data"));
        let bytes = std::fs::read(&original).unwrap();
        let file = File::<LittleEndian>::open(&bytes).unwrap();
        let written = scratch(&format!("{name}.pipe.data"), &as_pipe(&file, &Options::default()));
        let Some(expected) = expected(SCRIPT, &original) else { continue };
        let read = perf(SCRIPT, &written).unwrap_or_else(|| panic!("perf script {}", written.display()));
        assert_eq!(undated(&read), undated(&expected), "{name}");
    }
}

#[test]
fn pipes_read_as_the_pipes_they_were_made_of() {
    if !runs() {
        return;
    }
    for name in ["tracing", "buildid"] {
        let original = capture(&format!("{name}.pipe.data"));
        let bytes = std::fs::read(&original).unwrap();
        let written = scratch(&format!("{name}.pipe.data"), &pipe_again(&bytes));
        let Some(expected) = expected(SCRIPT, &original) else { continue };
        let read = perf(SCRIPT, &written).unwrap_or_else(|| panic!("perf script {}", written.display()));
        assert!(undated(&expected).len() > 30, "{expected}");
        assert_eq!(undated(&read), undated(&expected), "{name}");
    }
}

/// Two events, mapped code, and samples of both.
fn synthetic<O: Endian>() -> Vec<u8> {
    let mut events = [event(0, &[11, 12], Some("cpu-clock")), event(2, &[21], Some("page-faults"))];
    for event in &mut events {
        event.attr.sample_type = event.attr.sample_type | SampleType::CPU | SampleType::PERIOD;
    }
    let mut writer = writer::<O>(&events);
    writer.features().string(Feature::HOSTNAME, b"synthetic").unwrap();
    writer.features().nr_cpus(4, 3);
    writer.features().cmdline(&[b"perf", b"record"]).unwrap();
    for (time, id) in [(1000, 11), (2000, 21), (3000, 12)] {
        let fields = SampleFields {
            identifier: Some(id),
            ip: Some(0x1000 + time),
            pid_tid: Some((100, 101)),
            time: Some(time * 1_000_000),
            cpu: Some(2),
            period: Some(time),
            ..SampleFields::default()
        };
        let mut record = Vec::new();
        let layout = SampleLayout::new(&events[0].attr).unwrap();
        write::sample::<O>(&mut record, &layout, Misc(2), &fields).unwrap();
        writer.record(&record).unwrap();
    }
    finish(writer)
}

#[test]
fn either_byte_order_reads_alike() {
    if !runs() {
        return;
    }
    let little = scratch("little.data", &synthetic::<LittleEndian>());
    let big = scratch("big.data", &synthetic::<BigEndian>());
    let script = perf(SCRIPT, &little).unwrap();
    assert!(script.contains("101 [002]     3.000000:       3000   cpu-clock: "), "{script}");
    assert!(script.contains("101 [002]     2.000000:       2000 page-faults: "), "{script}");
    for args in [SCRIPT, EVLIST, HEADER] {
        let (little, big) = (perf(args, &little).unwrap(), perf(args, &big).unwrap());
        assert_eq!(undated(&big), undated(&little), "perf {args:?}");
    }
}

/// Writes a file as a pipe, but for what pipes do not have.
pub(crate) fn as_pipe(file: &File<'_, LittleEndian>, options: &Options) -> Vec<u8> {
    let mut features = Features::<LittleEndian>::new();
    let left_out = [Feature::CACHE, Feature::EVENT_DESC];
    for section in file.features().iter().filter(|section| !left_out.contains(&section.feature)) {
        features.raw(section.feature, section.bytes).unwrap();
    }
    let mut writer = PipeWriter::new(Vec::new(), &events(file), &features, options).unwrap();
    for (record, data) in records(file) {
        writer.record_with_data(&record, &data).unwrap();
    }
    writer.finish().unwrap()
}

/// Writes a pipe again: what PipeWriter makes itself is taken apart, the rest is copied.
fn pipe_again(pipe: &[u8]) -> Vec<u8> {
    let (mut events, mut features, mut rest) = (Vec::new(), Features::<LittleEndian>::new(), Vec::new());
    for (record, data) in walk::<LittleEndian>(&pipe[16..]) {
        let payload = &record[8..];
        match kind::<LittleEndian>(&record) {
            RecordType::HEADER_ATTR => {
                let attr = Attr::read::<LittleEndian>(payload).unwrap().attr;
                let ids = payload[attr.size as usize..].chunks_exact(8);
                let ids = ids.map(|id| u64::from_le_bytes(id.try_into().unwrap())).collect();
                events.push(EventFields { attr, ids, ..EventFields::default() });
            }
            RecordType::HEADER_FEATURE => {
                let feature = Feature(u32::from_le_bytes(payload[..4].try_into().unwrap()));
                // The mark behind the last is of no payload.
                if payload.len() > 8 {
                    features.raw(feature, &payload[8..]).unwrap();
                }
            }
            RecordType::HEADER_TRACING_DATA => features.raw(Feature::TRACING_DATA, &data).unwrap(),
            _ => rest.push(record),
        }
    }
    let mut writer = PipeWriter::new(Vec::new(), &events, &features, &Options::default()).unwrap();
    rest.iter().for_each(|record| writer.record(record).unwrap());
    writer.finish().unwrap()
}

//! The installed perf reads written captures, and prints the same as for its own captures.

use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::{Entries, FeatureData, NrCpus};
use perf_parse::file::write::{EventFields, FeaturePayloads, FileWriter, PipeWriter, WriteOptions};
use perf_parse::write::{self, SampleFields};
use perf_parse::{ByteStr, SampleLayout};

use compare::rewrite::{File, event, events, finish, kind, options, records, rewrite, walk, writer};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    an_attr_of_any_size_will_do,
    a_pipe_of_tracepoints_reads_as_before,
    a_pipe_of_build_ids_reads_as_before,
    either_byte_order_reads_alike,
];

/// Returns perf's standard output for a capture or, if perf fails, the end of its standard error.
fn perf(args: &[&str], input: &Path) -> Result<String, String> {
    let home = tempfile::tempdir().unwrap();
    let mut perf = Command::new("perf");
    perf.args(args).arg("-i").arg(input).env("HOME", home.path());
    let output = perf.envs([("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null")]).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("perf {args:?} {}: {}", input.display(), text(&output.stderr)))
    }
}

/// Returns perf's output for a capture of its own; skips the test if there is no perf that can read it.
pub(crate) fn expected(args: &[&str], original: &Path) -> String {
    needs::all(&[needs::Need::PERF]);
    perf(args, original).unwrap_or_else(|error| needs::skip("perf-6.1", &error))
}

/// Returns perf's output for a written capture, which perf must be able to read.
pub(crate) fn read(args: &[&str], written: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.data");
    std::fs::write(&path, written).unwrap();
    perf(args, &path).unwrap_or_else(|error| panic!("{error}"))
}

/// The features, every sample, and the records of maps, tasks and losses; without kernel symbols, which perf needs a
/// long time to read.
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

/// Removes the lines that depend on the file and not on the capture, and those of features that pipes do not have.
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

/// Makes a test for each capture of perf, each with another layout.
macro_rules! of_captures {
    ($check:path: $($name:ident),+) => {
        pub(crate) const TESTS: &[needs::Test] = needs::tests![$($name),+];

        $(fn $name() {
            $check(stringify!($name));
        })+
    };
}

/// Files are read in the same way as the files from which they were made.
pub(crate) mod files {
    of_captures! {
        super::file_reads_as_the_original:
        plain, callchain, dwarf, raw, group_read, ids, identifier, mem, inherit_stat, lost
    }
}

/// Pipes are read in the same way as the files from which they were made.
pub(crate) mod pipes {
    of_captures! {
        super::pipe_reads_as_the_file:
        plain, callchain, dwarf, raw, group_read, ids, identifier, mem, inherit_stat, lost
    }
}

fn file_reads_as_the_original(name: &str) {
    let original = testdata::path(&format!("{name}.data"));
    let bytes = std::fs::read(&original).unwrap();
    let file = File::open(&bytes).unwrap();
    let written = rewrite(&file, writer::<LittleEndian>(&events(&file)));
    for args in [SCRIPT, EVLIST, HEADER] {
        let expected = expected(args, &original);
        assert!(undated(&expected).len() > 1 || args == EVLIST, "{name}: perf {args:?}: {expected}");
        assert_eq!(undated(&read(args, &written)), undated(&expected), "{name}: perf {args:?}");
    }
}

fn pipe_reads_as_the_file(name: &str) {
    let original = testdata::path(&format!("{name}.data"));
    let expected = expected(SCRIPT, &original);
    let bytes = std::fs::read(&original).unwrap();
    let file = File::open(&bytes).unwrap();
    let written = as_pipe(&file, &options::<LittleEndian>());
    assert_eq!(undated(&read(SCRIPT, &written)), undated(&expected), "{name}");
}

fn an_attr_of_any_size_will_do() {
    let original = testdata::path("ids.data");
    let expected = expected(SCRIPT, &original);
    let bytes = std::fs::read(&original).unwrap();
    let file = File::open(&bytes).unwrap();
    // perf rejects a file with larger attrs than its own, which have 128 bytes in 6.1.
    for &version in AttrVersion::ALL.iter().filter(|&&version| version <= AttrVersion::VER7) {
        let options = WriteOptions { attr_version: Some(version), ..options::<LittleEndian>() };
        let writer = FileWriter::new(Cursor::new(Vec::new()), &events(&file), &options).unwrap();
        let written = rewrite(&file, writer);
        // The size of the attrs is also in EVENT_DESC.
        let sized = expected.replace(", size = 128, ", &format!(", size = {}, ", version.size()));
        assert_eq!(undated(&read(SCRIPT, &written)), undated(&sized));
        let evlist = read(EVLIST, &written);
        assert_eq!(evlist.matches(&format!(", size: {}, ", version.size())).count(), 3, "{evlist}");
    }
}

/// Writes a pipe of perf again, which must be read as before.
fn pipe_reads_as_the_pipe(name: &str) {
    let original = testdata::path(&format!("{name}.pipe.data"));
    let expected = expected(SCRIPT, &original);
    assert!(undated(&expected).len() > 30, "{expected}");
    let written = pipe_again(&std::fs::read(&original).unwrap());
    assert_eq!(undated(&read(SCRIPT, &written)), undated(&expected), "{name}");
}

fn a_pipe_of_tracepoints_reads_as_before() {
    pipe_reads_as_the_pipe("tracing");
}

fn a_pipe_of_build_ids_reads_as_before() {
    pipe_reads_as_the_pipe("buildid");
}

/// Makes a capture with two events, mapped code, and samples of both.
fn synthetic<O: Endian>() -> Vec<u8> {
    let mut events = [event(0, &[11, 12], Some("cpu-clock")), event(2, &[21], Some("page-faults"))];
    for event in &mut events {
        event.attr.sample_type = event.attr.sample_type | SampleType::CPU | SampleType::PERIOD;
    }
    let mut writer = writer::<O>(&events);
    let words = ["perf", "record"].map(ByteStr::from);
    for data in [
        FeatureData::Hostname(ByteStr::new(b"synthetic")),
        FeatureData::NrCpus(NrCpus { available: 4, online: 3 }),
        FeatureData::CmdLine(Entries::from(&words)),
    ] {
        writer.features().set(&data).unwrap();
    }
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

fn either_byte_order_reads_alike() {
    needs::all(&[needs::Need::PERF]);
    let (little, big) = (synthetic::<LittleEndian>(), synthetic::<BigEndian>());
    let script = read(SCRIPT, &little);
    assert!(script.contains("101 [002]     3.000000:       3000   cpu-clock: "), "{script}");
    assert!(script.contains("101 [002]     2.000000:       2000 page-faults: "), "{script}");
    for args in [SCRIPT, EVLIST, HEADER] {
        assert_eq!(undated(&read(args, &big)), undated(&read(args, &little)), "perf {args:?}");
    }
}

/// Writes a file as a pipe, without the parts that pipes do not have.
pub(crate) fn as_pipe(file: &File<'_>, options: &WriteOptions) -> Vec<u8> {
    let mut features = FeaturePayloads::new_in(Endianness::Little);
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

/// Writes a pipe again: decodes what PipeWriter writes itself and copies the rest.
fn pipe_again(pipe: &[u8]) -> Vec<u8> {
    let (mut events, mut features, mut rest) =
        (Vec::new(), FeaturePayloads::new_in(Endianness::Little), Vec::new());
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
                // The mark after the last feature has no payload.
                if payload.len() > 8 {
                    features.raw(feature, &payload[8..]).unwrap();
                }
            }
            RecordType::HEADER_TRACING_DATA => features.raw(Feature::TRACING_DATA, &data).unwrap(),
            _ => rest.push(record),
        }
    }
    let mut writer = PipeWriter::new(Vec::new(), &events, &features, &options::<LittleEndian>()).unwrap();
    rest.iter().for_each(|record| writer.record(record).unwrap());
    writer.finish().unwrap()
}

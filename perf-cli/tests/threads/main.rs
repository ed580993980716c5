//! The number of threads that print records or samples does not change the output, messages and exit status.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The size of the records in the captures made here: several batches for each thread.
const BYTES: usize = 600_000;

/// The options of a dump whose records are all read by one thread, although it prints every record.
const READ_BY_ONE: [&str; 2] = ["--limit", "1000000000"];

/// The size of a stream's header.
const HEADER: usize = 16;

/// The type of the records that contain the attr and the ids of an event.
const HEADER_ATTR: u32 = 64;

/// Returns a stream that repeats its records, so that its events are named anew each time. With `attrs`, the events are
/// also repeated, although their ids belong to the first ones.
fn repeated(attrs: bool) -> Vec<u8> {
    let once = fs::read(testdata::path("buildid.pipe.data")).unwrap();
    let (header, records) = once.split_at(HEADER);
    let (mut again, mut left) = (Vec::new(), records);
    while let Some(size) = left.get(6..8) {
        let (record, rest) = left.split_at(u16::from_le_bytes(size.try_into().unwrap()).into());
        if attrs || record[..4] != HEADER_ATTR.to_le_bytes() {
            again.extend_from_slice(record);
        }
        left = rest;
    }
    [header, records, &again.repeat(BYTES / again.len())].concat()
}

fn stream() -> Vec<u8> {
    repeated(false)
}

fn scratch(name: &str) -> PathBuf {
    needs::folder().join(name)
}

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Dumps a file, or standard input with the content of the file.
fn dump(file: &Path, is_stdin: bool, threads: &str, args: &[&str]) -> Output {
    run("dump", file, is_stdin, threads, args)
}

/// Runs a verb on a file, or on standard input with the content of the file.
fn run(verb: &str, file: &Path, is_stdin: bool, threads: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args([verb, "--threads", threads]).args(args);
    if is_stdin {
        command.arg("-").stdin(File::open(file).unwrap()).output().unwrap()
    } else {
        command.arg(file).output().unwrap()
    }
}

/// Compares dumps on several threads with the dump on one, which has at least `lines` lines. Returns the exit status.
fn is_the_same(file: &Path, is_stdin: bool, args: &[&str], lines: usize) -> Option<i32> {
    is_the_same_by("dump", file, is_stdin, args, lines)
}

/// Compares the output of a verb on several threads with that on one, which has at least `lines` lines. Returns the exit
/// status.
fn is_the_same_by(verb: &str, file: &Path, is_stdin: bool, args: &[&str], lines: usize) -> Option<i32> {
    let one = run(verb, file, is_stdin, "1", args);
    let printed = one.stdout.iter().filter(|&&byte| byte == b'\n').count();
    assert!(printed >= lines, "{file:?} {args:?}: {printed} lines");
    // Records are read ahead from two on; call chains are shared among threads from three on. Half of the outputs have each,
    // or all have both.
    let each = if testdata::is_thorough() { 2 } else { 1 };
    for threads in ["2", "8"].into_iter().cycle().skip(printed % 2).take(each) {
        let several = run(verb, file, is_stdin, threads, args);
        assert_eq!(several.status, one.status, "{file:?} {args:?} --threads {threads}");
        assert!(several.stdout == one.stdout, "{file:?} {args:?} --threads {threads}: other records");
        assert!(several.stderr == one.stderr, "{file:?} {args:?} --threads {threads}: other diagnostics");
    }
    one.status.code()
}

const FIELDS: [&str; 2] = ["--fields", "offset,type,event,tid,time,ip,id,attr,data,no_such_field"];

/// Compares dumps on several threads, and that of one thread that reads all records, with the dump on one.
fn is_as_read_by_one(file: &Path, args: &[&str]) {
    is_the_same(file, false, args, 1);
    let (one, by_one) =
        (dump(file, false, "1", args), dump(file, false, "3", &[args, &READ_BY_ONE].concat()));
    assert_eq!(by_one.status, one.status, "{file:?} {args:?}");
    assert!(by_one.stdout == one.stdout, "{file:?} {args:?}: other records");
    assert!(by_one.stderr == one.stderr, "{file:?} {args:?}: other diagnostics");
}

/// Returns a file with the attrs of a capture, and its records again and again; `None` for a capture that is not a
/// little-endian file, or whose records cannot be repeated.
fn long(capture: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u64::from_le_bytes(*capture.get(at..)?.first_chunk()?));
    if !capture.starts_with(b"PERFILE2") || word(8)? == 16 {
        return None;
    }
    let (offset, size) = (word(40)? as usize, word(48)? as usize);
    let records = capture.get(offset..offset.checked_add(size)?).filter(|records| !records.is_empty())?;
    let mut long = capture[..offset].to_vec();
    let repeated = records.repeat(BYTES.div_ceil(size));
    long[48..56].copy_from_slice(&(repeated.len() as u64).to_le_bytes());
    // No event types and no features.
    long[56..104].fill(0);
    Some([long, repeated].concat())
}

/// Returns the bytes with some of them changed: in sizes, lengths and ids among others.
fn damaged(mut bytes: Vec<u8>, from: usize) -> Vec<u8> {
    for at in (from..bytes.len()).step_by(1777) {
        bytes[at] ^= 0x55;
    }
    bytes
}

/// The options of the three ways to print records.
const FORMATS: [&[&str]; 3] = [&[], &["--format", "jsonl"], &FIELDS];

#[test]
fn of_every_capture_whole_and_damaged() {
    let mut captures = 0;
    for entry in fs::read_dir(testdata::path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            FORMATS.iter().for_each(|format| is_as_read_by_one(&path, format));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        captures += 1;
        let damage = written(&format!("damaged-{name}"), &damaged(bytes.clone(), 0x400));
        // Each way to print has a third of the captures, or all.
        let formats = if testdata::is_thorough() { FORMATS.len() } else { 1 };
        for format in FORMATS.iter().cycle().skip(captures % FORMATS.len()).take(formats) {
            is_as_read_by_one(&path, format);
            is_as_read_by_one(&damage, format);
        }
    }
    assert!(captures > 20, "{captures}");
}

#[test]
fn of_captures_in_several_parts_whole_and_damaged() {
    let mut captures = 0;
    for entry in fs::read_dir(testdata::path("")).unwrap() {
        let path = entry.unwrap().path();
        let Some(long) = fs::read(&path).ok().and_then(|bytes| long(&bytes)) else { continue };
        let name = path.file_name().unwrap().to_str().unwrap();
        let format = FORMATS[captures % FORMATS.len()];
        captures += 1;
        let start = u64::from_le_bytes(*long[40..].first_chunk().unwrap()) as usize;
        let damage = damaged(long.clone(), start + 300_000);
        is_as_read_by_one(&written(&format!("long-{name}"), &long), format);
        is_as_read_by_one(&written(&format!("long-damaged-{name}"), &damage), format);
    }
    assert!(captures > 20, "{captures}");
}

#[test]
fn of_a_stream() {
    let file = written("stream", &stream());
    for is_stdin in [false, true] {
        for args in [&[][..], &["--format", "jsonl"], &FIELDS, &["--order", "time"], &["--limit", "5000"]] {
            assert_eq!(is_the_same(&file, is_stdin, args, 5000), Some(0));
        }
    }
}

#[test]
fn of_a_damaged_stream() {
    let file = written("damaged", &damaged(repeated(true), 20_000));
    for args in [&[][..], &["--format", "jsonl"], &FIELDS, &["--order", "time"], &["--limit", "1500"]] {
        assert_eq!(is_the_same(&file, true, args, 1500), Some(3));
    }
}

#[test]
fn of_a_file_and_of_a_folder() {
    let (stream, bytes) = (written("to-file", &stream()), stream());
    let folder = scratch("folder");
    fs::create_dir_all(&folder).unwrap();
    let data = folder.join("data");
    let repaired =
        Command::new(env!("CARGO_BIN_EXE_perfdata")).arg("repair").arg(&stream).arg("-o").arg(&data).output();
    assert!(repaired.unwrap().status.success());
    for args in [&["--format", "jsonl"][..], &FIELDS, &["--type", "SAMPLE", "--order", "time"]] {
        assert_eq!(is_the_same(&data, false, args, 1200), Some(0));
    }
    for name in ["data.0", "data.1"] {
        fs::write(folder.join(name), &bytes[HEADER..]).unwrap();
    }
    for args in [&["--format", "jsonl"][..], &["--order", "time", "--limit", "5000"]] {
        is_the_same(&folder, false, args, 5000);
    }
}

#[test]
fn of_a_compressed_stream() {
    let bytes = stream();
    // The attrs come first and are not compressed.
    let once = fs::read(testdata::path("buildid.pipe.data")).unwrap();
    let records = &bytes[once.len()..];
    let mut compressed = once;
    for chunk in zstd::bulk::compress(records, 1).unwrap().chunks(60_000) {
        compressed.extend(81_u32.to_le_bytes());
        compressed.extend([0, 0]);
        compressed.extend((chunk.len() as u16 + 8).to_le_bytes());
        compressed.extend(chunk);
    }
    let file = written("compressed", &compressed);
    for args in [&["--format", "jsonl"][..], &FIELDS, &["--order", "time"]] {
        assert_eq!(is_the_same(&file, true, args, 5000), Some(0));
        assert_eq!(is_the_same(&file, false, args, 5000), Some(0));
    }
}

/// The options of the ways to print samples, and of what depends on the samples before.
///
/// Without symbols: reading those of the kernel again and again would take most of the time.
const SCRIPTS: [&[&str]; 4] = [
    &["--no-symbols"],
    &["--no-symbols", "--format", "jsonl"],
    &["--no-symbols", "-F", "+period,+misc", "--reltime", "--show-task-events", "--show-mmap-events"],
    &["--no-symbols", "--deltatime", "--ns", "--hide-call-graph", "--show-lost-events", "--header"],
];

#[test]
fn of_the_samples_of_every_capture_whole_and_damaged() {
    let mut captures = 0;
    for entry in fs::read_dir(testdata::path("")).unwrap() {
        let path = entry.unwrap().path();
        for args in SCRIPTS.iter().take(2) {
            is_the_same_by("script", &path, false, args, 0);
        }
        let Some(long) = fs::read(&path).ok().and_then(|bytes| long(&bytes)) else { continue };
        let name = path.file_name().unwrap().to_str().unwrap();
        let start = u64::from_le_bytes(*long[40..].first_chunk().unwrap()) as usize;
        let damage = damaged(long.clone(), start + 300_000);
        let args = SCRIPTS[captures % SCRIPTS.len()];
        captures += 1;
        is_the_same_by("script", &written(&format!("samples-{name}"), &long), false, args, 0);
        is_the_same_by("script", &written(&format!("samples-damaged-{name}"), &damage), false, args, 0);
    }
    assert!(captures > 20, "{captures}");
}

#[test]
fn of_samples_with_the_names_of_this_machine() {
    for capture in ["callchain.data", "dwarf.data"] {
        assert_eq!(is_the_same_by("script", &testdata::path(capture), false, &[], 10), Some(0));
    }
}

#[test]
fn of_the_samples_of_a_stream_whole_and_damaged() {
    let (whole, damage) = (stream(), damaged(repeated(true), 20_000));
    let (whole, damage) = (written("samples-stream", &whole), written("samples-damaged-stream", &damage));
    for args in SCRIPTS {
        assert_eq!(is_the_same_by("script", &whole, true, args, 1000), Some(0));
        assert_eq!(is_the_same_by("script", &damage, true, args, 100), Some(3));
    }
}

/// The ways to collect samples.
const COLLECTED: [(&str, &[&str]); 6] = [
    ("fold", &["--no-symbols", "--root", "tid"]),
    ("fold", &["--no-symbols", "--max-stack", "2", "--weight", "samples"]),
    ("export", &["--no-symbols", "--to", "firefox", "-o", "-"]),
    ("flamegraph", &["--no-symbols", "-o", "-"]),
    ("report", &["--no-symbols", "--sort", "comm,tid,dso,sym"]),
    ("report", &["--no-symbols", "--no-children", "--sort", "cpu,addr,dso_size,trace"]),
];

#[test]
fn of_collected_samples_of_every_capture_whole_and_damaged() {
    let mut captures = 0;
    for entry in fs::read_dir(testdata::path("")).unwrap() {
        let path = entry.unwrap().path();
        // One block has all of a short capture: the way to collect makes little difference.
        let (verb, args) = COLLECTED[captures % COLLECTED.len()];
        is_the_same_by(verb, &path, false, args, 0);
        let Some(long) = fs::read(&path).ok().and_then(|bytes| long(&bytes)) else { continue };
        let name = path.file_name().unwrap().to_str().unwrap();
        let start = u64::from_le_bytes(*long[40..].first_chunk().unwrap()) as usize;
        let damage = damaged(long.clone(), start + 300_000);
        captures += 1;
        // One has counts, and no samples.
        let lines = usize::from(name != "perf_stat.data");
        is_the_same_by(verb, &written(&format!("collected-{name}"), &long), false, args, lines);
        is_the_same_by(verb, &written(&format!("collected-damaged-{name}"), &damage), false, args, lines);
    }
    assert!(captures > 20, "{captures}");
}

#[test]
fn of_collected_samples_of_a_stream_whole_and_damaged() {
    let (whole, damage) = (stream(), damaged(repeated(true), 20_000));
    let (whole, damage) = (written("collected-stream", &whole), written("collected-damaged", &damage));
    for (verb, args) in COLLECTED {
        assert_eq!(is_the_same_by(verb, &whole, true, args, 1), Some(0));
        assert_eq!(is_the_same_by(verb, &damage, true, args, 1), Some(3));
    }
}

/// Copies of stacks, unwound by several threads, and chains with the names of this machine.
#[test]
fn of_collected_samples_with_names() {
    for (capture, verb) in [("callchain.data", "fold"), ("dwarf.data", "fold"), ("dwarf.data", "report")] {
        let long = long(&fs::read(testdata::path(capture)).unwrap()).unwrap();
        let file = written(&format!("named-{verb}-{capture}"), &long);
        assert_eq!(is_the_same_by(verb, &file, false, &[], 5), Some(0));
    }
}

#[test]
fn a_reader_that_goes_away_ends_all_threads_quietly() {
    let file = written("head", &stream());
    for verb in ["dump", "script"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
        command.args([verb, "--threads", "5"]).arg(&file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{verb}");
        assert!(line.ends_with('\n'));
    }
}

#[test]
fn none_is_wrong_usage() {
    let output = dump(&testdata::path("plain.data"), false, "0", &[]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
}

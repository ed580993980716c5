//! The number of threads that format a dump does not change its output, messages and exit status.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The size of the records in the captures made here: several batches for each thread.
const BYTES: usize = 600_000;

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["dump", "--threads", threads]).args(args);
    if is_stdin {
        command.arg("-").stdin(File::open(file).unwrap()).output().unwrap()
    } else {
        command.arg(file).output().unwrap()
    }
}

/// Compares dumps on several threads with the dump on one, which has at least `lines` lines. Returns the exit status.
fn is_the_same(file: &Path, is_stdin: bool, args: &[&str], lines: usize) -> Option<i32> {
    let one = dump(file, is_stdin, "1", args);
    let printed = one.stdout.iter().filter(|&&byte| byte == b'\n').count();
    assert!(printed >= lines, "{file:?} {args:?}: {printed} lines");
    for threads in ["2", "5"] {
        let several = dump(file, is_stdin, threads, args);
        assert_eq!(several.status, one.status, "{file:?} {args:?} --threads {threads}");
        assert!(several.stdout == one.stdout, "{file:?} {args:?} --threads {threads}: other records");
        assert!(several.stderr == one.stderr, "{file:?} {args:?} --threads {threads}: other diagnostics");
    }
    one.status.code()
}

const FIELDS: [&str; 2] = ["--fields", "offset,type,event,tid,time,ip,id,attr,data,no_such_field"];

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
    let mut bytes = repeated(true);
    // Some of these bytes are in sizes, lengths and ids.
    for at in (20_000..bytes.len()).step_by(1777) {
        bytes[at] ^= 0x55;
    }
    let file = written("damaged", &bytes);
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

#[test]
fn a_reader_that_goes_away_ends_all_threads_quietly() {
    let file = written("head", &stream());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["dump", "--threads", "5"]).arg(&file).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    assert!(line.ends_with('\n'));
}

#[test]
fn none_is_wrong_usage() {
    let output = dump(&testdata::path("plain.data"), false, "0", &[]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
}

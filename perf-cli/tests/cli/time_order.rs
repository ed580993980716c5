//! `--order time` of captures for which more records must be held than the default limits allow.

use std::fs::File;
use std::process::{Command, Stdio};

use super::{dump, scratch};

/// Returns the header of a stream, and an event whose samples have IP, TID and TIME.
fn start() -> Vec<u8> {
    let mut attr = [0; 128];
    // type SOFTWARE, size, sample_period, sample_type.
    for (at, value) in [(0, 1), (4, 128), (16, 4000), (24, 0b111)] {
        attr[at..at + 2].copy_from_slice(&u16::to_le_bytes(value));
    }
    [b"PERFILE2\x10\0\0\0\0\0\0\0\x40\0\0\0\0\0\x90\0".as_slice(), &attr, &[1, 0, 0, 0, 0, 0, 0, 0]].concat()
}

/// Returns a sample of 32 bytes.
fn sample(time: u64) -> [u8; 32] {
    let mut record = *b"\x09\0\0\0\x02\0\x20\0\0\x10\x40\0\0\0\0\0\x01\0\0\0\x01\0\0\0________";
    record[24..].copy_from_slice(&time.to_le_bytes());
    record
}

/// A few kilobytes decompress to more bytes of samples than are held for time order. All samples have the same time.
#[test]
fn of_a_compressed_capture_of_equal_times_ends() {
    const SAMPLES: usize = 1_199_000;
    let mut bytes = start();
    for chunk in zstd::bulk::compress(&sample(5).repeat(SAMPLES), 1).unwrap().chunks(60_000) {
        bytes.extend(b"\x51\0\0\0\0\0");
        bytes.extend((chunk.len() as u16 + 8).to_le_bytes());
        bytes.extend(chunk);
    }
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let run = dump(&scratch("equal", &bytes), &["--order", "time", "--fields", "time"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    let lines = run.out.lines().filter(|line| *line == "0.000000005").count();
    assert_eq!(lines, SAMPLES);
}

#[test]
fn of_a_sorted_stream_without_rounds_ends() {
    const SAMPLES: u64 = 2_300_000;
    let mut bytes = start();
    (1..=SAMPLES).for_each(|time| bytes.extend(sample(time)));
    let file = File::open(scratch("sorted", &bytes)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["dump", "-", "--order", "time", "--fields", "time"]);
    let output = command.stdin(Stdio::from(file)).output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out.lines().filter(|line| line.starts_with("0.0")).count() as u64, SAMPLES);
    assert!(out.trim_end().ends_with("0.002300000"), "{:?}", out.lines().last());
}

//! The index of a capture: its statements about the records, and its errors for hostile bytes.

#![cfg(feature = "std")]

mod batches;
mod encoded;
mod limits;
mod parts;
mod pieces;
mod queries;
mod walk;

use std::fs;
use std::path::PathBuf;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::{EventRecord, Index, Reader};
use testdata::Bytes;

/// Returns the bytes of each file of the repository that can be opened as a capture, with its path.
fn captures() -> Vec<(PathBuf, Vec<u8>)> {
    let root = testdata::path("../..");
    let folders = [root.join("testdata"), root.join("perf-parse/examples/captures")];
    let files = folders.iter().flat_map(|folder| testdata::files_below(folder));
    let mut captures: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    captures.retain(|(_, bytes)| Reader::new(bytes).is_ok());
    assert!(captures.len() > 100, "{}", captures.len());
    captures
}

fn index(reader: &Reader<'_>) -> Index {
    Index::from_records(reader.records()).unwrap()
}

/// The records that a walk returns.
fn records<'r>(reader: &'r Reader<'_>) -> Vec<EventRecord<'r>> {
    reader.records().filter_map(Result::ok).collect()
}

/// One event whose samples, and other records, have thread, time and CPU.
fn events() -> Events {
    let sample_type = SampleType::TID | SampleType::TIME | SampleType::CPU;
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    [(attr, vec![])].into_iter().collect()
}

/// A sample, of 32 bytes.
fn sample(tid: i32, time: u64, cpu: u32) -> Vec<u8> {
    Bytes::new(false).i32(1).i32(tid).u64(time).u32(cpu).u32(0).record(9, 0)
}

/// A SWITCH record, of 32 bytes.
fn switch(tid: i32, time: u64, cpu: u32) -> Vec<u8> {
    Bytes::new(false).i32(1).i32(tid).u64(time).u32(cpu).u32(0).record(14, 0)
}

/// A FINISHED_ROUND record, of 8 bytes and without a time.
fn round() -> Vec<u8> {
    Bytes::new(false).record(68, 0)
}

/// A reader of such records.
fn ring(data: &[u8]) -> Reader<'_> {
    Reader::from_records(events(), Endianness::Little, data)
}

/// Records over 20 chunks, of several threads and CPUs, with times that are not in order.
fn several_chunks() -> Vec<u8> {
    let mut data = Vec::new();
    for number in 0..40_000_u64 {
        let (tid, cpu) = ((number / 3000) as i32 - 1, (number / 700 % 4) as u32);
        let time = 1_000_000 + number * 10 - number % 7 * 3000;
        data.extend(match number % 50 {
            0 => round(),
            1..=3 => switch(tid, time, cpu),
            _ => sample(tid, time, cpu),
        });
    }
    data
}

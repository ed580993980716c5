//! The reader in every mode: streams, folders, compressed captures, time order, damage.

#![cfg(feature = "std")]

mod blocks;
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
mod compressed;
mod deferred;
mod directory;
mod doors;
mod limits;
mod look_ahead;
mod order;
mod order_limits;
mod pipe;
mod provisional;
mod salvage;
mod shared;
mod simpleperf;
mod stale;
mod truncation;
mod types;

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{Account, EventRecords, FileError, FileErrorKind, Limits};
use perf_parse::{EventRecord, Reader};

use testdata::Bytes;

/// A record as the reader returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    offset: u64,
    decompressed: Option<u64>,
    data_file: usize,
    kind: RecordType,
    raw: Vec<u8>,
    event: Option<usize>,
    time: Option<u64>,
    decodes: bool,
}

impl Seen {
    fn of(record: &EventRecord<'_>) -> Self {
        Self {
            offset: record.offset(),
            decompressed: record.position().decompressed,
            data_file: record.position().data_file,
            kind: record.kind(),
            raw: record.raw().as_bytes().to_vec(),
            event: record.event_index(),
            time: record.time(),
            decodes: record.decode().is_ok(),
        }
    }
}

/// Everything that a walk returned.
#[derive(Clone, Debug, PartialEq)]
struct Walk {
    seen: Vec<Seen>,
    errors: Vec<FileError>,
    account: Account,
    names: Vec<Option<Vec<u8>>>,
    /// The numbers of the features and their bytes.
    features: Vec<(u32, Vec<u8>)>,
    /// Offset of the walk at the end.
    end: u64,
}

impl Walk {
    fn raw(&self) -> Vec<&[u8]> {
        self.seen.iter().map(|it| it.raw.as_slice()).collect()
    }

    fn times(&self) -> Vec<Option<u64>> {
        self.seen.iter().map(|it| it.time).collect()
    }

    fn kinds(&self) -> Vec<FileErrorKind> {
        self.errors.iter().map(|error| error.kind).collect()
    }
}

/// Reads to the end.
fn walk(mut records: EventRecords<'_>) -> Walk {
    let (mut seen, mut errors) = (Vec::new(), Vec::new());
    for record in &mut records {
        match record {
            Ok(record) => seen.push(Seen::of(&record)),
            Err(error) => errors.push(error),
        }
        assert!(errors.len() < 1_000_000, "no end");
    }
    assert!(records.next().is_none(), "the end stays the end");
    Walk {
        seen,
        errors,
        account: records.account().clone(),
        names: records.events().iter().map(|event| event.name.clone()).collect(),
        features: records.features().iter().map(|it| (it.feature.0, it.bytes.to_vec())).collect(),
        end: records.reached().offset,
    }
}

/// Reads a capture in time order. A thread that finds the order ahead changes nothing, whether the walk waits for it or not.
fn in_order(reader: &Reader<'_>) -> Walk {
    let alone = walk(reader.records().in_time_order());
    for waits in [false, true] {
        let ahead = thread::scope(|scope| {
            let records = reader.records().in_time_order().order_ahead(scope);
            if waits {
                thread::sleep(Duration::from_millis(1));
            }
            walk(records)
        });
        assert_eq!(ahead, alone);
    }
    alone
}

/// Reads a capture in memory in its order.
fn read(bytes: &[u8]) -> Walk {
    walk(Reader::new(bytes).unwrap().records())
}

/// Reads a capture in memory in time order.
fn read_by_time(bytes: &[u8]) -> Walk {
    in_order(&Reader::new(bytes).unwrap())
}

/// Reads a capture in memory in time order, within limits.
fn by_time_within(bytes: &[u8], limits: &Limits) -> Walk {
    in_order(&Reader::new_within(bytes, limits).unwrap())
}

/// A stream that returns at most `most` bytes at a time.
struct Trickle<'a> {
    bytes: &'a [u8],
    most: usize,
    /// The error after the bytes, instead of the end.
    fails: Option<io::ErrorKind>,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() {
            if let Some(kind) = self.fails {
                return Err(kind.into());
            }
        }
        let most = self.most.min(buffer.len());
        (&mut self.bytes).take(most as u64).read(buffer)
    }
}

/// Reads a stream that returns at most `most` bytes at a time.
fn read_stream(bytes: &[u8], most: usize) -> Walk {
    walk(Reader::stream(Trickle { bytes, most, fails: None }).unwrap().records())
}

/// Returns the bytes of a capture of the test data.
fn capture(name: &str) -> Vec<u8> {
    std::fs::read(testdata::path(name)).unwrap()
}

/// Returns an attr whose records have their time and their event's id.
fn timed() -> Attr {
    let sample_type = SampleType::IDENTIFIER | SampleType::TIME;
    Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..Attr { sample_type, ..Attr::default() } }
}

/// Returns a sample of the event with id 7.
fn sample(time: u64) -> Vec<u8> {
    Bytes::new(false).u64s(&[7, time]).record(9, 0)
}

/// Returns a record that ends a round.
fn round() -> Vec<u8> {
    Bytes::new(false).record(68, 0)
}

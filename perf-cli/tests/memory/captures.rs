//! Captures that need as much memory as possible for their size, one for each row of limits in SECURITY.md.

use std::fs;
use std::path::Path;

use perf_parse::abi::endian::Endianness;
use perf_parse::tracepoint::TracingDataFields;
use testdata::Bytes;
use zstd::zstd_safe::CParameter;

/// A capture, and the size of its decompressed content.
pub(crate) struct Capture {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes in its compressed records after decompression.
    pub(crate) inflated: usize,
}

impl Capture {
    pub(crate) fn write(&self, path: &Path) {
        fs::write(path, &self.bytes).unwrap();
    }
}

/// One capture per row, in ascending size, because the memory for making one counts for those after it.
pub(crate) const ALL: [fn() -> Capture; 12] = [
    faults,
    falling_times,
    strings_of_a_feature,
    formats_of_tracepoints,
    many_ids,
    ids_that_events_share,
    many_ids_of_a_pipe,
    many_events,
    one_id_of_many_events,
    many_events_of_a_pipe,
    before_the_first_record_of_a_pipe,
    compressed,
];

const TIME: u64 = 1 << 2;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// `sample_id_all`.
const SAMPLE_ID_ALL: u64 = 1 << 18;

fn words(words: &[u64]) -> Vec<u8> {
    Bytes::new(false).u64s(words).out
}

/// Returns the oldest and smallest attr.
fn attr(sample_type: u64) -> Vec<u8> {
    words(&[64 << 32, 0, 0, sample_type, 0, SAMPLE_ID_ALL, 0, 0])
}

fn record(kind: u32, payload: &[u8]) -> Vec<u8> {
    Bytes::new(false).raw(payload).record(kind, 0)
}

/// Returns a file with events of these ids, which are ranges of `ids`.
fn file(sample_type: u64, events: &[(usize, usize)], ids: &[u64], data: &[u8]) -> Vec<u8> {
    let attrs = 104 + 8 * ids.len();
    let start = attrs + 80 * events.len();
    let sections = [attrs, 80 * events.len(), start, data.len(), 0, 0, 0, 0, 0, 0].map(|word| word as u64);
    let mut out = [b"PERFILE2".as_slice(), &words(&[104, 80]), &words(&sections), &words(ids)].concat();
    for &(first, count) in events {
        out.extend(attr(sample_type));
        out.extend(words(&[104 + 8 * first as u64, 8 * count as u64]));
    }
    out.extend(data);
    out
}

fn pipe(records: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = [b"PERFILE2".as_slice(), &words(&[16])].concat();
    records.for_each(|record| out.extend(record));
    out
}

/// Returns numbers of 20 digits that are all different.
fn ids(count: u64) -> Vec<u64> {
    (1..=count).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63).collect()
}

fn round() -> Vec<u8> {
    record(68, &[])
}

fn plain(name: &'static str, bytes: Vec<u8>) -> Capture {
    Capture { name, bytes, inflated: 0 }
}

pub(crate) fn small() -> Capture {
    plain("small", file(TIME, &[(0, 0)], &[], &round()))
}

fn many_events() -> Capture {
    plain("many events", file(TIME | IDENTIFIER, &[(0, 0); 65_536], &[], &round()))
}

fn many_events_of_a_pipe() -> Capture {
    let attrs = (0..65_536).map(|_| record(64, &attr(TIME | IDENTIFIER)));
    plain("many events of a pipe", pipe(attrs.chain([round()])))
}

fn one_id_of_many_events() -> Capture {
    plain("one id of many events", file(TIME | IDENTIFIER, &[(0, 1); 65_536], &[7], &round()))
}

fn many_ids() -> Capture {
    plain("many ids", file(TIME | IDENTIFIER, &[(0, 500_000)], &ids(500_000), &round()))
}

fn many_ids_of_a_pipe() -> Capture {
    let ids = ids(500_000);
    let attrs = ids.chunks(8000).map(|ids| record(64, &[attr(TIME | IDENTIFIER), words(ids)].concat()));
    plain("many ids of a pipe", pipe(attrs.chain([round()])))
}

/// Sections of ids that overlap: the file has as many ids as words.
fn ids_that_events_share() -> Capture {
    let events: Vec<_> = (0..50).map(|event| (100 * event, 10_000)).collect();
    plain("ids that events share", file(TIME | IDENTIFIER, &events, &ids(500_000), &round()))
}

/// A file with one feature after its data.
fn with_feature(number: usize, payload: &[u8]) -> Vec<u8> {
    let mut out = file(TIME, &[(0, 0)], &[], &round());
    // The bitmap of the features is at the end of the header.
    out[72 + number / 8] |= 1 << (number % 8);
    let place = [out.len() as u64 + 16, payload.len() as u64];
    out.extend(words(&place));
    out.extend(payload);
    out
}

/// CMDLINE of strings that have a byte and a NUL each.
fn strings_of_a_feature() -> Capture {
    const STRINGS: u32 = 400_000;
    let payload = [STRINGS.to_le_bytes().as_slice(), &b"\x02\0\0\0a\0".repeat(STRINGS as usize)].concat();
    plain("strings of a feature", with_feature(11, &payload))
}

fn formats_of_tracepoints() -> Capture {
    let field = |at: usize| format!("\tfield:u8 {at};\toffset:{at};\tsize:1;\tsigned:0;\n");
    let fields: String = (0..100).map(field).collect();
    let format = |id: usize| format!("name: n\nID: {id}\nformat:\n{fields}\nprint fmt: \"\"\n").into_bytes();
    let systems = vec![(b"s".to_vec(), (0..500).map(format).collect())];
    let fields = TracingDataFields { long_size: 8, page_size: 4096, systems, ..TracingDataFields::default() };
    let mut payload = Vec::new();
    fields.write(&mut payload, Endianness::Little).unwrap();
    plain("formats of tracepoints", with_feature(1, &payload))
}

/// A pipe with more bytes of features before its first record than the reader looks ahead. The features are unknown.
fn before_the_first_record_of_a_pipe() -> Capture {
    let feature = |number: u64| record(80, &[words(&[number]), vec![1; 60_000]].concat());
    plain("before the first record of a pipe", pipe((0..300).map(|n| feature(200 + n % 50)).chain([round()])))
}

/// Records without an event; each is an error.
fn faults() -> Capture {
    let data = record(9, &words(&[9, 5])).repeat(20_000);
    plain("faults", file(TIME | IDENTIFIER, &[(0, 1), (1, 1)], &[1, 2], &data))
}

/// Records with descending times. In time order, each of them is a separate run.
fn falling_times() -> Capture {
    let data: Vec<_> = (1..=100_000).rev().flat_map(|time| record(9, &words(&[time]))).collect();
    plain("falling times", file(TIME, &[(0, 0)], &[], &data))
}

/// 24 MB of samples, compressed to a few KB with the largest window. In time order, the reader copies all of them.
fn compressed() -> Capture {
    let raw = [5_u64.to_le_bytes().as_slice(), &59_996_u32.to_le_bytes(), &[0; 59_996]].concat();
    let content = record(9, &raw).repeat(400);
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.set_parameter(CParameter::WindowLog(27)).unwrap();
    compressor.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
    let payload = compressor.compress(&content).unwrap();
    let data: Vec<_> = payload.chunks(60_000).flat_map(|payload| record(81, payload)).collect();
    let bytes = file(TIME | RAW, &[(0, 0)], &[], &data);
    Capture { name: "compressed", bytes, inflated: content.len() }
}

//! Any bytes as a stream, read in small pieces of odd sizes: the records and errors equal those from memory, in file
//! order and in time order.

use std::io::{self, Read};

use perf_abi::endian::{BigEndian, Endian, LittleEndian, U64};
use perf_abi::file::{MAGIC, PipeHeader};
use perf_abi::record::RecordType;
use perf_parse::file::{EventRecords, FileError, FileErrorKind, Limits};
use perf_parse::{EventRecord, Reader};
use zerocopy::IntoBytes;

use super::parse_file::is_compressed;
use super::walk::{decode, walk};

/// Bits of the first byte.
const BIG: u8 = 1;
const BY_TIME: u8 = 2;
/// The stream fails at its end.
const FAILS: u8 = 4;

/// The first byte of `data` has the bits, the second determines the sizes of the pieces, the rest are the bytes after
/// the header of the stream.
pub fn run(data: &[u8]) -> bool {
    let Some((&[bits, seed], stream)) = data.split_first_chunk() else { return false };
    if bits & BIG != 0 {
        check::<BigEndian>(bits, seed, stream);
    } else {
        check::<LittleEndian>(bits, seed, stream);
    }
    true
}

fn check<O: Endian>(bits: u8, seed: u8, stream: &[u8]) {
    let header = PipeHeader::<O> { magic: U64::new(MAGIC), size: U64::new(16) };
    let bytes = [header.as_bytes(), stream].concat();
    let pieces = Pieces { rest: &bytes, state: seed, fails: bits & FAILS != 0 };
    let mut limits = Limits::default();
    limits.held_records = 2 + usize::from(seed % 8);
    let by_time = bits & BY_TIME != 0;
    match Reader::stream_within(pieces, &limits) {
        Ok(streamed) => compare(&streamed, &bytes, by_time),
        Err(error) => assert_eq!(error.kind, FileErrorKind::Io(io::ErrorKind::Other)),
    }
}

/// Walks over the stream and over the same bytes in memory.
fn compare(streamed: &Reader<'_>, bytes: &[u8], by_time: bool) {
    let held = Reader::new_within(bytes, streamed.limits()).expect("it has a header");
    let (mut streamed, mut held) = (streamed.records(), held.records());
    if by_time {
        (streamed, held) = (streamed.in_time_order(), held.in_time_order());
    }
    for _ in 0..=2 * bytes.len() {
        match (streamed.next(), held.next()) {
            (Some(Ok(record)), Some(Ok(expected))) if is_same(&record, &expected) => decode(&record),
            (None, None) => return same_account(&streamed, &held, bytes),
            (Some(Err(error)), Some(Err(expected))) if error == expected => {}
            // The stream finds the missing end of AUX data when it skips the data; or its reads fail.
            (record, expected) if is_cut(&record, &expected) => {
                walk(&mut streamed, bytes.len(), decode);
                return;
            }
            (record, expected) => panic!("streamed: {record:?}, in memory: {expected:?}"),
        }
    }
    panic!("no end");
}

fn is_same(record: &EventRecord<'_>, expected: &EventRecord<'_>) -> bool {
    let places = |it: &EventRecord<'_>| (it.position(), it.event_index(), it.time());
    // A stream does not hold AUX data.
    let is_aux = record.kind() == RecordType::AUXTRACE;
    assert_eq!(record.event().is_some(), expected.event().is_some());
    places(record) == places(expected)
        && record.raw().as_bytes() == expected.raw().as_bytes()
        && record.trailing_size() == expected.trailing_size()
        && (is_aux || record.trailing() == expected.trailing())
}

type Next<'a> = Option<Result<EventRecord<'a>, FileError>>;

/// Returns whether a stream may differ here from the same bytes in memory, because it ends early.
fn is_cut(record: &Next<'_>, expected: &Next<'_>) -> bool {
    let is_aux = |error: &FileError| error.field() == "auxtrace.size";
    match (record, expected) {
        (Some(Err(FileError { kind: FileErrorKind::Io(_), .. })), _) => true,
        // A record that is longer than a stream may hold is not read, so that it is not known how much of it is there.
        (Some(Err(error)), Some(Err(expected))) if error.field() == "payload" => {
            error.offset == expected.offset && error.field() == expected.field()
        }
        (Some(Ok(record)), Some(Err(error))) => is_aux(error) && record.kind() == RecordType::AUXTRACE,
        (Some(Err(error)), _) | (_, Some(Err(error))) => is_aux(error),
        _ => false,
    }
}

fn same_account(streamed: &EventRecords<'_>, held: &EventRecords<'_>, bytes: &[u8]) {
    let (account, expected) = (streamed.account(), held.account());
    assert_eq!(account, expected);
    assert_eq!(streamed.events().len(), held.events().len());
    assert_eq!(streamed.features(), held.features());
    assert_eq!(streamed.reached().offset, bytes.len() as u64);
    if !is_compressed(account) {
        assert_eq!(16 + account.bytes + account.bytes_skipped, bytes.len() as u64);
    }
}

/// A reader that returns a few bytes at a time.
struct Pieces<'a> {
    rest: &'a [u8],
    state: u8,
    fails: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.state = self.state.wrapping_mul(73).wrapping_add(41);
        if self.state < 16 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // Up to a third of the pieces have one byte.
        let size = usize::from(self.state >> 3).saturating_sub(10).clamp(1, self.rest.len().max(1));
        if self.rest.is_empty() {
            return if self.fails { Err(io::ErrorKind::Other.into()) } else { Ok(0) };
        }
        let (now, later) = self.rest.split_at(size.min(buffer.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.rest = later;
        Ok(now.len())
    }
}

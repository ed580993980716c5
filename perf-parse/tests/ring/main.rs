//! Rings: the walkers against a model that unrolls the ring byte by byte, every error with its position, and the
//! arithmetic of the control page against vectors.

#![cfg(feature = "alloc")]

mod aux_area;
mod dump;
mod errors;
mod merge;
mod oracle;
mod page;
mod walk;

use perf_parse::abi::endian::Endian;
use perf_parse::ring::{Buffer, OldestFirst, RingError, RingErrorKind, RingWalk};

use testdata::Bytes;

/// A record in a test: its position and its bytes.
type Seen = (u64, Vec<u8>);

/// Returns the bytes of a record.
fn bytes<O: Endian>(record: &perf_parse::RawRecord<'_, O>) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.write(&mut bytes);
    bytes
}

/// Returns all records of a walker, and the error at its end.
macro_rules! collect {
    ($name:ident, $Walker:ident, $position_is:ident) => {
        fn $name<O: Endian>(ring: &mut $Walker<'_, O>) -> (Vec<Seen>, Option<RingError>) {
            let (mut seen, mut error, mut buffer) = (Vec::new(), None, Buffer::new());
            loop {
                let before = ring.position();
                let Some(record) = ring.next(&mut buffer) else { return (seen, error) };
                match record {
                    Ok(record) => seen.push(($position_is(before, ring.position()), bytes(&record))),
                    Err(it) => assert_eq!(error.replace(it), None, "two errors"),
                }
            }
        }
    };
}

fn before(before: u64, _: u64) -> u64 {
    before
}

fn after(_: u64, after: u64) -> u64 {
    after
}

collect!(in_memory_order, RingWalk, before);
collect!(oldest, OldestFirst, after);

/// Makes a record of `size` bytes with a payload that identifies it.
fn record(big: bool, kind: u32, size: u16, mark: u8) -> Vec<u8> {
    let mut record = Bytes::new(big).u32(kind).u16(0).u16(size).out;
    record.resize(usize::from(size.max(8)), mark);
    record
}

fn invalid(field: &'static str, value: u64, must: &'static str, position: u64) -> RingError {
    RingError { kind: RingErrorKind::Invalid { field, value, must }, position }
}

fn truncated(field: &'static str, needed: u64, available: u64, position: u64) -> RingError {
    RingError { kind: RingErrorKind::Truncated { field, needed, available }, position }
}

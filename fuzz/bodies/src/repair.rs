//! Any bytes as a capture, repaired: the output is clean in both orders, has as many records as reported, and a
//! second repair does not change it.

use std::io::Cursor;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::write::WriteFileError;
use perf_parse::file::{AnyReader, Reader, RecordCheck, repair};

use super::walk::walk;

/// `data` is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    match AnyReader::open(data) {
        Ok(AnyReader::Little(reader)) => check(reader),
        Ok(AnyReader::Big(reader)) => check(reader),
        Err(_) => false,
    }
}

fn check<O: Endian>(mut damaged: Reader<'_, O>) -> bool {
    let repaired = match repair::repair(&mut damaged, Cursor::new(Vec::new()), |_| {}) {
        Ok(repaired) => repaired,
        // The attr has more bytes than a file can hold.
        Err(WriteFileError::Event { field: "attr_tail", .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let bytes = repaired.out.into_inner();
    let mut reader = Reader::<O>::open(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.check_features(), []);
    let tracing_data = reader.feature(Feature::TRACING_DATA).map(|it| it.bytes.to_vec()).unwrap_or_default();
    let every = RecordCheck::new(&tracing_data);
    // A file without records would look truncated, so it gets one.
    let expected = repaired.written.max(1);
    for by_time in [false, true] {
        reader.rewind();
        if by_time {
            reader.in_time_order();
        }
        let records = walk(&mut reader, bytes.len(), |record| {
            every.record(record).unwrap_or_else(|error| panic!("{error}"));
        });
        assert_eq!(records.len() as u64, expected);
        assert!(reader.account().is_clean(), "{:?}", reader.account().diagnostics);
    }

    // Returns to file order.
    reader.rewind();
    let again = repair::repair(&mut reader, Cursor::new(Vec::new()), |_| {}).expect("it was just written");
    assert_eq!((again.written, again.dropped), (expected, 0));
    assert!(again.features_dropped.is_empty());
    assert!(again.out.into_inner() == bytes, "a second repair changes the file");
    true
}

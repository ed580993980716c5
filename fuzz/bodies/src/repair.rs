//! Any bytes as a capture, repaired: the output is clean in both orders, has as many records as reported, and a
//! second repair does not change it.

use std::io::Cursor;

use perf_abi::feature::Feature;
use perf_parse::Reader;
use perf_parse::file::RecordCheck;
use perf_parse::file::write::WriteFileError;
use perf_parse::rewrite::{RepairOrder, repair};

use super::walk::walk;

/// `data` is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    Reader::new(data).is_ok_and(|reader| check(&reader))
}

fn check(damaged: &Reader<'_>) -> bool {
    let repaired = match repair(damaged, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}) {
        Ok(repaired) => repaired,
        // The attr has more bytes than a file can hold.
        Err(WriteFileError::Event { field: "attr_tail", .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let bytes = repaired.out.into_inner();
    let reader = Reader::new(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.records().check_features(), []);
    let every = RecordCheck::new(reader.feature(Feature::TRACING_DATA).map_or(&[], |it| it.bytes));
    // A file without records would look truncated, so it gets one.
    let expected = repaired.written.max(1);
    for by_time in [false, true] {
        let records = reader.records();
        let mut records = if by_time { records.in_time_order() } else { records };
        let all = walk(&mut records, bytes.len(), |record| {
            every.record(record).unwrap_or_else(|error| panic!("{error}"));
        });
        assert_eq!(all.len() as u64, expected);
        assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    }

    let again =
        repair(&reader, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}).expect("it was just written");
    assert_eq!((again.written, again.dropped), (expected, 0));
    assert!(again.features_dropped.is_empty());
    assert!(again.out.into_inner() == bytes, "a second repair changes the file");
    true
}

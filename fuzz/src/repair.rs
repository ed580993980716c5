//! Any bytes as a capture, repaired: what comes out reads clean, has as many records as were said, and is repaired to
//! itself.

use std::io::Cursor;

use perf_abi::endian::Endian;
use perf_parse::file::write::WriteFileError;
use perf_parse::file::{AnyReader, FileErrorKind, Reader, repair};

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
        // An attr of which there is more than a file can hold.
        Err(WriteFileError::Event { field: "attr_tail", .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let bytes = repaired.out.into_inner();
    let mut reader = Reader::<O>::open(&bytes).unwrap_or_else(|error| panic!("{error}"));
    let mut undecodable = 0;
    let records = walk(&mut reader, bytes.len(), |record| {
        undecodable += u64::from(record.decode().is_err());
    });
    assert_eq!(undecodable, 0);
    // A file without records would be taken for one that was cut off: it gets one.
    assert_eq!(records.len() as u64, repaired.written.max(1));
    let account = reader.account();
    assert_eq!((account.bytes_skipped, account.diagnostics_omitted), (0, 0));
    // An event whose samples cannot be placed is kept, and said to be one.
    let is_layout = |kind| matches!(kind, FileErrorKind::Layout(_));
    assert!(account.diagnostics.iter().all(|error| is_layout(error.kind)), "{:?}", account.diagnostics);

    let again = repair::repair(&mut reader, Cursor::new(Vec::new()), |_| {}).expect("it was just written");
    assert_eq!((again.written, again.dropped), (repaired.written.max(1), 0));
    assert!(again.features_dropped.is_empty());
    assert!(again.out.into_inner() == bytes, "a second repair changes the file");
    true
}

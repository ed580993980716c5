//! An index from batches of samples is the index from one record at a time.

use perf_parse::abi::endian::Endianness;
use perf_parse::file::RecordCheck;
use perf_parse::{Index, Reader};

use super::{captures, events, index, round, sample, switch};

#[test]
fn of_captures() {
    let check = RecordCheck::new(&[]);
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        let (mut records, mut expected) = (reader.records(), reader.records());
        let of_batches = Index::from_batches(&mut records, |record| check.record(record)).unwrap();
        assert_eq!(of_batches, index(&reader), "{}", path.display());
        while let Some(record) = expected.next() {
            if let Some(error) = record.ok().and_then(|record| check.record(&record).err()) {
                expected.account_mut().note(error);
            }
        }
        assert_eq!(records.account(), expected.account(), "{}", path.display());
    }
}

/// Samples over several chunks, with other records at and near the bounds of chunks.
#[test]
fn over_chunks() {
    for between in [1, 255, 256, 257, 2047, 2048, 2049, 5000] {
        let mut bytes = Vec::new();
        for time in 0..10_000 {
            bytes.extend(match time % between {
                0 => switch(-1, time * 7919 % 10_007, 5),
                1 => round(),
                _ => sample(1 + (time % 300) as i32, time * 7919 % 10_007, (time % 3) as u32),
            });
        }
        let reader = Reader::from_records(events(), Endianness::Little, &bytes);
        let mut checked = 0_u64;
        let of_batches = Index::from_batches(&mut reader.records(), |record| {
            checked += u64::from(record.sample().is_none());
            Ok(())
        });
        let expected = index(&reader);
        assert_eq!(of_batches.unwrap(), expected, "{between}");
        let others: u64 = expected.chunks().map(|chunk| chunk.records() - chunk.samples()).sum();
        assert_eq!(checked, others);
    }
}

#[test]
fn not_in_time_order() {
    let bytes = [sample(1, 9, 0), sample(1, 5, 0), sample(1, 7, 0)].concat();
    let reader = Reader::from_records(events(), Endianness::Little, &bytes);
    let by_time = &mut reader.records().in_time_order();
    let expected = Index::from_records(reader.records().in_time_order());
    assert_eq!(Index::from_batches(by_time, |_| Ok(())), expected);
    assert!(expected.is_err());
}

//! Data inside of the records that perf writes it after: AUXTRACE and HEADER_TRACING_DATA.

use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{EventRecord, Reader};

use crate::{attr, in_both_orders, open};
use testdata::Bytes;
use testdata::file::{Builder, Built};

/// Returns a file with a record and a LOST_SAMPLES record after it.
fn with(big: bool, record: &[u8]) -> Built {
    let lost = Bytes::new(big).u64(7).record(13, 0);
    Builder::new(big).event(attr(SampleType::IP), &[]).data(record).data(lost).build()
}

/// Returns the types of all records, the data in the first one, and the number of bytes after it. Nothing may be skipped.
fn read(file: &Reader<'_>) -> (Vec<RecordType>, Option<Vec<u8>>, u64) {
    let mut records = file.records();
    let all: Vec<EventRecord<'_>> = records.by_ref().map(Result::unwrap).collect();
    let first = &all[0];
    let (inner, announced) = (first.raw().inner_data().map(Vec::from), first.trailing_size());
    assert_eq!(announced, first.trailing().len() as u64);
    let account = records.account();
    assert!(account.is_clean());
    assert_eq!(account.announced, announced);
    (all.iter().map(EventRecord::kind).collect(), inner, announced)
}

/// simpleperf wrote tracing data so until 2018.
fn tracing_data(big: bool) {
    let kinds = vec![RecordType::HEADER_TRACING_DATA, RecordType::LOST_SAMPLES];
    // The record may end where the data does, or later.
    for padding in [0, 4, 40] {
        let record = Bytes::new(big).u32(8).raw(b"formats.").zeros(padding).record(66, 0);
        let built = with(big, &record);
        let file = open(&built.bytes).unwrap();
        assert_eq!(read(&file), (kinds.clone(), Some(b"formats.".to_vec()), 0));
        // A file has its tracing data as a feature, unless a record has it.
        let section = file.feature(Feature::TRACING_DATA).unwrap();
        assert_eq!((section.bytes, section.offset), (&b"formats."[..], built.data as u64 + 12));
    }
    // A record that is too short for the data by one byte is followed by the data.
    let record = Bytes::new(big).u32(8).zeros(7).record(66, 0);
    let built = with(big, &[&record[..], b"formats."].concat());
    let file = open(&built.bytes).unwrap();
    assert_eq!(read(&file), (kinds.clone(), None, 8));
    assert!(file.feature(Feature::TRACING_DATA).is_none());
    // Records without data have none inside either.
    let built = with(big, &Bytes::new(big).u32(0).u32(0).record(66, 0));
    assert_eq!(read(&open(&built.bytes).unwrap()), (kinds, None, 0));
}

fn the_feature_of_a_file_stays(big: bool) {
    let record = Bytes::new(big).u32(8).raw(b"formats.").record(66, 0);
    let file = Builder::new(big).event(attr(SampleType::IP), &[]).data(record);
    let built = file.feature(1, b"of the file".to_vec()).build();
    let file = open(&built.bytes).unwrap();
    assert_eq!(file.feature(Feature::TRACING_DATA).unwrap().bytes, b"of the file");
}

fn auxtrace(big: bool) {
    let kinds = vec![RecordType::AUXTRACE, RecordType::LOST_SAMPLES];
    let fields = |size| Bytes::new(big).u64s(&[size, 0, 0, 0, 0]);
    let built = with(big, &fields(16).raw(&[0xaa; 16]).record(71, 0));
    assert_eq!(read(&open(&built.bytes).unwrap()), (kinds.clone(), Some(vec![0xaa; 16]), 0));
    let after = [fields(16).record(71, 0), vec![0xaa; 16]].concat();
    assert_eq!(read(&open(&with(big, &after).bytes).unwrap()), (kinds.clone(), None, 16));
    // A newer perf may add fields to the record.
    let after = [fields(16).u64(9).record(71, 0), vec![0xaa; 16]].concat();
    assert_eq!(read(&open(&with(big, &after).bytes).unwrap()), (kinds, None, 16));
}

in_both_orders!(tracing_data, the_feature_of_a_file_stays, auxtrace);

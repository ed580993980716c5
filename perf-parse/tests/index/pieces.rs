//! Walks over the pieces of a capture that are needed.

use std::fs;

use perf_parse::abi::record::RecordType;
use perf_parse::event::RecordPosition;
use perf_parse::index::Chunk;
use perf_parse::{EventRecord, Index, Reader};

use crate::{captures, index, records, ring, several_chunks};

fn walked<'r>(
    index: &Index,
    reader: &'r Reader<'_>,
    wants: impl Fn(&Chunk<'_>) -> bool,
) -> Vec<EventRecord<'r>> {
    index.walk(reader, wants).expect("in memory").filter_map(Result::ok).collect()
}

fn places(records: &[EventRecord<'_>]) -> Vec<RecordPosition> {
    records.iter().map(EventRecord::position).collect()
}

#[test]
fn of_every_capture() {
    let mut walks = 0;
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        let index = index(&reader);
        let all = records(&reader);
        let Some(whole) = index.walk(&reader, |_| true) else {
            assert!(all.iter().any(|record| record.position().decompressed.is_some()), "{path:?}");
            continue;
        };
        walks += 1;
        let whole: Vec<_> = whole.filter_map(Result::ok).collect();
        assert_eq!(places(&whole), places(&all), "{path:?}");
        let bytes = |records: &[EventRecord<'_>]| {
            records.iter().map(|record| (record.raw().as_bytes().to_vec(), record.time())).collect::<Vec<_>>()
        };
        assert_eq!(bytes(&whole), bytes(&all), "{path:?}");
        let none = walked(&index, &reader, |_| false);
        let others: Vec<_> = all.into_iter().filter(|record| record.kind() != RecordType::SAMPLE).collect();
        assert_eq!(bytes(&none), bytes(&others), "{path:?}");
    }
    assert!(walks > 100, "{walks}");
}

#[test]
fn samples_of_some_chunks() {
    let data = several_chunks();
    let reader = ring(&data);
    let index = index(&reader);
    let all = records(&reader);
    for parity in 0..3 {
        let is_wanted = |place: RecordPosition| (place.offset >> 16) % 3 == parity;
        let expected = all.iter().filter(|it| it.kind() != RecordType::SAMPLE || is_wanted(it.position()));
        let expected: Vec<_> = expected.map(EventRecord::position).collect();
        let found = walked(&index, &reader, |chunk| is_wanted(chunk.position()));
        assert_eq!(places(&found), expected);
        // The same records in time order.
        let in_order: Vec<_> =
            index.walk(&reader, |chunk| is_wanted(chunk.position())).unwrap().in_time_order().collect();
        let mut sorted: Vec<_> = in_order.iter().map(|record| record.as_ref().unwrap().position()).collect();
        sorted.sort();
        assert_eq!(sorted, expected);
    }
}

#[test]
fn of_a_folder() {
    let read = |name: &str| fs::read(testdata::path("threads.dir").join(name)).unwrap();
    let files = ["data", "data.0", "data.1"].map(read);
    let mut reader = Reader::new(&files[0]).unwrap();
    files[1..].iter().for_each(|file| reader.add_data(file));
    let (index, all) = (index(&reader), records(&reader));
    assert_eq!(places(&walked(&index, &reader, |_| true)), places(&all));
    let is_second = |place: RecordPosition| place.data_file == 1;
    let expected = all.iter().filter(|it| it.kind() != RecordType::SAMPLE || is_second(it.position()));
    let found = walked(&index, &reader, |chunk| is_second(chunk.position()));
    assert_eq!(places(&found), expected.map(EventRecord::position).collect::<Vec<_>>());
}

#[test]
fn not_of_a_stream_or_of_another_capture() {
    let bytes = fs::read(testdata::path("plain.data")).unwrap();
    let index = index(&Reader::new(&bytes).unwrap());
    let stream = fs::read(testdata::path("tracing.pipe.data")).unwrap();
    let reader = Reader::stream(stream.as_slice()).unwrap();
    assert!(index.walk(&reader, |_| true).is_none());
    // The places of another capture are not in an empty one.
    assert!(index.walk(&ring(&[]), |_| false).is_none());
    assert_eq!(walked(&index, &ring(&[]), |_| true).len(), 0);
}

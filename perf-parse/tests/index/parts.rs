//! An index made of parts.

use perf_parse::index::IndexErrorKind;
use perf_parse::{EventRecord, Index, Reader};

use crate::{captures, index, records, ring, several_chunks};

fn of_records(records: &[EventRecord<'_>]) -> Index {
    Index::from_records(records.iter().cloned().map(Ok)).unwrap()
}

fn of_blocks(reader: &Reader<'_>, count: usize) -> Index {
    let mut index = Index::default();
    for block in reader.blocks(count) {
        index.append(Index::from_records(block).unwrap()).unwrap();
    }
    index
}

#[test]
fn blocks_equal_one_pass() {
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        let whole = index(&reader);
        for count in [1, 2, 7, 64] {
            assert_eq!(of_blocks(&reader, count), whole, "{path:?}, {count} blocks");
        }
    }
    let data = several_chunks();
    for count in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(of_blocks(&ring(&data), count), index(&ring(&data)), "{count} blocks");
    }
}

#[test]
fn parts_of_any_cut_equal_one_pass() {
    for name in ["touch.zstd.data", "plain.data", "tasks.data"] {
        let bytes = std::fs::read(testdata::path(name)).unwrap();
        let reader = Reader::new(&bytes).unwrap();
        let (all, whole) = (records(&reader), index(&reader));
        for cut in 0..=all.len() {
            let mut parts = of_records(&all[..cut]);
            parts.append(of_records(&all[cut..])).unwrap();
            assert_eq!(parts, whole, "{name}, cut at {cut}");
        }
    }
    let data = several_chunks();
    let reader = ring(&data);
    let (all, whole) = (records(&reader), index(&reader));
    for size in [300, 1000, 2048, 5000] {
        let mut parts = Index::default();
        for part in all.chunks(size) {
            parts.append(of_records(part)).unwrap();
        }
        assert_eq!(parts, whole, "parts of {size} records");
    }
}

#[test]
fn parts_out_of_order_are_refused() {
    let data = several_chunks();
    let reader = ring(&data);
    let all = records(&reader);
    // In another chunk, in the same chunk after a record that is not a sample, and the same record again.
    for (first, second) in [(20_000..20_010, 0..10), (45..105, 99..110), (10..11, 10..11)] {
        let mut part = of_records(&all[first.clone()]);
        let error = part.append(of_records(&all[second.clone()])).unwrap_err();
        assert_eq!((error.kind, error.offset), (IndexErrorKind::Order, all[second.start].offset()));
        assert_eq!(part, of_records(&all[first]));
    }
}

#[test]
fn records_out_of_order_are_refused() {
    let data = several_chunks();
    let reader = ring(&data);
    let error = Index::from_records(reader.records().in_time_order()).unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::Order);
    let all = records(&reader);
    let twice = [Ok(all[3].clone()), Ok(all[3].clone())];
    let error = Index::from_records(twice).unwrap_err();
    assert_eq!((error.kind, error.offset), (IndexErrorKind::Order, all[3].offset()));
    assert!(error.to_string().contains("in the order of the capture"), "{error}");
}

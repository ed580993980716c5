//! Captures of Android's simpleperf: names and ids of events, records that are split, and records that are not aligned.

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::event::EventType;
use perf_parse::abi::record::RecordType;
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
use perf_parse::file::Limits;
use perf_parse::file::{FileError, FileErrorKind, Section};
use perf_parse::{Error, ErrorKind};

use crate::{read, sample, timed};
use testdata::Bytes;
use testdata::file::Builder;

fn event_id(big: bool, ids: &[(u64, u64)]) -> Vec<u8> {
    let bytes = Bytes::new(big).u64(ids.len() as u64);
    ids.iter().fold(bytes, |bytes, &(attr, id)| bytes.u64(attr).u64(id)).record(32774, 0)
}

/// A TRACING_DATA record, whose size may have more than 16 bits.
fn tracing_data(big: bool, data: &[u8]) -> Vec<u8> {
    let size = 12 + data.len() as u32;
    let header = Bytes::new(big).u32(32777).u16((size >> 16) as u16).u16(size as u16);
    header.u32(data.len() as u32).raw(data).out
}

/// A record in pieces, as simpleperf writes it.
fn split(big: bool, record: &[u8]) -> Vec<u8> {
    let pieces = record.chunks(65_527).map(|piece| Bytes::new(big).raw(piece).record(32772, 0));
    [pieces.collect::<Vec<_>>().concat(), Bytes::new(big).record(32773, 0)].concat()
}

#[test]
fn names_of_events() {
    let attr = |kind, config| Attr { kind: EventType(kind), config, ..timed() };
    let info = b"event_type_info\0cpu-clock,1,0\nsched:sched_switch,2,91\nother,2,91\0".to_vec();
    let built = Builder::new(false)
        .event(attr(1, 0), &[7])
        .event(attr(2, 91), &[8])
        .event(attr(0, 0), &[9])
        .data(sample(1))
        .feature(129, info)
        .build();
    let reader = Reader::new(&built.bytes).unwrap();
    let names: Vec<_> = reader.events().iter().map(|event| event.name.as_deref()).collect();
    assert_eq!(names, [Some(&b"cpu-clock"[..]), Some(b"sched:sched_switch"), None]);
}

#[test]
fn ids_of_events() {
    for big in [false, true] {
        let sample = |id: u64, time: u64| Bytes::new(big).u64s(&[id, time]).record(9, 0);
        let data = [
            sample(7, 1),
            sample(70, 2),
            event_id(big, &[(0, 70), (1, 71), (0, 7)]),
            sample(70, 3),
            sample(71, 4),
        ];
        let built = Builder::new(big).event(timed(), &[7]).event(timed(), &[8]).data(data.concat()).build();
        let reader = Reader::new(&built.bytes).unwrap();
        let mut records = reader.records();
        let events: Vec<_> = records.by_ref().map(|record| record.unwrap().event_index()).collect();
        assert_eq!(events, [Some(0), None, None, Some(0), Some(1)]);
        assert_eq!(records.events()[0].ids, [7, 70]);
        assert!(records.account().is_clean(), "{:?}", records.account());
        // The events of the reader are those at its start.
        assert_eq!(reader.events()[0].ids, [7]);
    }
}

#[test]
fn ids_that_contradict_events() {
    let data = [sample(1), event_id(false, &[(0, 8), (2, 70), (0, 71)])].concat();
    let built = Builder::new(false).event(timed(), &[7]).event(timed(), &[8]).data(data).build();
    let at = (built.data + 24) as u64;
    let all = read(&built.bytes);
    let invalid = |field, value, must| FileErrorKind::Invalid { field, value, must };
    let shared = "an id that no earlier event has; the id stays with the earlier event";
    let noted = [
        FileError { kind: invalid("attr.ids", 8, shared), offset: at + 8 },
        FileError { kind: invalid("event_id.attr_id", 2, "the index of an event"), offset: at + 8 },
    ];
    assert_eq!(all.account.diagnostics, noted);
}

#[test]
fn tracing_data_in_pieces() {
    let formats = b"formats of tracepoints ".repeat(6_000);
    for big in [false, true] {
        let record = tracing_data(big, &formats);
        assert!(record.len() > 1 << 17);
        for data in [split(big, &record), record, split(big, &tracing_data(big, &formats[..100]))] {
            let len = formats.len().min(data.len());
            let sample = Bytes::new(big).u64s(&[7, 1]).record(9, 0);
            let data = [data, sample.clone()].concat();
            let built = Builder::new(big).event(timed(), &[7]).data(data).build();
            let reader = Reader::new(&built.bytes).unwrap();
            let of = |features: &perf_parse::feature::Features<'_>| {
                features.get(perf_parse::abi::feature::Feature::TRACING_DATA).map(|it| it.bytes.len())
            };
            // Pieces that are too long to look ahead are joined by the walk.
            let mut records = reader.records();
            let last = records.by_ref().last().unwrap().unwrap();
            assert_eq!(last.raw().as_bytes(), sample);
            assert!(of(records.features()).is_some_and(|found| found == len || found == 100));
            // A walk in blocks finds the same records.
            let blocks: Vec<_> = reader.blocks(3).flatten().map(|record| record.unwrap().offset()).collect();
            let whole: Vec<_> = reader.records().map(|record| record.unwrap().offset()).collect();
            assert_eq!(blocks, whole);
        }
    }
}

#[test]
fn pieces_that_are_no_record() {
    let damaged = [Bytes::new(false).raw(&tracing_data(false, b"formats")[..15]).record(32772, 0)].concat();
    let data = [sample(1), damaged, Bytes::new(false).record(32773, 0), sample(2)].concat();
    let built = Builder::new(false).event(timed(), &[7]).data(data).build();
    let at = (built.data + 24 + 23) as u64;
    let all = read(&built.bytes);
    let error =
        Error { kind: ErrorKind::Truncated { field: "payload", needed: 11, available: 7 }, offset: 8 };
    let kind = FileErrorKind::Record { kind: RecordType::SPLIT_END, error };
    assert_eq!(all.account.diagnostics, [FileError { kind, offset: at }]);
    assert_eq!(all.times(), [Some(1), None, None, Some(2)]);
}

/// Returns a zstd frame of one block that is stored as it is.
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
fn frame(bytes: &[u8]) -> Bytes {
    let size = bytes.len() as u32;
    let frame = Bytes::new(false).raw(&[0x28, 0xb5, 0x2f, 0xfd, 0x20]).u8(size as u8);
    frame.raw(&(size << 3 | 1).to_le_bytes()[..3]).raw(bytes)
}

/// Puts bytes into a COMPRESSED record.
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
fn compressed(bytes: &[u8]) -> Vec<u8> {
    frame(bytes).record(81, 0)
}

/// Each AUXTRACE record's data is a zstd stream of its own.
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn compressed_data_of_aux_areas() {
    use std::borrow::Cow;

    use crate::limits::limits as changed;

    let data = b"formatted trace";
    let auxtrace = |data: &[u8]| {
        let fields = Bytes::new(false).u64s(&[data.len() as u64, 0x4000, 0]).u32(0).u32(7).u32(1).u32(0);
        [fields.record(71, 0), data.to_vec()].concat()
    };
    let two = [frame(data).out, frame(b", and more").out].concat();
    let mut damaged = frame(data).out;
    // A block of the reserved type.
    damaged[6] |= 6;
    let parts =
        [sample(1), auxtrace(data), auxtrace(&two), auxtrace(&damaged), compressed(&sample(2)), sample(3)];
    let built = Builder::new(false).event(timed(), &[7]).data(parts.concat()).build();
    let reader = Reader::new(&built.bytes).unwrap();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 6);
    let of = |record: usize, limits: &Limits| {
        let reader = Reader::new_within(&built.bytes, limits).unwrap();
        reader.aux_data(&records[record]).map(Cow::into_owned)
    };
    let limits = Limits::default();
    assert!(matches!(reader.aux_data(&records[1]), Ok(Cow::Borrowed(it)) if it == data));
    assert_eq!(of(2, &limits), Ok(b"formatted trace, and more".to_vec()));
    assert_eq!(of(0, &limits), Ok(Vec::new()));
    let refused = |record: usize, limits: &Limits| {
        let error = of(record, limits).unwrap_err();
        assert_eq!(error.offset, records[record].offset());
        let FileErrorKind::Decompress { what } = error.kind else { panic!("{error}") };
        what
    };
    assert!(refused(3, &limits).contains("damaged"));
    let small = changed(|it| (it.decompressed, it.decompressed_ratio) = (9, 0));
    assert!(refused(2, &small).contains("expands beyond the limit"));
    // By the place of the data, at which its faults are.
    let place = |record: usize| {
        let record = &records[record];
        Section { offset: record.offset() + u64::from(record.raw().size()), size: record.trailing_size() }
    };
    assert_eq!(reader.aux_data_at(0, place(2)).map(Cow::into_owned), of(2, &limits));
    assert_eq!(reader.aux_data_at(0, place(3)).unwrap_err().offset, place(3).offset);
    // In steps of a byte.
    assert_eq!(of(2, &changed(|it| it.decompressed_step = 1)), of(2, &limits));
    // From windows, which skip the data.
    let windows = Reader::from_seekable(std::io::Cursor::new(&built.bytes)).unwrap();
    let data: Vec<_> =
        windows.records().map(|it| windows.aux_data(&it.unwrap()).ok().map(Cow::into_owned)).collect();
    let expected: Vec<_> = (0..6).map(|record| of(record, &limits).ok()).collect();
    assert_eq!(data, expected);
}

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn compressed_records_of_a_feature() {
    let records = testdata::features::simpleperf::init_map(false);
    let plain = records.concat();
    // simpleperf ends the zstd frame of each section.
    let packed: Vec<_> = records.iter().flat_map(|record| compressed(record)).collect();
    for section in [plain, packed] {
        let built = Builder::new(false).event(timed(), &[7]).data(sample(1)).feature(134, section).build();
        let reader = Reader::new(&built.bytes).unwrap();
        let map = reader.features().init_map().unwrap().unwrap();
        let found: Vec<_> = map.reader().records().map(|it| it.unwrap().raw().as_bytes().to_vec()).collect();
        assert_eq!(found, records);
    }
}

/// After damage, the next record may be one of simpleperf's, which are not aligned.
#[test]
fn unaligned_records_after_damage() {
    let unaligned = Bytes::new(false).u32(3).raw(b"abc").record(32769, 0);
    assert_eq!(unaligned.len() % 8, 7);
    let data = [sample(1), vec![0; 16], unaligned, sample(2), sample(3), sample(4)].concat();
    let built = Builder::new(false).event(timed(), &[7]).data(data).build();
    let all = read(&built.bytes);
    assert_eq!(all.account.bytes_skipped, 16);
    assert_eq!(all.seen[1].kind, RecordType::KERNEL_SYMBOL);
    assert_eq!(all.times(), [Some(1), None, Some(2), Some(3), Some(4)]);
}

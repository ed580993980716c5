//! Opening: the header, the attrs, the ids.

use perf_parse::Record;
use perf_parse::abi::attr::{Attr, AttrFlags, AttrReadError, AttrVersion};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{FileError, FileErrorKind, Mode, Section};
use perf_parse::{Error, ErrorKind, Reader};

use crate::{attr, header, in_both_orders, invalid, open, truncated};
use testdata::Bytes;
use testdata::file::{Builder, Built};

const NOT: FileError = FileError { kind: FileErrorKind::NotPerfData, offset: 0 };

/// A file with two events, a record and two features.
fn file(big: bool) -> Builder {
    let hostname = Bytes::new(big).u32(8).raw(b"host\0\0\0\0").out;
    let lost = Bytes::new(big).u64(1).record(13, 0);
    Builder::new(big)
        .event(attr(SampleType::IP | SampleType::IDENTIFIER), &[10, 11, 12])
        .event(attr(SampleType::IDENTIFIER), &[20])
        .data(lost)
        .feature(3, hostname)
        .feature(200, vec![1, 2, 3])
}

/// Returns the diagnostics of a file that can still be opened.
fn diagnostics(built: &Built) -> Vec<FileError> {
    let reader = open(&built.bytes).unwrap();
    assert_eq!(reader.records().account(), reader.account());
    reader.account().diagnostics.clone()
}

/// Returns the error of a file that cannot be opened.
fn refused(bytes: &[u8]) -> FileError {
    open(bytes).map(drop).unwrap_err()
}

fn a_whole_file(big: bool) {
    let built = file(big).build();
    let file = open(&built.bytes).unwrap();
    assert_eq!(file.endianness(), if big { Endianness::Big } else { Endianness::Little });
    assert_eq!(file.account().diagnostics, []);
    let header = header(&file);
    assert_eq!(file.mode(), &Mode::File(header));
    assert_eq!(file.records().reached().offset, header.data.offset);
    assert_eq!((header.version, header.size, header.attr_size), (2, 104, 128));
    let section = |offset: usize, size: usize| Section { offset: offset as u64, size: size as u64 };
    assert_eq!(header.attrs, section(built.attrs, 256));
    assert_eq!(header.data, section(built.data, 16));
    assert_eq!(header.event_types, section(0, 0));
    assert_eq!(header.features, [1 << 3, 0, 0, 1 << (200 - 192)]);

    let events = file.events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].attr, Attr { size: 112, ..attr(SampleType::IP | SampleType::IDENTIFIER) });
    assert_eq!(*events[0].attr_tail, []);
    assert_eq!(events[0].fault(), None);
    assert_eq!(events[0].name, None);
    let ids = |index: usize| events[index].ids.clone();
    assert_eq!((ids(0), ids(1)), (vec![10, 11, 12], vec![20]));

    let features: Vec<_> = file.features().iter().map(|it| (it.feature, it.offset, it.bytes.len())).collect();
    let at = built.table as u64 + 32;
    assert_eq!(features, [(Feature::HOSTNAME, at, 12), (Feature(200), at + 12, 3)]);
    assert_eq!(file.feature(Feature(200)).unwrap().bytes, [1, 2, 3]);
    assert!(file.feature(Feature::OSRELEASE).is_none());
}

fn a_header_of_72_bytes(big: bool) {
    let built = Builder { header_size: 72, features: Vec::new(), ..file(big) }.build();
    let file = open(&built.bytes).unwrap();
    assert_eq!((header(&file).size, header(&file).features), (72, [0; 4]));
    assert_eq!(file.events().len(), 2);
    assert_eq!(file.events()[1].ids[0], 20);
    let mut records = file.records();
    assert!(records.next().unwrap().is_ok());
    assert!(records.next().is_none());
    assert_eq!(records.account().diagnostics, []);
}

fn the_first_magic(big: bool) {
    for version in [AttrVersion::VER0, AttrVersion::VER1, AttrVersion::VER5, AttrVersion::VER9] {
        let built = Builder { magic: *b"PERFFILE", version, ..file(big) }.build();
        let file = open(&built.bytes).unwrap();
        assert_eq!(file.endianness(), if big { Endianness::Big } else { Endianness::Little });
        assert_eq!(header(&file).version, 1);
        assert_eq!(file.events()[0].ids.len(), 3);
    }
}

fn every_size_of_attr(big: bool) {
    for &version in AttrVersion::ALL {
        let built = Builder { version, ..file(big) }.build();
        let file = open(&built.bytes).unwrap();
        assert_eq!(file.events()[1].attr.size, version.size());
        assert_eq!(file.events()[1].ids[0], 20);
    }
}

fn an_attr_larger_than_known(big: bool) {
    let mut built = Builder { version: AttrVersion::VER9, events: Vec::new(), ..file(big) }
        .event(attr(SampleType::IP), &[])
        .build();
    let newer = built.attrs + 144;
    built.bytes.splice(newer..newer, [7; 8]);
    let size = Bytes::new(big).u32(152).out;
    built.bytes[built.attrs + 4..built.attrs + 8].copy_from_slice(&size);
    let (size, data) = (built.stride as u64 + 8, built.data as u64 + 8);
    let built = built.put(16, size).put(32, size).put(40, data);
    let file = open(&built.bytes).unwrap();
    assert_eq!(*file.events()[0].attr_tail, [7; 8]);
    assert_eq!(file.events()[0].attr.sample_type, SampleType::IP);
}

fn header_cut_off(big: bool) {
    let fields = [
        "header.size",
        "header.attr_size",
        "header.attrs.offset",
        "header.attrs.size",
        "header.data.offset",
        "header.data.size",
        "header.event_types.offset",
        "header.event_types.size",
        "header.adds_features",
        "header.adds_features",
        "header.adds_features",
        "header.adds_features",
    ];
    let whole = file(big).build();
    for size in 8..104 {
        let index = size / 8;
        let error = refused(&whole.bytes[..size]);
        let available = size as u64 % 8;
        assert_eq!(error, truncated(fields[index - 1], 8, available, 8 * index), "{size}");
    }
}

fn header_fields(big: bool) {
    let with = |at, value| refused(&file(big).build().put(at, value).bytes);
    for size in [0, 71, 73, 103, 105, u64::MAX] {
        assert_eq!(with(8, size), invalid("header.size", size, "104, 72, or 16 in a pipe", 8));
    }
    for size in [0, 79] {
        let must = "at least 80: an attr of 64 bytes and the place of its ids";
        assert_eq!(with(16, size), invalid("header.attr_size", size, must, 16));
    }
    let must = "after the header";
    assert_eq!(with(24, 103), invalid("header.attrs.offset", 103, must, 24));
    assert_eq!(with(40, 103), invalid("header.data.offset", 103, must, 40));
}

fn attrs_outside_of_the_file(big: bool) {
    let built = file(big).build();
    let left = (built.bytes.len() - built.attrs) as u64;
    for size in [left + 1, u64::MAX] {
        let error = refused(&built.clone().put(32, size).bytes);
        assert_eq!(error, truncated("header.attrs.size", size, left, 32));
    }
    let error = refused(&built.clone().put(24, 1 << 63).bytes);
    assert_eq!(error, invalid("header.attrs.offset", 1 << 63, "inside the file", 24));
}

fn attrs_that_end_within_one(big: bool) {
    let built = file(big).build().put(32, 255);
    let must = "a multiple of attr_size";
    assert_eq!(diagnostics(&built), [invalid("header.attrs.size", 255, must, 32)]);
    assert_eq!(open(&built.bytes).unwrap().events().len(), 1);
    // An entry may be larger than all entries together.
    let built = file(big).build().put(16, u64::MAX);
    let must = "at most the size of all attrs";
    assert_eq!(diagnostics(&built), [invalid("header.attr_size", u64::MAX, must, 16)]);
    assert_eq!(open(&built.bytes).unwrap().events().len(), 0);
}

fn attrs_that_are_none(big: bool) {
    let with = |size: u32| {
        let mut built = file(big).build();
        let second = built.attrs + built.stride;
        built.bytes[second + 4..second + 8].copy_from_slice(&Bytes::new(big).u32(size).out);
        (refused(&built.bytes), second as u64)
    };
    let (error, offset) = with(63);
    assert_eq!(error, FileError { kind: FileErrorKind::Attr(AttrReadError::Size(63)), offset });
    // The attr must not extend into the place of the ids, which follows it.
    let (error, offset) = with(113);
    let kind = FileErrorKind::Attr(AttrReadError::Truncated { needed: 113, available: 112 });
    assert_eq!(error, FileError { kind, offset });
}

fn ids_outside_of_the_file(big: bool) {
    let built = file(big).build();
    let at = built.attrs + built.stride - 8;
    let left = (built.bytes.len() - built.ids) as u64;
    for size in [left + 1, u64::MAX] {
        let built = built.clone().put(at, size);
        assert_eq!(diagnostics(&built), [truncated("attr.ids.size", size, left, at)]);
        let file = open(&built.bytes).unwrap();
        assert_eq!((file.events()[0].ids.len(), file.events()[1].ids.len()), (0, 1));
    }
    let built = built.put(at - 8, u64::MAX);
    assert_eq!(diagnostics(&built), [invalid("attr.ids.offset", u64::MAX, "inside the file", at - 8)]);
}

fn ids_of_odd_size(big: bool) {
    let built = file(big).build();
    let at = built.attrs + built.stride - 8;
    let built = built.put(at, 23);
    assert_eq!(diagnostics(&built), [invalid("attr.ids.size", 23, "a multiple of 8", at)]);
    assert_eq!(open(&built.bytes).unwrap().events()[0].ids.len(), 0);
}

fn ids_that_many_events_share(big: bool) {
    // Nine events with the same 64 ids have 576 ids, more than the file has words.
    let mut builder = Builder { version: AttrVersion::VER0, ..Builder::new(big) };
    builder.events = vec![(attr(SampleType::IDENTIFIER), Vec::new()); 9];
    builder.events[0].1 = (0..64).collect();
    let mut built = builder.data(Bytes::new(big).record(68, 0)).build();
    for entry in 1..9 {
        let at = built.attrs + built.stride * entry + 64;
        built = built.put(at, 104).put(at + 8, 512);
    }
    let fit = built.bytes.len() / 8 / 64;
    assert!(fit < 9);
    let must = "so small that the ids of all events fit into the file";
    let too_many =
        (fit..9).map(|entry| invalid("attr.ids.size", 512, must, built.attrs + built.stride * entry + 72));
    // Events whose ids were read lose the shared ones to the first event.
    let must = "an id that no earlier event has; the id stays with the earlier event";
    let shared = (1..fit).map(|entry| invalid("attr.ids", 0, must, built.attrs + built.stride * entry + 64));
    assert_eq!(diagnostics(&built), too_many.chain(shared).collect::<Vec<_>>());
    let held: Vec<_> = open(&built.bytes).unwrap().events().iter().map(|it| it.ids.len()).collect();
    assert_eq!(held, [[64].as_slice(), &[0; 8]].concat());
}

fn data_of_a_recorder_that_died(big: bool) {
    let built = file(big).build().put(48, 0).cut(file(big).build().table);
    let must = "the size of the records; the recorder did not finish the file, which is read to its end";
    assert_eq!(diagnostics(&built), [invalid("header.data.size", 0, must, 48)]);
    let file = open(&built.bytes).unwrap();
    assert_eq!(file.features().len(), 0);
    let mut records = file.records();
    assert_eq!(records.next().unwrap().unwrap().offset(), built.data as u64);
    assert!(records.next().is_none());
    assert_eq!(records.account().bytes_skipped, 0);
    assert!(!records.account().is_clean());
}

fn data_cut_off(big: bool) {
    let built = Builder { features: Vec::new(), ..file(big) }.build();
    let built = built.clone().cut(built.table - 1);
    assert_eq!(diagnostics(&built), [truncated("header.data.size", 16, 15, 48)]);
    let built = file(big).build().put(48, u64::MAX);
    let left = (built.bytes.len() - built.data) as u64;
    let all = diagnostics(&built);
    assert_eq!(all[0], truncated("header.data.size", u64::MAX, left, 48));
    assert_eq!(all[1].kind, FileErrorKind::Truncated { field: "feature table", needed: 16, available: 0 });
    assert_eq!(all.len(), 3);
}

fn data_outside_of_the_file(big: bool) {
    for size in [0, 16] {
        let built = file(big).build().put(48, size);
        let end = built.bytes.len() as u64;
        let error = refused(&built.clone().put(40, end + 1).bytes);
        assert_eq!(error, invalid("header.data.offset", end + 1, "inside the file", 40));
        // At the very end of the file the data section is only empty.
        assert!(open(&built.put(40, end).bytes).unwrap().records().next().is_none());
    }
}

fn feature_table_outside_of_the_file(big: bool) {
    let built = file(big).build();
    let table = built.table;
    let built = built.cut(table + 20);
    assert_eq!(
        diagnostics(&built),
        [truncated("feature section", 12, 0, table), truncated("feature table", 16, 4, table + 16),]
    );
    assert_eq!(open(&built.bytes).unwrap().features().len(), 0);
}

fn feature_section_outside_of_the_file(big: bool) {
    let built = file(big).build();
    let (table, end) = (built.table, built.bytes.len() as u64);
    let left = end - table as u64 - 32;
    for size in [left + 1, u64::MAX] {
        let built = built.clone().put(table + 8, size);
        assert_eq!(diagnostics(&built), [truncated("feature section", size, left, table)]);
        // The other feature is present.
        let file = open(&built.bytes).unwrap();
        let features: Vec<_> = file.features().iter().map(|it| it.bytes.to_vec()).collect();
        assert_eq!(features, [[1, 2, 3]]);
    }
    let built = built.put(table + 16, end + 1);
    assert_eq!(diagnostics(&built), [truncated("feature section", 3, 0, table + 16)]);
}

fn an_attr_of_a_newer_kernel(big: bool) {
    let newer = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType(1 << 40) | SampleType::TIME) };
    let comm = Bytes::new(big).u64(1).raw(b"comm\0\0\0\0").u64(77).record(3, 0);
    let sample = Bytes::new(big).u64s(&[77, 1]).record(9, 0);
    let built = Builder::new(big).event(newer, &[1]).data(comm).data(sample).build();
    let kind = ErrorKind::UnknownBits { field: "sample_type", bits: 1 << 40 };
    let fault = Error { kind, offset: 24 };
    let offset = built.attrs as u64 + 24;
    assert_eq!(diagnostics(&built), [FileError { kind: FileErrorKind::Layout(fault), offset }]);

    let file = open(&built.bytes).unwrap();
    assert_eq!(file.events()[0].fault(), Some(fault));
    let mut records = file.records();
    let record = records.next().unwrap().unwrap();
    let Record::Comm(comm) = record.decode().unwrap() else { panic!("{record:?}") };
    assert_eq!(comm.comm, b"comm");
    assert_eq!(record.sample_id().unwrap().unwrap().time(), Some(77));
    let record = records.next().unwrap().unwrap();
    let error = FileError { kind: FileErrorKind::Layout(fault), offset: record.offset() };
    assert_eq!(record.decode().map(drop), Err(error));
    assert!(record.sample().is_none());
    assert_eq!(record.event_index(), Some(0));
    assert!(records.next().is_none());
}

#[test]
fn no_magic() {
    let too_short = [b"".as_slice(), b"PERFILE", b"PERFFILE", b"PERFFILE\x68\0\0\0\0\0\0\0\x50\0\0"];
    let wrong = [b"PERFILE3".as_slice(), b"2ELIFERP", b"\x7fELF\x02\x01\x01\0", &[0; 200]];
    for bytes in too_short.into_iter().chain(wrong) {
        assert_eq!(Reader::new(bytes).map(drop), Err(NOT));
    }
}

#[test]
fn the_magic_has_the_byte_order() {
    for (big, endianness) in [(false, Endianness::Little), (true, Endianness::Big)] {
        let mut bytes = file(big).build().bytes;
        assert_eq!(Reader::new(&bytes).unwrap().endianness(), endianness);
        // The header is not that of the other byte order.
        bytes[..8].reverse();
        let error = Reader::new(&bytes).map(drop).unwrap_err();
        assert_eq!((error.field(), error.offset), ("header.size", 8));
    }
}

#[test]
fn a_section_of_bytes() {
    let section = |offset, size| Section { offset, size }.of(b"0123456789", "it").map(<[u8]>::len);
    assert_eq!(section(0, 10), Ok(10));
    assert_eq!(section(10, 0), Ok(0));
    assert_eq!(section(4, 7), Err(truncated("it", 7, 6, 4)));
    assert_eq!(section(11, 0), Err(truncated("it", 0, 0, 11)));
    assert_eq!(section(2, u64::MAX), Err(truncated("it", u64::MAX, 8, 2)));
}

in_both_orders!(
    a_whole_file,
    a_header_of_72_bytes,
    the_first_magic,
    every_size_of_attr,
    an_attr_larger_than_known,
    header_cut_off,
    header_fields,
    attrs_outside_of_the_file,
    attrs_that_end_within_one,
    attrs_that_are_none,
    ids_outside_of_the_file,
    ids_of_odd_size,
    ids_that_many_events_share,
    data_of_a_recorder_that_died,
    data_cut_off,
    data_outside_of_the_file,
    feature_table_outside_of_the_file,
    feature_section_outside_of_the_file,
    an_attr_of_a_newer_kernel,
);

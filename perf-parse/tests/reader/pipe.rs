//! Pipes: the header has no offsets, and attrs and features are among the records.

use std::io;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{BigEndian, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{FileError, FileErrorKind, Mode};

use crate::{Trickle, capture, read, read_stream, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Returns the header of a stream.
pub(crate) fn header(big: bool) -> Vec<u8> {
    Bytes::new(big).raw(if big { b"2ELIFREP" } else { b"PERFILE2" }).u64(16).out
}

/// Returns a HEADER_ATTR record.
pub(crate) fn attr(big: bool, attr: &Attr, ids: &[u64]) -> Vec<u8> {
    let version = AttrVersion::VER5;
    let wire = if big { attr.write::<BigEndian>(version) } else { attr.write::<LittleEndian>(version) };
    Bytes::new(big).raw(&wire.unwrap()).u64s(ids).record(64, 0)
}

/// Returns a HEADER_FEATURE record.
fn feature(big: bool, number: u64, bytes: &[u8]) -> Vec<u8> {
    Bytes::new(big).u64(number).raw(bytes).record(80, 0)
}

/// Returns an EVENT_UPDATE record with the name of the event of an id.
fn name(big: bool, id: u64, name: &[u8; 8]) -> Vec<u8> {
    Bytes::new(big).u64s(&[2, id]).raw(name).record(78, 0)
}

/// Returns two separate events, features, tracing data, AUX data and records of odd size.
fn everything(big: bool) -> Vec<Vec<u8>> {
    let sample = |id: u64, time: u64| Bytes::new(big).u64s(&[id, time]).record(9, 0);
    let tracing = Bytes::new(big).u32(13).record(66, 0);
    let auxtrace = Bytes::new(big).u64s(&[24, 0, 0, 0, 0]).record(71, 0);
    vec![
        attr(big, &timed(), &[7, 8]),
        name(big, 8, b"first\0\0\0"),
        feature(big, 3, b"abc"),
        sample(7, 100),
        attr(big, &timed(), &[9]),
        name(big, 9, b"second\0\0"),
        name(big, 10, b"nobody\0\0"),
        [tracing, b"thirteenbytes\0\0\0".to_vec()].concat(),
        sample(9, 110),
        feature(big, 200, b"12345"),
        feature(big, 200, b"67"),
        // The mark after the last feature.
        feature(big, u64::from(Feature::LAST), b""),
        [auxtrace, vec![0xaa; 24]].concat(),
        sample(8, 120),
    ]
}

#[test]
fn a_feature_without_bytes_is_absent() {
    for big in [false, true] {
        let features: Vec<_> = (0..300).map(|number| feature(big, number, b"")).collect();
        let tracing = Bytes::new(big).u32(0).record(66, 0);
        let bytes = [header(big), attr(big, &timed(), &[7]), features.concat(), tracing].concat();
        for all in [read(&bytes), read_stream(&bytes, 100)] {
            assert_eq!((all.seen.len(), &all.errors[..]), (302, &[][..]));
        }
        let reader = Reader::new(&bytes).unwrap();
        let mut records = reader.records();
        records.try_for_each(|record| record.map(drop)).unwrap();
        assert_eq!((reader.features().len(), records.features().len()), (0, 0));
    }
}

#[test]
fn what_comes_among_the_records() {
    for big in [false, true] {
        let records = everything(big);
        let bytes = [header(big), records.concat()].concat();
        let all = read(&bytes);
        assert_eq!(all.seen.len(), records.len());
        let mut offset = 16;
        for (seen, record) in all.seen.iter().zip(&records) {
            assert_eq!(seen.offset, offset);
            assert_eq!(seen.raw, record[..seen.raw.len()]);
            assert!(seen.decodes, "{seen:?}");
            offset += record.len() as u64;
        }
        let events: Vec<_> = all.seen.iter().filter_map(|it| Some((it.event?, it.time?))).collect();
        assert_eq!(events, [(0, 100), (1, 110), (0, 120)]);
        assert_eq!(all.names, [Some(b"first".to_vec()), Some(b"second".to_vec())]);
        let features = [(3, b"abc".to_vec()), (1, b"thirteenbytes\0\0\0".to_vec()), (200, b"67".to_vec())];
        assert_eq!(all.features, features);
        // The only fault is the name for an unknown id.
        let offset = 16 + records[..6].concat().len() as u64;
        let kind = FileErrorKind::UnknownId { kind: RecordType::EVENT_UPDATE, id: 10 };
        assert_eq!((all.account.diagnostics, all.errors), (vec![FileError { offset, kind }], vec![]));
        assert_eq!((all.account.bytes, all.end), (bytes.len() as u64 - 16, bytes.len() as u64));
    }
}

#[test]
fn a_stream_is_read_as_memory_is() {
    let [little, big] = [false, true].map(|big| [header(big), everything(big).concat()].concat());
    let captures = [little, big, capture("tracing.pipe.data"), capture("buildid.pipe.data")];
    for bytes in captures {
        let memory = read(&bytes);
        assert!(memory.seen.len() > 5);
        for most in [1, 3, 7, usize::MAX] {
            let stream = read_stream(&bytes, most);
            assert_eq!(stream.seen, memory.seen);
            assert_eq!(stream.errors, memory.errors);
            assert_eq!(stream.account.diagnostics, memory.account.diagnostics);
            assert_eq!(stream.account.bytes, memory.account.bytes);
            assert_eq!(stream.names, memory.names);
            assert_eq!(stream.features, memory.features);
            assert_eq!(stream.end, bytes.len() as u64);
        }
    }
}

#[test]
fn what_stands_before_the_records_is_known_from_the_start() {
    let bytes = [header(false), everything(false).concat()].concat();
    let reader = Reader::new(&bytes).unwrap();
    assert_eq!(reader.mode(), &Mode::Pipe);
    let mut records = reader.records();
    assert_eq!(records.reached().offset, 16);
    assert_eq!(reader.events().len(), 1);
    assert_eq!(reader.events()[0].name.as_deref(), Some(b"first".as_slice()));
    assert_eq!(reader.features().len(), 1);
    for _ in 0..5 {
        records.next().unwrap().unwrap();
    }
    assert_eq!((reader.events().len(), records.events().len()), (1, 2));
    // Each attr and feature is used once, however often its record was read.
    assert_eq!(reader.account().diagnostics, []);
}

#[test]
fn tracing_data_inside_of_its_record() {
    let inside = Bytes::new(false).u32(8).raw(b"formats.").record(66, 0);
    let bytes = [header(false), attr(false, &timed(), &[7]), inside, sample(5)].concat();
    for reader in [Reader::new(&bytes).unwrap(), Reader::stream(bytes.as_slice()).unwrap()] {
        assert_eq!(reader.feature(Feature::TRACING_DATA).unwrap().bytes, b"formats.");
        let mut records = reader.records();
        let record = records.nth(1).unwrap().unwrap();
        assert_eq!((record.kind(), record.trailing_size()), (RecordType::HEADER_TRACING_DATA, 0));
        assert_eq!(records.next().unwrap().unwrap().time(), Some(5));
        assert!(records.next().is_none());
        assert_eq!((records.account().is_clean(), records.account().announced), (true, 0));
    }
}

#[test]
fn aux_data_is_held_in_memory_and_passed_over_in_a_stream() {
    let auxtrace = |size| Bytes::new(false).u64s(&[size, 0, 0, 0, 0]).record(71, 0);
    let data: Vec<_> = (0_u32..200_000).map(|byte| byte as u8).collect();
    let stream = [header(false), attr(false, &timed(), &[7]), auxtrace(200_000)].concat();
    let bytes = [&stream, &data, sample(5).as_slice()].concat();
    let reader = Reader::new(&bytes).unwrap();
    let mut records = reader.records();
    let record = records.nth(1).unwrap().unwrap();
    assert_eq!((record.trailing(), record.trailing_size()), (data.as_slice(), 200_000));
    assert_eq!(records.next().unwrap().unwrap().time(), Some(5));

    let reader = Reader::stream(bytes.as_slice()).unwrap();
    let mut records = reader.records();
    let record = records.nth(1).unwrap().unwrap();
    assert_eq!((record.trailing(), record.trailing_size()), ([].as_slice(), 200_000));
    let kind = FileErrorKind::Truncated { field: "auxtrace.size", needed: 200_000, available: 0 };
    let offset = stream.len() as u64;
    assert_eq!(reader.trailing(&record).unwrap_err(), FileError { kind, offset });
    assert_eq!(reader.aux_data(&record).unwrap_err(), FileError { kind, offset });
    assert_eq!(records.next().unwrap().unwrap().time(), Some(5));
    assert!(records.account().is_clean());

    // Truncated within the data.
    let cut = &bytes[..stream.len() + 1000];
    let all = read_stream(cut, 4096);
    let kind = FileErrorKind::Truncated { field: "auxtrace.size", needed: 200_000, available: 1000 };
    let error = FileError { kind, offset: stream.len() as u64 };
    assert_eq!((all.seen.len(), all.errors, &all.account.diagnostics), (2, vec![error], &vec![error]));
    assert_eq!(all.account.bytes, cut.len() as u64 - 16);
}

#[test]
fn a_file_is_no_stream() {
    let built = Builder::new(false).event(timed(), &[7]).data(sample(1)).build();
    let error = Reader::stream(built.bytes.as_slice()).map(drop).unwrap_err();
    assert_eq!(error, FileError { kind: FileErrorKind::NotAStream, offset: 8 });
    for bytes in [b"".as_slice(), b"PERFILE", b"no capture of anything"] {
        let error = Reader::stream(bytes).map(drop).unwrap_err();
        assert_eq!(error, FileError { kind: FileErrorKind::NotPerfData, offset: 0 });
    }
}

#[test]
fn a_stream_that_fails() {
    let io = |offset| FileError { kind: FileErrorKind::Io(io::ErrorKind::ConnectionReset), offset };
    let open = |bytes, most| {
        let fails = Some(io::ErrorKind::ConnectionReset);
        Reader::stream(Trickle { bytes, most, fails })
    };
    let head = [header(false), attr(false, &timed(), &[7]), sample(1)].concat();
    let bytes = [head.clone(), sample(2), sample(3)].concat();
    for (len, whole, offset) in [(head.len(), 2, 0), (head.len() + 1, 2, 0), (bytes.len() - 1, 3, 24)] {
        for most in [1, 7, 1000] {
            let all = walk(open(&bytes[..len], most).unwrap().records());
            assert_eq!(all.seen.len(), whole);
            let error = io(head.len() as u64 + offset);
            assert_eq!((all.errors, all.account.diagnostics), (vec![error], vec![error]));
        }
    }
    // Truncated within the header, or before the first record.
    assert_eq!(open(&bytes[..15], 4).map(drop).unwrap_err(), io(0));
}

#[test]
fn an_interrupted_read_is_read_again() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl io::Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = buffer.len().min(50);
            self.0.read(&mut buffer[..count])
        }
    }
    let bytes = [header(false), attr(false, &timed(), &[7]), sample(1), sample(2)].concat();
    let all = walk(Reader::stream(Interrupted(&bytes, false)).unwrap().records());
    assert_eq!((all.seen.len(), all.account.is_clean()), (3, true));
}

#[test]
fn an_attr_that_cannot_be_read() {
    let newer = Attr { sample_type: SampleType(1 << 40), ..timed() };
    let short = Bytes::new(false).u32(0).u32(63).record(64, 0);
    let bytes = [header(false), attr(false, &newer, &[7]), short, sample(1)].concat();
    let all = read(&bytes);
    let decodes: Vec<_> = all.seen.iter().map(|it| it.decodes).collect();
    assert_eq!(decodes, [true, false, false]);
    assert_eq!(all.names.len(), 1);
    let [FileError { kind: FileErrorKind::Layout(error), offset }] = all.account.diagnostics[..] else {
        panic!("{:?}", all.account.diagnostics)
    };
    assert_eq!(offset, 16 + 8 + u64::from(error.offset));
}

//! The first records of a file, which describe its events, are applied when the file is opened.

use perf_parse::Reader;
use perf_parse::abi::record::RecordType;
use perf_parse::file::{FileError, FileErrorKind};

use crate::{limits, read, round, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Number of bytes of a file that are looked at.
const LOOK_AHEAD: usize = 1 << 16;

/// Returns an EVENT_UPDATE record.
fn update(big: bool, kind: u64, id: u64, value: &[u8; 8]) -> Vec<u8> {
    Bytes::new(big).u64s(&[kind, id]).raw(value).record(78, 0)
}

fn name(id: u64, name: &[u8; 8]) -> Vec<u8> {
    update(false, 2, id, name)
}

/// Returns the name, the unit and the scale of an event.
fn known(event: &perf_parse::event::Event) -> (Option<&[u8]>, Option<&[u8]>, Option<f64>) {
    let update = event.update.as_deref();
    (event.name.as_deref(), update.and_then(|it| it.unit.as_deref()), update.and_then(|it| it.scale))
}

#[test]
fn names_units_and_scales_before_the_first_sample() {
    for big in [false, true] {
        let sample = |id: u64, time: u64| Bytes::new(big).u64s(&[id, time]).record(9, 0);
        let scale = if big { 0.25_f64.to_be_bytes() } else { 0.25_f64.to_le_bytes() };
        let comm = Bytes::new(big).u64s(&[1, 0, 100, 7]).record(3, 0);
        let data = [
            // Records of the kernel do not end the search, only samples do.
            comm,
            update(big, 2, 7, b"first\0\0\0"),
            update(big, 0, 8, b"Joules\0\0"),
            update(big, 1, 7, &scale),
            sample(7, 110),
            update(big, 2, 8, b"second\0\0"),
            update(big, 0, 7, b"Watts\0\0\0"),
            sample(9, 120),
            sample(8, 130),
        ];
        let bytes =
            Builder::new(big).event(timed(), &[7, 8]).event(timed(), &[9]).data(data.concat()).build().bytes;
        let reader = Reader::new(&bytes).unwrap();
        let first = (Some(&b"first"[..]), Some(&b"Joules"[..]), Some(0.25));
        assert_eq!(known(&reader.events()[0]), first);
        assert_eq!(known(&reader.events()[1]), (None, None, None));
        let mut records = reader.records();
        assert_eq!(known(&records.events()[0]), first);
        let all: Vec<_> = records.by_ref().map(Result::unwrap).collect();
        // What is known at the start holds for the records before it too; a later record holds from there on.
        let of = |index: usize| all[index].event().map(|event| known(event));
        let second = (Some(&b"second"[..]), Some(&b"Watts"[..]), Some(0.25));
        assert_eq!([of(0), of(4), of(8)], [Some(first), Some(first), Some(second)]);
        assert_eq!((of(1), of(7)), (None, Some((None, None, None))));
        assert_eq!(known(&records.events()[0]), second);
        assert!(records.account().is_clean());
        // The walk does not change the reader, and another walk begins with what opening found.
        assert_eq!(known(&reader.events()[0]), first);
        assert_eq!(known(&reader.records().events()[0]), first);
    }
}

#[test]
fn a_fault_is_noted_once() {
    let built =
        Builder::new(false).event(timed(), &[7]).data([name(9, b"nobody\0\0"), sample(1)].concat()).build();
    let kind = FileErrorKind::UnknownId { kind: RecordType::EVENT_UPDATE, id: 9 };
    let fault = FileError { kind, offset: built.data as u64 };
    let reader = Reader::new(&built.bytes).unwrap();
    assert_eq!(reader.account().diagnostics, [fault]);
    let all = walk(reader.records());
    assert_eq!((all.account.diagnostics, all.errors), (vec![fault], vec![]));
}

#[test]
fn the_first_64_kib() {
    for (before, is_known) in
        [(0, true), (LOOK_AHEAD - 8, true), (LOOK_AHEAD, false), (LOOK_AHEAD + 8, false)]
    {
        let data = [round().repeat(before / 8), name(7, b"it\0\0\0\0\0\0"), sample(1)].concat();
        let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
        let reader = Reader::new(&bytes).unwrap();
        assert_eq!(reader.events()[0].name.is_some(), is_known, "{before}");
        assert_eq!(read(&bytes).names, [Some(b"it".to_vec())]);
    }
    // The limit of the caller holds too.
    let data = [round().repeat(4), name(7, b"it\0\0\0\0\0\0"), sample(1)].concat();
    let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
    for (most, is_known) in [(0, false), (32, false), (33, true)] {
        let limits = limits::limits(|it| it.look_ahead = most);
        let reader = Reader::new_within(&bytes, &limits).unwrap();
        assert_eq!(reader.events()[0].name.is_some(), is_known, "{most}");
        assert_eq!(walk(reader.records()).names, [Some(b"it".to_vec())]);
    }
}

/// Damage, AUX data and compressed data end the search. A walk finds what comes after them.
#[test]
fn what_ends_the_search() {
    let auxtrace = Bytes::new(false).u64s(&[16, 0, 0, 0, 0]).record(71, 0);
    for end in [sample(1), vec![0; 16], [auxtrace, vec![7; 16]].concat()] {
        let data = [end, name(7, b"it\0\0\0\0\0\0"), (1..6).flat_map(sample).collect()].concat();
        let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
        let reader = Reader::new(&bytes).unwrap();
        assert_eq!(reader.events()[0].name, None);
        assert_eq!(reader.account().diagnostics, []);
        assert_eq!(walk(reader.records()).names, [Some(b"it".to_vec())]);
    }
}

/// A record in another data file, or in other records, is not one that opening has applied.
#[test]
fn only_the_first_data_file_is_looked_at() {
    let first = [round().repeat(9), name(7, b"first\0\0\0"), sample(1)].concat();
    let bytes = Builder::new(false).event(timed(), &[7]).data(first).build().bytes;
    let other = [name(7, b"second\0\0"), sample(2)].concat();
    let names = |reader: &Reader<'_>| walk(reader.records()).names;
    let mut reader = Reader::new(&bytes).unwrap();
    reader.add_data(&other);
    assert_eq!(reader.events()[0].name.as_deref(), Some(&b"first"[..]));
    assert_eq!(names(&reader), [Some(b"second".to_vec())]);
    let reader = reader.with_records(&other);
    assert_eq!(reader.events()[0].name.as_deref(), Some(&b"first"[..]));
    assert_eq!(names(&reader), [Some(b"second".to_vec())]);
}

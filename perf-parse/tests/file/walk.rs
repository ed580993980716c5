//! The walk over the records: the event of each record, the data after it, and the account.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{Account, FileError, FileErrorKind};
use perf_parse::{Error, ErrorKind, EventRecord, Record};

use crate::{attr, header, in_both_orders, open, short};
use testdata::Bytes;
use testdata::file::{Builder, Built};

fn all(sample_type: SampleType) -> Attr {
    Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(sample_type) }
}

/// Returns the results of `f` for each record of a file without a lost boundary.
fn records<T>(built: &Built, mut f: impl FnMut(&EventRecord<'_>) -> T) -> Vec<T> {
    open(&built.bytes).unwrap().records().map(|record| f(&record.unwrap())).collect()
}

/// Returns the event of the record at the start of the data, or the error of its decoding.
fn event(built: &Built) -> Result<Option<usize>, FileErrorKind> {
    let file = open(&built.bytes).unwrap();
    let record = file.records().next().unwrap().unwrap();
    assert_eq!(record.event().is_some(), record.event_index().is_some());
    match record.decode() {
        Ok(_) => {
            assert_eq!(record.unknown_event(), None);
            Ok(record.event_index())
        }
        Err(error) => {
            assert_eq!(record.event_index(), None);
            assert!(record.sample().is_none());
            assert_eq!(record.unknown_event(), Some(error.kind));
            assert_eq!(error.offset, built.data as u64);
            assert_eq!(record.sample_id().map(drop), Err(error));
            Err(error.kind)
        }
    }
}

/// Returns the number of records, the errors, and the account at the end of the walk.
fn end(built: &Built) -> (usize, Vec<FileError>, Account) {
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    let (mut whole, mut errors) = (0, Vec::new());
    for record in &mut records {
        match record {
            Ok(_) => whole += 1,
            Err(error) => errors.push(error),
        }
    }
    // The end is permanent.
    assert!(records.next().is_none());
    let data = header(&file).data;
    assert_eq!(records.reached().offset, data.offset + data.size);
    (whole, errors, records.account().clone())
}

fn one_event(big: bool) {
    // The id is neither needed nor read.
    let sample = Bytes::new(big).u64s(&[99, 0x1000]).record(9, 0);
    let built = Builder::new(big)
        .event(all(SampleType::IDENTIFIER | SampleType::IP), &[7])
        .data(&sample)
        .data(Bytes::new(big).u64(3).u64(98).record(13, 0))
        .data(Bytes::new(big).record(68, 0))
        .build();
    let places = records(&built, |it| (it.event_index(), it.offset() - built.data as u64));
    assert_eq!(places, [(Some(0), 0), (Some(0), 24), (None, 48)]);
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    let record = records.next().unwrap().unwrap();
    let Record::Sample(sample) = record.decode().unwrap() else { panic!("{record:?}") };
    assert_eq!(sample.ip(), Some(0x1000));
    let record = records.next().unwrap().unwrap();
    assert_eq!(record.sample_id().unwrap().unwrap().identifier(), Some(98));
    let record = records.next().unwrap().unwrap();
    assert_eq!(record.decode().unwrap().kind(), RecordType::FINISHED_ROUND);
    assert!(record.sample_id().unwrap().is_none());
}

fn no_event(big: bool) {
    let kind = RecordType::COMM;
    let comm = Bytes::new(big).u64s(&[1, 0]).record(3, 0);
    let unknown = FileErrorKind::UnknownEvent { kind };
    assert_eq!(event(&Builder::new(big).data(comm).build()), Err(unknown));
    let built = Builder::new(big).data(Bytes::new(big).record(68, 0)).build();
    assert_eq!(event(&built), Ok(None));
}

fn events_by_identifier(big: bool) {
    let of = |record: Vec<u8>| {
        let built = Builder::new(big)
            .event(all(SampleType::IDENTIFIER | SampleType::IP), &[5, 9])
            .event(all(SampleType::IDENTIFIER | SampleType::TIME), &[7])
            .event(all(SampleType::IDENTIFIER), &[1, 7])
            .data(record)
            .build();
        event(&built)
    };
    let sample = |id, words: &[u64]| Bytes::new(big).u64(id).u64s(words).record(9, 0);
    assert_eq!(of(sample(5, &[1])), Ok(Some(0)));
    assert_eq!(of(sample(9, &[1])), Ok(Some(0)));
    assert_eq!(of(sample(1, &[])), Ok(Some(2)));
    // If two events have the id, the first one is returned.
    assert_eq!(of(sample(7, &[1])), Ok(Some(1)));
    let lost = |words: &[u64]| Bytes::new(big).u64s(words).record(13, 0);
    assert_eq!(of(lost(&[3, 1])), Ok(Some(2)));
    assert_eq!(of(lost(&[3, 1000, 7])), Ok(Some(1)));
    for (id, kind) in [(6, RecordType::SAMPLE), (10, RecordType::LOST_SAMPLES)] {
        let record = if kind == RecordType::SAMPLE { sample(id, &[1]) } else { lost(&[3, id]) };
        assert_eq!(of(record), Err(FileErrorKind::UnknownId { kind, id }));
    }
    // perf leaves the id 0 in the records that it synthesises.
    assert_eq!(of(lost(&[3, 0])), Ok(Some(0)));
    assert_eq!(of(sample(0, &[1])), Ok(Some(0)));
    // Records of perf's own types have no event.
    assert_eq!(of(Bytes::new(big).record(82, 0)), Ok(None));
    // The record is too short for an id.
    let kind = RecordType::SWITCH;
    assert_eq!(of(Bytes::new(big).raw(&[1; 7]).record(14, 0)), Err(FileErrorKind::UnknownEvent { kind }));
    let kind = RecordType::SAMPLE;
    assert_eq!(of(Bytes::new(big).raw(&[1; 7]).record(9, 0)), Err(FileErrorKind::UnknownEvent { kind }));
}

fn an_event_whose_id_is_0(big: bool) {
    let built = Builder::new(big)
        .event(all(SampleType::IDENTIFIER), &[5])
        .event(all(SampleType::IDENTIFIER), &[0])
        .data(Bytes::new(big).u64(0).record(9, 0))
        .build();
    assert_eq!(event(&built), Ok(Some(1)));
}

fn events_by_id_at_one_place(big: bool) {
    let of = |record: Vec<u8>| {
        // ip, id; or tid, id. In the trailer id, cpu; or tid, id, stream_id
        let built = Builder::new(big)
            .event(all(SampleType::IP | SampleType::ID | SampleType::CPU), &[5])
            .event(all(SampleType::TID | SampleType::ID | SampleType::STREAM_ID), &[7])
            .data(record)
            .build();
        event(&built)
    };
    let sample = |id| Bytes::new(big).u64s(&[1, id, 3]).record(9, 0);
    assert_eq!((of(sample(5)), of(sample(7))), (Ok(Some(0)), Ok(Some(1))));
    assert_eq!(of(Bytes::new(big).u64s(&[1, 5, 3]).record(13, 0)), Ok(Some(0)));
    assert_eq!(of(Bytes::new(big).u64s(&[1, 2, 7, 3]).record(13, 0)), Ok(Some(1)));
}

fn events_by_id_at_different_places(big: bool) {
    let of = |second: Attr, record: Vec<u8>| {
        let first = all(SampleType::ID);
        let built = Builder::new(big).event(first, &[5]).event(second, &[7]).data(record).build();
        event(&built)
    };
    let sample = || Bytes::new(big).u64s(&[5, 5]).record(9, 0);
    let lost = || Bytes::new(big).u64s(&[3, 5]).record(13, 0);
    let unknown = |kind| Err(FileErrorKind::UnknownEvent { kind });
    // At different places in samples but at the same place in the trailer, and the reverse.
    assert_eq!(of(all(SampleType::IP | SampleType::ID), sample()), unknown(RecordType::SAMPLE));
    assert_eq!(of(all(SampleType::IP | SampleType::ID), lost()), Ok(Some(0)));
    assert_eq!(of(all(SampleType::ID | SampleType::CPU), lost()), unknown(RecordType::LOST_SAMPLES));
    assert_eq!(of(all(SampleType::ID | SampleType::CPU), Bytes::new(big).u64(5).record(9, 0)), Ok(Some(0)));
    // No id at all, and none in the trailer.
    assert_eq!(of(all(SampleType::IP), sample()), unknown(RecordType::SAMPLE));
    assert_eq!(of(attr(SampleType::ID), lost()), unknown(RecordType::LOST_SAMPLES));
}

fn a_first_event_without_trailers(big: bool) {
    let built = Builder::new(big)
        .event(attr(SampleType::IDENTIFIER), &[5])
        .event(all(SampleType::IDENTIFIER), &[7])
        .data(Bytes::new(big).u64(3).record(13, 0))
        .data(Bytes::new(big).u64(7).record(9, 0))
        .build();
    let events = records(&built, |it| it.event_index());
    assert_eq!(events, [Some(0), Some(1)]);
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    let record = records.next().unwrap().unwrap();
    assert!(record.decode().is_ok());
    assert!(record.sample_id().unwrap().is_none());
}

fn an_error_in_a_record(big: bool) {
    let built = Builder::new(big)
        .event(all(SampleType::IP | SampleType::CALLCHAIN), &[5])
        .data(Bytes::new(big).u64s(&[1]).record(2, 0))
        .data(Bytes::new(big).u64s(&[1, 9, 2]).record(9, 0))
        .data(Bytes::new(big).u64s(&[1]).record(69, 0))
        .data(Bytes::new(big).u64(1).record(13, 0))
        .build();
    let wrong = |at: usize, kind, error: Error| FileError {
        kind: FileErrorKind::Record { kind, error },
        offset: (built.data + at) as u64 + u64::from(error.offset),
    };
    let errors = records(&built, |it| it.decode().map(drop));
    let first = wrong(0, RecordType::LOST, short("id", 16, 8, 8));
    let third = wrong(48, RecordType::ID_INDEX, short("entries", 32, 0, 16));
    assert_eq!(errors, [Err(first), Ok(()), Err(third), Ok(())]);
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    records.next().unwrap().unwrap();
    let record = records.next().unwrap().unwrap();
    let Record::Sample(sample) = record.decode().unwrap() else { panic!("{record:?}") };
    let error = short("callchain", 72, 8, 24);
    assert_eq!(sample.tail().unwrap_err(), error);
    assert_eq!(record.error(error), wrong(16, RecordType::SAMPLE, error));

    let built = Builder::new(big)
        .event(all(SampleType::TIME | SampleType::TID), &[])
        .data(Bytes::new(big).u64(1).record(14, 0))
        .build();
    let file = open(&built.bytes).unwrap();
    let mut records = file.records();
    let error = short("sample_id", 16, 8, 8);
    let kind = FileErrorKind::Record { kind: RecordType::SWITCH, error };
    let offset = built.data as u64 + 8;
    let record = records.next().unwrap().unwrap();
    assert_eq!(record.sample_id().unwrap_err(), FileError { kind, offset });
}

fn boundaries(big: bool) {
    let good = Bytes::new(big).u64(1).record(13, 0);
    let with = |bad: Vec<u8>| {
        let built = Builder::new(big).event(attr(SampleType::IP), &[]).data(&good).data(&bad).build();
        let (whole, errors, account) = end(&built);
        assert_eq!((whole, account.records, account.bytes), (1, 1, 16));
        let bytes = bad.len() as u64;
        assert_eq!(account.bytes_skipped, bytes);
        assert_eq!(account.diagnostics, errors);
        assert!(!account.is_clean());
        let [error, skipped] = errors.try_into().unwrap();
        assert_eq!(
            skipped,
            FileError { kind: FileErrorKind::Skipped { bytes }, offset: built.data as u64 + 16 }
        );
        let FileErrorKind::Boundary(inner) = error.kind else { panic!("{error:?}") };
        assert_eq!(error.offset, built.data as u64 + 16 + u64::from(inner.offset));
        inner
    };
    for size in [0, 7] {
        let bad = Bytes::new(big).u32(9).u16(0).u16(size).u64(0).out;
        assert_eq!(with(bad), Error { kind: ErrorKind::RecordSize { size: size.into() }, offset: 6 });
    }
    let bad = Bytes::new(big).u32(9).u16(0).u16(25).u64s(&[1, 2]).out;
    assert_eq!(with(bad), short("payload", 17, 16, 8));
    assert_eq!(with(vec![1; 7]), short("header", 8, 7, 0));

    let auxtrace = |size| Bytes::new(big).u64s(&[size, 0, 0, 0, 0]).record(71, 0);
    assert_eq!(with(auxtrace(1)), short("auxtrace.size", 1, 0, 8));
    assert_eq!(with(auxtrace(u64::MAX)), short("auxtrace.size", u64::MAX, 0, 8));
    let bad = Bytes::new(big).u32(16).u32(0).record(66, 0);
    assert_eq!(with([bad, vec![1; 15]].concat()), short("tracing_data.size", 16, 15, 8));
}

fn records_too_short_to_say_what_is_behind(big: bool) {
    let built = Builder::new(big)
        .event(attr(SampleType::IP), &[])
        .data(Bytes::new(big).raw(&[1; 7]).record(71, 0))
        .data(Bytes::new(big).raw(&[1; 3]).record(66, 0))
        .data(Bytes::new(big).u64(1).record(13, 0))
        .build();
    let errors = records(&built, |it| it.decode().err().map(|error| error.kind));
    let wrong = |kind, field, needed, available| {
        Some(FileErrorKind::Record { kind, error: short(field, needed, available, 8) })
    };
    assert_eq!(
        errors,
        [
            wrong(RecordType::AUXTRACE, "size", 40, 7),
            wrong(RecordType::HEADER_TRACING_DATA, "size", 4, 3),
            None
        ]
    );
}

fn what_is_behind_a_record(big: bool) {
    // perf pads tracing data to 8 bytes. Its size excludes the padding.
    let built = Builder::new(big)
        .event(attr(SampleType::IP), &[])
        .data(Bytes::new(big).u32(8).u32(0).record(66, 0))
        .data(b"formats.")
        .data(Bytes::new(big).u32(4).record(66, 0))
        .data(b"form\0\0\0\0")
        .data(Bytes::new(big).u64s(&[16, 1, 2, 3, 4]).record(71, 0))
        .data([0xaa; 16])
        .data(Bytes::new(big).u64s(&[0, 1, 2, 3, 4]).record(71, 0))
        .data(Bytes::new(big).u64(1).record(13, 0))
        .build();
    let behind = records(&built, |it| {
        assert_eq!(it.trailing_size(), it.trailing().len() as u64);
        (it.kind(), it.trailing().to_vec())
    });
    let behind: Vec<_> = behind.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())).collect();
    assert_eq!(
        behind,
        [
            (RecordType::HEADER_TRACING_DATA, b"formats.".as_slice()),
            (RecordType::HEADER_TRACING_DATA, b"form\0\0\0\0"),
            (RecordType::AUXTRACE, &[0xaa; 16]),
            (RecordType::AUXTRACE, b""),
            (RecordType::LOST_SAMPLES, b""),
        ]
    );
    let (_, errors, account) = end(&built);
    assert_eq!((errors, account.bytes), (vec![], (built.table - built.data) as u64));
    assert_eq!(account.announced, 8 + 8 + 16);
}

fn the_account(big: bool) {
    let lost = |kind, words: &[u64]| Bytes::new(big).u64s(words).record(kind, 0);
    let built = Builder::new(big)
        .event(attr(SampleType::IP), &[])
        .data(lost(2, &[1, 10]))
        .data(lost(2, &[1, u64::MAX]))
        .data(lost(13, &[5]))
        .data(lost(13, &[6]))
        // A record without the number of lost samples is a fault.
        .data(lost(13, &[]))
        .data(lost(40, &[]))
        .data(lost(1000, &[]))
        .build();
    let (whole, errors, account) = end(&built);
    assert_eq!((whole, errors), (7, vec![]));
    assert_eq!((account.records, account.bytes, account.bytes_skipped), (7, 104, 0));
    assert_eq!((account.lost, account.lost_samples), (u64::MAX, 11));
    let by_type: Vec<_> = account.by_type().collect();
    assert_eq!(by_type, [(RecordType::LOST, 2), (RecordType::LOST_SAMPLES, 3), (RecordType(40), 1)]);
    assert!(account.is_clean());
}

fn what_the_caller_notes(big: bool) {
    let built = Builder::new(big).event(attr(SampleType::IP), &[]).data([9; 3]).build();
    let reader = open(&built.bytes).unwrap();
    let mut records = reader.records();
    assert_eq!(records.reached().offset, built.data as u64);
    let error = FileError { kind: FileErrorKind::NotAStream, offset: 1 };
    records.account_mut().note(error);
    assert!(records.next().unwrap().is_err());
    assert_eq!(records.account().diagnostics.len(), 2);
    assert_eq!(records.account().diagnostics[0], error);
    assert!(records.next().unwrap().is_err());
    assert_eq!(records.reached().offset, built.data as u64 + 3);
    assert_eq!(records.account().diagnostics.len(), 3);
    for _ in 0..Account::MAX_DIAGNOSTICS {
        records.account_mut().note(error);
    }
    assert_eq!(records.account().diagnostics.len(), Account::MAX_DIAGNOSTICS);
    assert_eq!(records.account().diagnostics_omitted, 3);
    // What is noted in a walk is not noted in the reader, nor in another walk.
    assert!(reader.account().is_clean() && reader.records().account().is_clean());
}

in_both_orders!(
    one_event,
    no_event,
    events_by_identifier,
    an_event_whose_id_is_0,
    events_by_id_at_one_place,
    events_by_id_at_different_places,
    a_first_event_without_trailers,
    an_error_in_a_record,
    boundaries,
    records_too_short_to_say_what_is_behind,
    what_is_behind_a_record,
    the_account,
    what_the_caller_notes,
);

//! The walk over the records: which event each is of, what is behind it, and what the account says.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::Endian;
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{Account, File, FileError, FileErrorKind, FileRecord};
use perf_parse::{Error, ErrorKind, Record};

use crate::build::{Builder, Built};
use crate::common::Bytes;
use crate::{attr, in_both_orders, open, short};

fn all(sample_type: SampleType) -> Attr {
    Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(sample_type) }
}

fn records<'a, O: Endian>(file: &'a File<'a, O>) -> Vec<FileRecord<'a, O>> {
    file.records().map(Result::unwrap).collect()
}

/// Which event the record at the start of the data is of, or what its decoding says.
fn event<O: Endian>(built: &Built) -> Result<Option<usize>, FileErrorKind> {
    let file = open::<O>(&built.bytes).unwrap();
    let record = records(&file)[0];
    match record.decode() {
        Ok(_) => Ok(record.event),
        Err(error) => {
            assert_eq!(record.event, None);
            assert_eq!(error.offset, built.data as u64);
            assert_eq!(record.sample_id().map(drop), Err(error));
            Err(error.kind)
        }
    }
}

/// How the walk ends.
fn end<O: Endian>(built: &Built) -> (usize, Option<FileError>, Account) {
    let file = open::<O>(&built.bytes).unwrap();
    let mut records = file.records();
    let mut whole = 0;
    loop {
        match records.next() {
            Some(Ok(_)) => whole += 1,
            Some(Err(error)) => {
                assert!(records.next().is_none());
                return (whole, Some(error), records.account().clone());
            }
            None => return (whole, None, records.account().clone()),
        }
    }
}

fn one_event<O: Endian>(big: bool) {
    // No id is needed, nor looked at.
    let sample = Bytes::new(big).u64s(&[99, 0x1000]).record(9, 0);
    let built = Builder::new(big)
        .event(all(SampleType::IDENTIFIER | SampleType::IP), &[7])
        .data(&sample)
        .data(Bytes::new(big).u64(3).u64(98).record(13, 0))
        .data(Bytes::new(big).record(68, 0))
        .build();
    let file = open::<O>(&built.bytes).unwrap();
    let records = records(&file);
    assert_eq!(records.iter().map(|it| it.event).collect::<Vec<_>>(), [Some(0), Some(0), None]);
    let offsets: Vec<_> = records.iter().map(|it| it.offset - built.data as u64).collect();
    assert_eq!(offsets, [0, 24, 48]);
    let Record::Sample(sample) = records[0].decode().unwrap() else { panic!("{:?}", records[0]) };
    assert_eq!(sample.ip(), Some(0x1000));
    assert_eq!(records[1].sample_id().unwrap().unwrap().identifier(), Some(98));
    assert_eq!(records[2].decode().unwrap().kind(), RecordType::FINISHED_ROUND);
    assert!(records[2].sample_id().unwrap().is_none());
}

fn no_event<O: Endian>(big: bool) {
    let kind = RecordType::COMM;
    let comm = Bytes::new(big).u64s(&[1, 0]).record(3, 0);
    let unknown = FileErrorKind::UnknownEvent { kind };
    assert_eq!(event::<O>(&Builder::new(big).data(comm).build()), Err(unknown));
    let built = Builder::new(big).data(Bytes::new(big).record(68, 0)).build();
    assert_eq!(event::<O>(&built), Ok(None));
}

fn events_by_identifier<O: Endian>(big: bool) {
    let of = |record: Vec<u8>| {
        let built = Builder::new(big)
            .event(all(SampleType::IDENTIFIER | SampleType::IP), &[5, 9])
            .event(all(SampleType::IDENTIFIER | SampleType::TIME), &[7])
            .event(all(SampleType::IDENTIFIER), &[1, 7])
            .data(record)
            .build();
        event::<O>(&built)
    };
    let sample = |id, words: &[u64]| Bytes::new(big).u64(id).u64s(words).record(9, 0);
    assert_eq!(of(sample(5, &[1])), Ok(Some(0)));
    assert_eq!(of(sample(9, &[1])), Ok(Some(0)));
    assert_eq!(of(sample(1, &[])), Ok(Some(2)));
    // Of two events with the id, the first.
    assert_eq!(of(sample(7, &[1])), Ok(Some(1)));
    let lost = |words: &[u64]| Bytes::new(big).u64s(words).record(13, 0);
    assert_eq!(of(lost(&[3, 1])), Ok(Some(2)));
    assert_eq!(of(lost(&[3, 1000, 7])), Ok(Some(1)));
    for (id, kind) in [(6, RecordType::SAMPLE), (10, RecordType::LOST_SAMPLES)] {
        let record = if kind == RecordType::SAMPLE { sample(id, &[1]) } else { lost(&[3, id]) };
        assert_eq!(of(record), Err(FileErrorKind::UnknownId { kind, id }));
    }
    // perf's own records leave the id 0.
    assert_eq!(of(lost(&[3, 0])), Ok(Some(0)));
    assert_eq!(of(sample(0, &[1])), Ok(Some(0)));
    // Records of perf's types have none.
    assert_eq!(of(Bytes::new(big).record(82, 0)), Ok(None));
    // Too short for an id.
    let kind = RecordType::SWITCH;
    assert_eq!(of(Bytes::new(big).raw(&[1; 7]).record(14, 0)), Err(FileErrorKind::UnknownEvent { kind }));
    let kind = RecordType::SAMPLE;
    assert_eq!(of(Bytes::new(big).raw(&[1; 7]).record(9, 0)), Err(FileErrorKind::UnknownEvent { kind }));
}

fn an_event_whose_id_is_0<O: Endian>(big: bool) {
    let built = Builder::new(big)
        .event(all(SampleType::IDENTIFIER), &[5])
        .event(all(SampleType::IDENTIFIER), &[0])
        .data(Bytes::new(big).u64(0).record(9, 0))
        .build();
    assert_eq!(event::<O>(&built), Ok(Some(1)));
}

fn events_by_id_at_one_place<O: Endian>(big: bool) {
    let of = |record: Vec<u8>| {
        // ip, id; or tid, id. In the trailer id, cpu; or tid, id, stream_id
        let built = Builder::new(big)
            .event(all(SampleType::IP | SampleType::ID | SampleType::CPU), &[5])
            .event(all(SampleType::TID | SampleType::ID | SampleType::STREAM_ID), &[7])
            .data(record)
            .build();
        event::<O>(&built)
    };
    let sample = |id| Bytes::new(big).u64s(&[1, id, 3]).record(9, 0);
    assert_eq!((of(sample(5)), of(sample(7))), (Ok(Some(0)), Ok(Some(1))));
    assert_eq!(of(Bytes::new(big).u64s(&[1, 5, 3]).record(13, 0)), Ok(Some(0)));
    assert_eq!(of(Bytes::new(big).u64s(&[1, 2, 7, 3]).record(13, 0)), Ok(Some(1)));
}

fn events_by_id_at_different_places<O: Endian>(big: bool) {
    let of = |second: Attr, record: Vec<u8>| {
        let first = all(SampleType::ID);
        let built = Builder::new(big).event(first, &[5]).event(second, &[7]).data(record).build();
        event::<O>(&built)
    };
    let sample = || Bytes::new(big).u64s(&[5, 5]).record(9, 0);
    let lost = || Bytes::new(big).u64s(&[3, 5]).record(13, 0);
    let unknown = |kind| Err(FileErrorKind::UnknownEvent { kind });
    // Further in in samples, at the same place in the trailer; and the other way round.
    assert_eq!(of(all(SampleType::IP | SampleType::ID), sample()), unknown(RecordType::SAMPLE));
    assert_eq!(of(all(SampleType::IP | SampleType::ID), lost()), Ok(Some(0)));
    assert_eq!(of(all(SampleType::ID | SampleType::CPU), lost()), unknown(RecordType::LOST_SAMPLES));
    assert_eq!(of(all(SampleType::ID | SampleType::CPU), Bytes::new(big).u64(5).record(9, 0)), Ok(Some(0)));
    // None at all, or none in the trailer.
    assert_eq!(of(all(SampleType::IP), sample()), unknown(RecordType::SAMPLE));
    assert_eq!(of(attr(SampleType::ID), lost()), unknown(RecordType::LOST_SAMPLES));
}

fn a_first_event_without_trailers<O: Endian>(big: bool) {
    let built = Builder::new(big)
        .event(attr(SampleType::IDENTIFIER), &[5])
        .event(all(SampleType::IDENTIFIER), &[7])
        .data(Bytes::new(big).u64(3).record(13, 0))
        .data(Bytes::new(big).u64(7).record(9, 0))
        .build();
    let file = open::<O>(&built.bytes).unwrap();
    let records = records(&file);
    assert_eq!((records[0].event, records[1].event), (Some(0), Some(1)));
    assert!(records[0].decode().is_ok());
    assert!(records[0].sample_id().unwrap().is_none());
}

fn an_error_in_a_record<O: Endian>(big: bool) {
    let built = Builder::new(big)
        .event(all(SampleType::IP | SampleType::CALLCHAIN), &[5])
        .data(Bytes::new(big).u64s(&[1]).record(2, 0))
        .data(Bytes::new(big).u64s(&[1, 9, 2]).record(9, 0))
        .data(Bytes::new(big).u64s(&[1]).record(69, 0))
        .data(Bytes::new(big).u64(1).record(13, 0))
        .build();
    let file = open::<O>(&built.bytes).unwrap();
    let records = records(&file);
    assert_eq!(records.len(), 4);
    let wrong = |at: usize, kind, error: Error| FileError {
        kind: FileErrorKind::Record { kind, error },
        offset: (built.data + at) as u64 + u64::from(error.offset),
    };
    let error = short("id", 16, 8, 8);
    assert_eq!(records[0].decode().unwrap_err(), wrong(0, RecordType::LOST, error));
    let Record::Sample(sample) = records[1].decode().unwrap() else { panic!("{:?}", records[1]) };
    let error = short("callchain", 72, 8, 24);
    assert_eq!(sample.tail().unwrap_err(), error);
    assert_eq!(records[1].error(error), wrong(16, RecordType::SAMPLE, error));
    let error = short("entries", 32, 0, 16);
    assert_eq!(records[2].decode().unwrap_err(), wrong(48, RecordType::ID_INDEX, error));
    assert!(records[3].decode().is_ok());

    let built = Builder::new(big)
        .event(all(SampleType::TIME | SampleType::TID), &[])
        .data(Bytes::new(big).u64(1).record(14, 0))
        .build();
    let file = open::<O>(&built.bytes).unwrap();
    let error = short("sample_id", 16, 8, 8);
    let kind = FileErrorKind::Record { kind: RecordType::SWITCH, error };
    let offset = built.data as u64 + 8;
    let record = file.records().next().unwrap().unwrap();
    assert_eq!(record.sample_id().unwrap_err(), FileError { kind, offset });
}

fn boundaries<O: Endian>(big: bool) {
    let good = Bytes::new(big).u64(1).record(13, 0);
    let with = |bad: Vec<u8>| {
        let built = Builder::new(big).event(attr(SampleType::IP), &[]).data(&good).data(&bad).build();
        let (whole, error, account) = end::<O>(&built);
        assert_eq!((whole, account.records, account.bytes), (1, 1, 16));
        assert_eq!(account.bytes_skipped, bad.len() as u64);
        let error = error.unwrap();
        assert_eq!(account.diagnostics, [error]);
        assert!(!account.is_clean());
        let FileErrorKind::Boundary(inner) = error.kind else { panic!("{error:?}") };
        assert_eq!(error.offset, built.data as u64 + 16 + u64::from(inner.offset));
        inner
    };
    for size in [0, 7] {
        let bad = Bytes::new(big).u32(9).u16(0).u16(size).u64(0).out;
        assert_eq!(with(bad), Error { kind: ErrorKind::RecordSize { size }, offset: 6 });
    }
    let bad = Bytes::new(big).u32(9).u16(0).u16(25).u64s(&[1, 2]).out;
    assert_eq!(with(bad), short("payload", 17, 16, 8));
    assert_eq!(with(vec![1; 7]), short("header", 8, 7, 0));

    let auxtrace = |size| Bytes::new(big).u64s(&[size, 0, 0, 0, 0]).record(71, 0);
    assert_eq!(with(auxtrace(1)), short("auxtrace.size", 1, 0, 8));
    assert_eq!(with(auxtrace(u64::MAX)), short("auxtrace.size", u64::MAX, 0, 8));
    let bad = Bytes::new(big).raw(&[1; 7]).record(71, 0);
    assert_eq!(with(bad), short("auxtrace.size", 8, 7, 8));
    let bad = Bytes::new(big).u32(16).u32(0).record(66, 0);
    assert_eq!(with([bad, vec![1; 15]].concat()), short("tracing_data.size", 16, 15, 8));
    let bad = Bytes::new(big).raw(&[1; 3]).record(66, 0);
    assert_eq!(with(bad), short("tracing_data.size", 4, 3, 8));
}

fn what_is_behind_a_record<O: Endian>(big: bool) {
    // As perf writes tracing data today, and as it did without the padding.
    let built = Builder::new(big)
        .event(attr(SampleType::IP), &[])
        .data(Bytes::new(big).u32(8).u32(0).record(66, 0))
        .data(b"formats.")
        .data(Bytes::new(big).u32(4).record(66, 0))
        .data(b"form")
        .data(Bytes::new(big).u64s(&[16, 1, 2, 3, 4]).record(71, 0))
        .data([0xaa; 16])
        .data(Bytes::new(big).u64s(&[0, 1, 2, 3, 4]).record(71, 0))
        .data(Bytes::new(big).u64(1).record(13, 0))
        .build();
    let file = open::<O>(&built.bytes).unwrap();
    let behind: Vec<_> = records(&file).iter().map(|it| (it.raw.kind(), it.behind)).collect();
    assert_eq!(
        behind,
        [
            (RecordType::HEADER_TRACING_DATA, b"formats.".as_slice()),
            (RecordType::HEADER_TRACING_DATA, b"form"),
            (RecordType::AUXTRACE, &[0xaa; 16]),
            (RecordType::AUXTRACE, b""),
            (RecordType::LOST_SAMPLES, b""),
        ]
    );
    let (_, error, account) = end::<O>(&built);
    assert_eq!((error, account.bytes), (None, file.header().data.size));
}

fn the_account<O: Endian>(big: bool) {
    let lost = |kind, words: &[u64]| Bytes::new(big).u64s(words).record(kind, 0);
    let built = Builder::new(big)
        .event(attr(SampleType::IP), &[])
        .data(lost(2, &[1, 10]))
        .data(lost(2, &[1, u64::MAX]))
        .data(lost(13, &[5]))
        .data(lost(13, &[6]))
        // One that does not say how many is a fault of its own.
        .data(lost(13, &[]))
        .data(lost(40, &[]))
        .data(lost(1000, &[]))
        .build();
    let (whole, error, account) = end::<O>(&built);
    assert_eq!((whole, error), (7, None));
    assert_eq!((account.records, account.bytes, account.bytes_skipped), (7, 104, 0));
    assert_eq!((account.lost, account.lost_samples), (u64::MAX, 11));
    let by_type: Vec<_> = account.by_type().collect();
    assert_eq!(by_type, [(RecordType::LOST, 2), (RecordType::LOST_SAMPLES, 3), (RecordType(40), 1)]);
    assert!(account.is_clean());
}

fn what_the_caller_notes<O: Endian>(big: bool) {
    let built = Builder::new(big).event(attr(SampleType::IP), &[]).data([9; 3]).build();
    let file = open::<O>(&built.bytes).unwrap();
    let mut records = file.records();
    assert_eq!(records.offset(), built.data as u64);
    let error = FileError { kind: FileErrorKind::PipeMode, offset: 1 };
    records.account_mut().note(error);
    assert!(records.next().unwrap().is_err());
    assert_eq!(records.offset(), built.data as u64 + 3);
    assert_eq!(records.account().diagnostics.len(), 2);
    assert_eq!(records.account().diagnostics[0], error);
    for _ in 0..Account::MAX_DIAGNOSTICS {
        records.account_mut().note(error);
    }
    assert_eq!(records.account().diagnostics.len(), Account::MAX_DIAGNOSTICS);
    assert_eq!(records.account().diagnostics_omitted, 2);
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
    what_is_behind_a_record,
    the_account,
    what_the_caller_notes,
);

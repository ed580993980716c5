//! Any bytes as a capture, repaired: the output is clean in both orders, has as many records as reported, and a
//! second repair does not change it. Nor does a second edit what an edit of it wrote.

use std::io::Cursor;

use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_parse::file::RecordCheck;
use perf_parse::file::write::WriteFileError;
use perf_parse::rewrite::{Edit, EditSummary, EditedRecord, RepairOrder, repair};

use super::walk::walk;

/// `data` is a file or a stream.
pub fn run(data: &[u8]) -> bool {
    Reader::new(data).is_ok_and(|reader| check(&reader))
}

fn check(damaged: &Reader<'_>) -> bool {
    let repaired = match repair(damaged, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}) {
        Ok(repaired) => repaired,
        // The attr has more bytes than a file can hold.
        Err(WriteFileError::Event { field: "attr_tail", .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let bytes = repaired.out.into_inner();
    let reader = Reader::new(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.records().check_features(), []);
    let every = RecordCheck::new(reader.feature(Feature::TRACING_DATA).map_or(&[], |it| it.bytes));
    // A file without records would look truncated, so it gets one.
    let expected = repaired.written.max(1);
    for by_time in [false, true] {
        let records = reader.records();
        let mut records = if by_time { records.in_time_order() } else { records };
        let all = walk(&mut records, bytes.len(), |record| {
            every.record(record).unwrap_or_else(|error| panic!("{error}"));
        });
        assert_eq!(all.len() as u64, expected);
        assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    }

    let again =
        repair(&reader, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}).expect("it was just written");
    assert_eq!((again.written, again.dropped), (expected, 0));
    assert!(again.features_dropped.is_empty());
    assert!(again.out.into_inner() == bytes, "a second repair changes the file");
    edit(&reader);
    true
}

/// The fields that are removed together.
const REMOVED: [SampleType; 4] = [
    SampleType::CALLCHAIN.union(SampleType::RAW),
    SampleType::STACK_USER.union(SampleType::REGS_USER),
    SampleType::BRANCH_STACK.union(SampleType::WEIGHT_TYPE).union(SampleType::AUX),
    SampleType::REGS_INTR.union(SampleType::PHYS_ADDR).union(SampleType::CGROUP),
];

/// Edits a clean capture.
fn edit(reader: &Reader<'_>) {
    for removed in REMOVED {
        let without = |reader: &Reader<'_>| {
            Edit::new().remove(removed).write_file(reader, Cursor::new(Vec::new()), |_| {})
        };
        let edited = without(reader).unwrap_or_else(|error| panic!("{error}"));
        assert!(removed.0 & SampleType::CALLCHAIN.0 != 0 || edited.left_out == 0);
        let bytes = edited.out.into_inner();
        let again = check_clean(&bytes, |reader| without(reader).unwrap_or_else(|error| panic!("{error}")));
        assert!(again.out.into_inner() == bytes, "a second edit changes the file");
    }
    let mut index = 0_u64;
    let half = Edit::new().samples(|_| {
        index += 1;
        if index.is_multiple_of(2) { EditedRecord::LeftOut } else { EditedRecord::Kept }
    });
    let half = half.write_file(reader, Cursor::new(Vec::new()), |_| {});
    let half = half.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((half.left_out, half.dropped), (index / 2, 0));
    check_clean(half.out.get_ref(), |_| ());

    // Some events and features do not fit into the records of a pipe.
    let pipe = |reader: &Reader<'_>| Edit::new().write_pipe(reader, Vec::new(), |_| {});
    if let Ok(EditSummary { out, .. }) = pipe(reader) {
        let again = check_clean(&out, |reader| pipe(reader).unwrap_or_else(|error| panic!("{error}")));
        assert!(again.out == out, "a second edit changes the pipe");
    }
}

/// Checks that a capture is clean, and works on it.
pub(crate) fn check_clean<T>(bytes: &[u8], work: impl FnOnce(&Reader<'_>) -> T) -> T {
    let reader = Reader::new(bytes).unwrap_or_else(|error| panic!("{error}"));
    let mut records = reader.records();
    let check = RecordCheck::new(reader.feature(Feature::TRACING_DATA).map_or(&[], |it| it.bytes));
    for record in &mut records {
        let record = record.unwrap_or_else(|error| panic!("{error}"));
        check.record(&record).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(records.check_features(), []);
    assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    work(&reader)
}

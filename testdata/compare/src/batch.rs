//! The comparison of batches with the same walk one record at a time: every column, every extent, where a batch ends, and
//! what is left to the walk.

use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::batch::Extent;
use perf_parse::file::EventRecords;
use perf_parse::{Records, Sample, SampleBatch, SampleLayout};

/// The fields that have a column, with the bits that select it.
const COLUMNS: [SampleType; 11] = [
    SampleType::IP,
    SampleType::TID,
    SampleType::TIME,
    SampleType::ADDR,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::PERIOD,
    SampleType::CALLCHAIN,
    SampleType::RAW,
    SampleType::STACK_USER,
];

/// The records after which batches may end anywhere.
const COMPRESSED: [RecordType; 2] = [RecordType::COMPRESSED, RecordType::COMPRESSED2];

/// The columns of fields of variable size. An event of a batch may lack them while others record them.
const TAIL: SampleType = SampleType::CALLCHAIN.union(SampleType::RAW).union(SampleType::STACK_USER);

/// Compares the walks over a capture that `walk` returns, in batches of several sizes and of several selections of fields.
/// `is_whole` is whether the capture is in memory: a batch then ends only where it must. Returns the number of samples that
/// were in batches.
///
/// # Panics
///
/// If something differs.
pub fn check<'r>(is_whole: bool, mut walk: impl FnMut() -> EventRecords<'r>) -> usize {
    walks(is_whole, &mut walk)
}

/// Built once, here: it is nearly all of the code of a comparison.
fn walks<'r>(is_whole: bool, walk: &mut dyn FnMut() -> EventRecords<'r>) -> usize {
    let odd = COLUMNS.iter().step_by(2).fold(SampleType::NONE, |all, &field| all | field);
    walk_in::<1>(is_whole, SampleType::KNOWN, walk);
    walk_in::<3>(is_whole, odd, walk);
    walk_in::<33>(is_whole, SampleType(SampleType::KNOWN.0 & !odd.0), walk);
    walk_in::<256>(is_whole, SampleType::KNOWN, walk)
}

fn walk_in<'r, const N: usize>(
    is_whole: bool,
    selected: SampleType,
    walk: &mut dyn FnMut() -> EventRecords<'r>,
) -> usize {
    let (mut records, mut expected) = (walk(), walk());
    let mut batch = SampleBatch::<N>::new(selected);
    let mut samples = 0;
    loop {
        let place = records.reached();
        let bytes = records.next_batch(&mut batch).to_vec();
        check_size(&batch, &bytes);
        let mut fields = SampleType::NONE;
        let (mut at, mut all) = (0, Vec::new());
        for index in 0..batch.len() {
            let record = expected.next().expect("a sample of the batch").expect("it has no fault");
            let mut expected_place = place;
            *expected_place.decompressed.as_mut().unwrap_or(&mut expected_place.offset) += at as u64;
            assert_eq!(record.position(), expected_place);
            assert_eq!(batch.offset(index), Some(at));
            assert_eq!(&bytes[at..][..record.raw().as_bytes().len()], record.raw().as_bytes());
            at += record.raw().as_bytes().len();
            assert_eq!(batch.events().map(|events| events[index] as usize), record.event_index());
            fields |= record.event().expect("the event is known").attr.sample_type;
            all.push(record);
        }
        samples += all.len();
        assert_eq!(at, bytes.len());
        check_columns(&batch, selected, fields);
        for (index, record) in all.iter().enumerate() {
            check_sample(&batch, index, &bytes, &record.sample().expect("it has no fault"));
        }
        if batch.is_full() {
            continue;
        }
        match (records.next(), expected.next()) {
            (None, None) => break,
            (Some(Ok(next)), Some(Ok(record))) => {
                assert_eq!(next.position(), record.position());
                assert_eq!(next.raw().as_bytes(), record.raw().as_bytes());
                let is_good = record.sample().is_some_and(|sample| sample.tail().is_ok());
                let mut types = records.account().by_type();
                let is_compressed = types.any(|(kind, _)| COMPRESSED.contains(&kind));
                // Another event may record other leading fields.
                let leading = SampleType::KNOWN.0 & selected.0 & !TAIL.0;
                let its = record.event().map_or(0, |event| event.attr.sample_type.0);
                let differs = !batch.is_empty() && (its ^ fields.0) & leading != 0;
                let may_end = is_compressed || !is_whole || differs;
                assert!(!is_good || may_end, "the batch ends too early: {record:?}");
            }
            (next, record) => assert_eq!(next.map(Result::err), record.map(Result::err)),
        }
    }
    assert_eq!(records.account(), expected.account());
    samples
}

/// Compares batches of the samples of one event with the samples one at a time. Returns the number of samples that were in
/// batches.
///
/// # Panics
///
/// If something differs.
pub fn check_records<O: ByteOrder>(order: O::Value, layout: &SampleLayout, bytes: &[u8]) -> usize {
    records_in::<O, 1>(order, layout, bytes);
    records_in::<O, 2>(order, layout, bytes);
    records_in::<O, 40>(order, layout, bytes)
}

fn records_in<O: ByteOrder, const N: usize>(order: O::Value, layout: &SampleLayout, bytes: &[u8]) -> usize {
    let mut records = Records::<O>::new_in(order, bytes);
    let mut expected = records.clone();
    let mut batch = SampleBatch::<N>::new(SampleType::KNOWN);
    let mut samples = 0;
    loop {
        let bytes = records.next_batch(layout, &mut batch);
        check_size(&batch, bytes);
        check_columns(&batch, SampleType::KNOWN, layout.sample_type());
        assert_eq!(batch.events(), None);
        assert!(batch.is_empty() || batch.endianness() == O::endianness(order));
        let mut at = 0;
        for index in 0..batch.len() {
            let record = expected.next().expect("a sample of the batch").expect("it has no fault");
            assert_eq!(batch.offset(index), Some(at));
            at += record.as_bytes().len();
            check_sample(&batch, index, bytes, &record.sample(layout).expect("it has no fault"));
        }
        samples += batch.len();
        assert_eq!(at, bytes.len());
        if batch.is_full() {
            continue;
        }
        match (records.next(), expected.next()) {
            (None, None) => break,
            (Some(Ok(next)), Some(Ok(record))) => {
                assert_eq!(next.as_bytes(), record.as_bytes());
                let is_good = record.sample(layout).is_some_and(|sample| sample.tail().is_ok());
                assert!(!is_good, "the batch ends too early: {record:?}");
            }
            (next, record) => assert_eq!(next.map(Result::err), record.map(Result::err)),
        }
    }
    assert_eq!(records.rest(), expected.rest());
    samples
}

fn check_size<const N: usize>(batch: &SampleBatch<N>, bytes: &[u8]) {
    assert_eq!(batch.bytes(), bytes.len());
    assert!(batch.len() <= N);
    assert_eq!(batch.is_empty(), bytes.is_empty());
    assert_eq!(batch.is_full(), batch.len() == N);
    assert_eq!(batch.offset(batch.len()), None);
}

/// The columns of a batch have values if the field was selected and the event of a sample records it.
fn check_columns<const N: usize>(batch: &SampleBatch<N>, selected: SampleType, fields: SampleType) {
    let both = |bits: SampleType| !batch.is_empty() && selected.0 & bits.0 != 0 && fields.0 & bits.0 != 0;
    let lengths = [
        (SampleType::IP, batch.ip().map(<[_]>::len)),
        (SampleType::TID, batch.pid().map(<[_]>::len)),
        (SampleType::TID, batch.tid().map(<[_]>::len)),
        (SampleType::TIME, batch.time().map(<[_]>::len)),
        (SampleType::ADDR, batch.addr().map(<[_]>::len)),
        (SampleType::ID | SampleType::IDENTIFIER, batch.id().map(<[_]>::len)),
        (SampleType::STREAM_ID, batch.stream_id().map(<[_]>::len)),
        (SampleType::CPU, batch.cpu().map(<[_]>::len)),
        (SampleType::PERIOD, batch.period().map(<[_]>::len)),
        (SampleType::CALLCHAIN, batch.callchain().map(<[_]>::len)),
        (SampleType::RAW, batch.raw().map(<[_]>::len)),
        (SampleType::STACK_USER, batch.stack_user().map(<[_]>::len)),
    ];
    for (bits, len) in lengths {
        assert_eq!(len, both(bits).then_some(batch.len()), "{bits:?}");
    }
}

/// Compares the columns that a batch has with a sample. A field of variable size that its event does not record is absent.
fn check_sample<O: ByteOrder, const N: usize>(
    batch: &SampleBatch<N>,
    index: usize,
    bytes: &[u8],
    sample: &Sample<'_, O>,
) {
    fn same<T: Copy + PartialEq + core::fmt::Debug>(column: Option<&[T]>, index: usize, value: Option<T>) {
        if let Some(column) = column {
            assert_eq!(Some(column[index]), value, "a column has a value of each sample");
        }
    }
    let part = |column: Option<&[Extent]>, expected: Option<&[u8]>| {
        let Some(extent) = column.map(|column| column[index]) else { return };
        assert_eq!(extent == Extent::ABSENT, expected.is_none());
        assert_eq!(extent.of(bytes), expected.unwrap_or_default());
    };
    same(batch.ip(), index, sample.ip());
    same(batch.pid(), index, sample.pid());
    same(batch.tid(), index, sample.tid());
    same(batch.time(), index, sample.time());
    same(batch.addr(), index, sample.addr());
    same(batch.id(), index, sample.identifier().or(sample.id()));
    same(batch.stream_id(), index, sample.stream_id());
    same(batch.cpu(), index, sample.cpu());
    same(batch.period(), index, sample.period());
    let tail = sample.tail().expect("a sample of a batch has no fault");
    let words = tail.callchain.map(|chain| chain.words());
    part(batch.callchain(), words.map(|words| words.as_bytes()));
    part(batch.raw(), tail.raw);
    part(batch.stack_user(), tail.stack_user.map(|stack| stack.copied()));
    if let (Some(words), true) = (words, batch.callchain().is_some()) {
        let of_batch = batch.callchain_words(index, bytes).expect("there is a column");
        assert!(of_batch.iter().eq(words.iter()));
    }
}

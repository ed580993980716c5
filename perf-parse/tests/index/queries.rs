//! Queries against a scan of all records.

use core::ops::Bound;
use std::collections::HashSet;

use perf_parse::abi::record::RecordType;
use perf_parse::event::RecordPosition;
use perf_parse::{Index, Reader};

use crate::{captures, index, records, ring, round, sample, several_chunks, switch};

/// The places of the samples in chunks that the index returns.
fn found(
    index: &Index,
    reader: &Reader<'_>,
    span: (Bound<u64>, Bound<u64>),
    cpu: Option<u32>,
    tid: Option<i32>,
) -> HashSet<RecordPosition> {
    let chunks = index.samples(span, cpu, tid);
    chunks.flat_map(|chunk| chunk.walk(reader)).map(|record| record.unwrap().position()).collect()
}

#[test]
fn samples_are_in_the_chunks_that_are_returned() {
    let data = several_chunks();
    let reader = ring(&data);
    let (index, all) = (index(&reader), records(&reader));
    let (from, to) = (1_050_000, 1_060_000);
    let all_chunks = index.chunks().count();
    for (span, cpu, tid, chunks) in [
        ((Bound::Unbounded, Bound::Unbounded), None, None, all_chunks),
        ((Bound::Included(from), Bound::Included(to)), None, None, 3),
        ((Bound::Excluded(from), Bound::Excluded(to)), Some(3), None, 3),
        ((Bound::Included(from), Bound::Unbounded), None, Some(2), 3),
        ((Bound::Unbounded, Bound::Excluded(to)), None, Some(-1), 2),
        ((Bound::Unbounded, Bound::Unbounded), None, Some(5), 3),
        ((Bound::Unbounded, Bound::Unbounded), Some(4), None, 0),
        ((Bound::Unbounded, Bound::Unbounded), None, Some(100), 0),
    ] {
        let found = found(&index, &reader, span, cpu, tid);
        for record in all.iter().filter(|record| record.sample().is_some()) {
            let fits = core::ops::RangeBounds::contains(&span, &record.time().unwrap())
                && cpu.is_none_or(|cpu| record.cpu() == Some(cpu))
                && tid.is_none_or(|tid| record.pid_tid() == Some((1, tid)));
            assert!(!fits || found.contains(&record.position()), "{span:?} {cpu:?} {tid:?}");
        }
        let count = index.samples(span, cpu, tid).count();
        assert!(count <= chunks, "{span:?} {cpu:?} {tid:?}: {count} chunks");
    }
}

#[test]
fn bounds_of_a_span() {
    let data = [sample(1, 10, 0), sample(1, 20, 0)].concat();
    let reader = ring(&data);
    let index = index(&reader);
    let count = |start, end| index.samples((start, end), None, None).count();
    use Bound::{Excluded, Included, Unbounded};
    for (at, included, excluded) in [(9, 1, 1), (10, 1, 1), (19, 1, 1), (20, 1, 0), (21, 0, 0)] {
        assert_eq!((count(Included(at), Unbounded), count(Excluded(at), Unbounded)), (included, excluded));
    }
    for (at, included, excluded) in [(9, 0, 0), (10, 1, 0), (11, 1, 1), (20, 1, 1), (21, 1, 1)] {
        assert_eq!((count(Unbounded, Included(at)), count(Unbounded, Excluded(at))), (included, excluded));
    }
}

#[test]
fn chunks_without_samples_or_times() {
    let data = round().repeat(3);
    let reader = ring(&data);
    let index = index(&reader);
    assert_eq!(index.samples(.., None, None).count(), 0);
    let chunk = index.chunks().next().unwrap();
    assert!(chunk.may_hold(&.., None, None));
    assert!(!chunk.may_hold(&(0..), None, None));
    assert!(!chunk.may_hold(&.., Some(0), None));
    assert_eq!(Index::default().samples(.., None, None).count(), 0);
    assert_eq!(Index::default().before(u64::MAX).unwrap().count(), 0);
}

/// The records before a time as [`Index::before`] documents them.
fn scanned(index: &Index, reader: &Reader<'_>, time: u64) -> Vec<RecordPosition> {
    let later = records(reader).into_iter().find(|record| record.time().is_some_and(|it| it >= time));
    let chunk = |place| index.chunks().take_while(|chunk| chunk.position() <= place).count();
    let first_later = later.map(|record| chunk(record.position()));
    let mut before = records(reader);
    before.retain(|record| record.kind() != RecordType::SAMPLE);
    before.retain(|record| match record.time() {
        Some(it) => it < time,
        None => first_later.is_none_or(|first| chunk(record.position()) < first),
    });
    before.iter().map(|record| record.position()).collect()
}

#[test]
fn records_before_a_time() {
    let data = several_chunks();
    let reader = ring(&data);
    let several = index(&reader);
    for time in [0, 1_000_000, 1_000_001, 1_123_456, 1_300_000, u64::MAX] {
        let before: Vec<_> = several.before(time).unwrap().map(|other| other.position).collect();
        assert_eq!(before, scanned(&several, &reader, time), "{time}");
    }
    for (path, bytes) in captures() {
        let reader = Reader::new(&bytes).unwrap();
        let index = index(&reader);
        let last = index.chunks().filter_map(|chunk| chunk.times()).map(|it| *it.end()).max().unwrap_or(1);
        for time in [0, last / 2, last, last.saturating_add(1)] {
            let before: Vec<_> = index.before(time).unwrap().map(|other| other.position).collect();
            assert_eq!(before, scanned(&index, &reader, time), "{path:?} {time}");
        }
    }
}

#[test]
fn an_early_record_late_in_the_capture_is_before() {
    let late = [switch(1, 5, 0), sample(1, 100, 0)].concat();
    let data = [sample(1, 100, 0).repeat(1 << 12), late].concat();
    let reader = ring(&data);
    let index = index(&reader);
    let before: Vec<_> = index.before(50).unwrap().collect();
    assert_eq!(before.len(), 1);
    assert_eq!((before[0].time, before[0].kind), (Some(5), RecordType::SWITCH));
    assert_eq!(index.before(5).unwrap().count(), 0);
    assert_eq!(index.before(6).unwrap().count(), 1);
}

//! The limits on records held for time order, at small values: below each, at it and above it.

use perf_parse::Reader;
use perf_parse::file::Limits;

use crate::limits::limits;
use crate::pipe::{attr, header};
use crate::{Walk, by_time_within, round, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Makes a file of samples with these times.
fn file(times: &[u64]) -> Vec<u8> {
    let data: Vec<_> = times.iter().flat_map(|&time| sample(time)).collect();
    Builder::new(false).event(timed(), &[7]).data(data).build().bytes
}

/// Makes a stream of samples with these times.
fn stream(times: &[u64]) -> Vec<u8> {
    let records = times.iter().flat_map(|&time| sample(time)).collect();
    [header(false), attr(false, &timed(), &[7]), records].concat()
}

fn stream_by_time(bytes: &[u8], limits: &Limits) -> Walk {
    let reader = Reader::stream_within(bytes, limits).unwrap();
    walk(reader.records().in_time_order())
}

pub(crate) fn times_and_late(walk: &Walk) -> (Vec<u64>, u64) {
    assert!(walk.account.is_clean(), "{:?}", walk.errors);
    (walk.seen.iter().filter_map(|it| it.time).collect(), walk.account.late)
}

/// Bytes of a copy of a sample: its place, header, id and time.
const COPY: usize = 24 + 24;

#[test]
fn held_records() {
    let times = [5, 4, 3, 2, 1];
    for (most, expected) in [
        (6, (vec![1, 2, 3, 4, 5], 0)),
        (5, (vec![1, 2, 3, 4, 5], 0)),
        // The earlier half of 5, 4, 3, 2 is returned before 1 is read.
        (4, (vec![2, 3, 1, 4, 5], 1)),
        (2, (vec![4, 3, 2, 1, 5], 3)),
        // No record is held.
        (1, (vec![5, 4, 3, 2, 1], 4)),
        (0, (vec![5, 4, 3, 2, 1], 4)),
    ] {
        let limits = limits(|it| it.held_records = most);
        assert_eq!(times_and_late(&by_time_within(&file(&times), &limits)), expected, "{most}");
        assert_eq!(times_and_late(&stream_by_time(&stream(&times), &limits)), expected, "{most}");
    }
}

#[test]
fn held_bytes() {
    let times = [5, 4, 3, 2, 1];
    for (most, expected) in [
        (5 * COPY + 1, (vec![1, 2, 3, 4, 5], 0)),
        (5 * COPY, (vec![1, 2, 3, 4, 5], 0)),
        (4 * COPY + 1, (vec![1, 2, 3, 4, 5], 0)),
        (4 * COPY, (vec![2, 3, 1, 4, 5], 1)),
        (1, (vec![5, 4, 3, 2, 1], 4)),
        (0, (vec![5, 4, 3, 2, 1], 4)),
    ] {
        let limits = limits(|it| it.held_bytes = most);
        assert_eq!(times_and_late(&stream_by_time(&stream(&times), &limits)), expected, "{most}");
        // Records in memory are not copied.
        assert_eq!(times_and_late(&by_time_within(&file(&times), &limits)).1, 0);
    }
}

#[test]
fn the_half_that_goes_is_of_the_bytes_where_these_are_at_their_limit() {
    // One early sample of 4 KiB and ten late small ones: the large one is more than half of the bytes.
    let large = |time| Bytes::new(false).u64s(&[7, time]).raw(&[0; 4096]).record(9, 0);
    let records = [(20..30).flat_map(sample).collect(), large(5), sample(10)].concat();
    let bytes = [header(false), attr(false, &timed(), &[7]), records].concat();
    let all = stream_by_time(&bytes, &limits(|it| it.held_bytes = 4096));
    let times: Vec<_> = all.seen.iter().filter_map(|it| it.time).collect();
    let rest = (20..30).collect::<Vec<_>>();
    assert_eq!((times, all.account.late), ([&[5, 10], rest.as_slice()].concat(), 0));
}

/// Any number of samples with the same time form one run. The returned part of the run must free its room.
#[test]
fn copies_of_equal_times_end_at_any_limit() {
    let bytes = stream(&[5; 200]);
    for most in (0..=4 * COPY).chain([199 * COPY, 200 * COPY, 201 * COPY]) {
        let all = stream_by_time(&bytes, &limits(|it| it.held_bytes = most));
        assert_eq!(times_and_late(&all), (vec![5; 200], 0), "{most}");
        assert!(all.seen.is_sorted_by_key(|it| it.offset), "{most}");
    }
}

/// The case of a sorted capture on standard input with more than 64 MiB of copies.
#[test]
fn copies_of_rising_times_end_at_any_limit() {
    let times: Vec<_> = (1..=200).collect();
    for most in (0..=4 * COPY).chain([199 * COPY, 200 * COPY, 201 * COPY]) {
        let all = stream_by_time(&stream(&times), &limits(|it| it.held_bytes = most));
        assert_eq!(times_and_late(&all), (times.clone(), 0), "{most}");
    }
}

/// The same at the default limit, with three times as many bytes: samples of 1,000 bytes, some with the same time.
#[test]
fn copies_end_at_the_default_limit() {
    const COUNT: u64 = 200_000;
    let large = |time| Bytes::new(false).u64s(&[7, time]).raw(&[0; 976]).record(9, 0);
    let records = (0..COUNT).flat_map(|index| large(1 + index / 1000)).collect();
    let bytes = [header(false), attr(false, &timed(), &[7]), records].concat();
    let reader = Reader::stream(bytes.as_slice()).unwrap();
    let mut records = reader.records().in_time_order();
    let (mut count, mut last) = (0, 0);
    for record in &mut records {
        let record = record.unwrap();
        let time = record.time().unwrap_or(last);
        assert!(last <= time);
        (count, last) = (count + u64::from(!record.kind().is_user()), time);
    }
    assert_eq!((count, records.account().late), (COUNT, 0));
}

#[test]
fn every_record_that_is_earlier_than_one_given_is_counted() {
    // In random order, with and without the ends of rounds.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for rounds in [0, 7, 50] {
        let record = |index: u64, time| match rounds {
            0 => sample(time),
            _ if index.is_multiple_of(rounds) => round(),
            _ => sample(time),
        };
        let records: Vec<_> = (1..2000).flat_map(|index| record(index, 1 + random() % 500)).collect();
        let file = Builder::new(false).event(timed(), &[7]).data(&records).build().bytes;
        let stream = [header(false), attr(false, &timed(), &[7]), records].concat();
        for most in [1, 2, 3, 10, 100, 1000, 3000] {
            for all in [
                by_time_within(&file, &limits(|it| it.held_records = most)),
                stream_by_time(&stream, &limits(|it| it.held_records = most)),
                stream_by_time(&stream, &limits(|it| it.held_bytes = most * COPY)),
            ] {
                let (times, late) = times_and_late(&all);
                let mut latest = 0;
                let earlier = times.iter().filter(|&&time| {
                    latest = latest.max(time);
                    time < latest
                });
                assert_eq!(late, earlier.count() as u64, "{rounds} {most}");
                assert_eq!(late == 0, times.is_sorted(), "{rounds} {most}");
            }
        }
    }
}

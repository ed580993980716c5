//! Records in time order.

use perf_parse::Reader;
use perf_parse::file::Limits;

use crate::pipe::{attr, header};
use crate::{Seen, Trickle, by_time_within, capture, read, read_by_time, round, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Makes a file of samples with these times; 0 is the end of a round.
fn file(times: &[u64]) -> Vec<u8> {
    let record = |&time| if time == 0 { round() } else { sample(time) };
    let data: Vec<_> = times.iter().flat_map(record).collect();
    Builder::new(false).event(timed(), &[7]).data(data).build().bytes
}

/// Returns limits with at most this number of held records.
fn holding(records: usize) -> Limits {
    let mut limits = Limits::default();
    limits.held_records = records;
    limits
}

fn times(bytes: &[u8]) -> (Vec<u64>, u64) {
    let all = read_by_time(bytes);
    (all.seen.iter().filter_map(|it| it.time).collect(), all.account.late)
}

#[test]
fn rounds() {
    // At the end of the second round, all records up to the latest of the first round are returned.
    assert_eq!(times(&file(&[3, 1, 2, 0, 5, 3, 4, 0, 6, 0])), (vec![1, 2, 3, 3, 4, 5, 6], 0));
    // Without rounds all records are held until the end.
    assert_eq!(times(&file(&[9, 8, 7, 1, 2, 3])), (vec![1, 2, 3, 7, 8, 9], 0));
    assert_eq!(times(&file(&[])), (vec![], 0));
    assert_eq!(times(&file(&[0, 0, 0])), (vec![], 0));
}

#[test]
fn rounds_that_lie() {
    // 30 is returned at the end of the next round; 10 and 29 come after that, in order between themselves.
    let bytes = file(&[20, 30, 0, 40, 0, 10, 29, 35, 0, 50, 0]);
    assert_eq!(times(&bytes), (vec![20, 30, 10, 29, 35, 40, 50], 2));
    // A record with the time of the last returned one is not late.
    assert_eq!(times(&file(&[20, 0, 30, 0, 20, 0])), (vec![20, 20, 30], 0));
}

#[test]
fn records_without_time_come_at_once() {
    let all = read_by_time(&file(&[3, 1, 0, 2]));
    assert_eq!(all.times(), [None, Some(1), Some(2), Some(3)]);
    // A time of 0 counts as no time.
    let zero = sample(0);
    let bytes = Builder::new(false).event(timed(), &[7]).data(sample(2)).data(zero).data(sample(1)).build();
    assert_eq!(read_by_time(&bytes.bytes).times(), [Some(0), Some(1), Some(2)]);
}

/// Returns samples with 50 times and different CPUs, with ends of rounds between them.
fn ties() -> Vec<Vec<u8>> {
    let record = |index: u64| match index % 100 {
        99 => round(),
        _ => {
            Bytes::new(false).u64s(&[7, 1 + index / 100 * 10 + index * 7 % 13]).record(9, (index % 8) as u16)
        }
    };
    (0..2000).map(record).collect()
}

#[test]
fn equal_times_stay_in_order() {
    let records = ties();
    let built = Builder::new(false).event(timed(), &[7]).data(records.concat()).build();
    let stream = [header(false), attr(false, &timed(), &[7]), records.concat()].concat();
    let file_order = read(&built.bytes);
    let all = read_by_time(&built.bytes);
    assert_eq!(all.account.late, 0);
    let timed = |seen: &[Seen]| seen.iter().filter(|it| it.time.is_some()).cloned().collect::<Vec<_>>();
    let mut expected = timed(&file_order.seen);
    expected.sort_by_key(|it| (it.time, it.offset));
    assert_eq!(timed(&all.seen), expected);

    // Copies from a stream return the same.
    for most in [7, 1000] {
        let reader = Reader::stream(Trickle { bytes: &stream, most, fails: None }).unwrap();
        let streamed = walk(reader.records().in_time_order());
        let raw = |seen: &[Seen]| timed(seen).into_iter().map(|it| (it.time, it.raw)).collect::<Vec<_>>();
        assert_eq!(raw(&streamed.seen), raw(&expected));
        let first = (stream.len() - records.concat().len()) as u64;
        let places =
            |seen: &[Seen], base: u64| timed(seen).iter().map(|it| it.offset - base).collect::<Vec<_>>();
        assert_eq!(places(&streamed.seen, first), places(&expected, built.data as u64));
    }
}

#[test]
fn more_than_the_limit_without_rounds() {
    // Each record is up to 3 positions from its sorted position, far less than even a small limit.
    let times: Vec<_> = (0..1000_u64).map(|index| 10 + index / 4 * 4 + (3 - index % 4)).collect();
    let bytes = file(&times);
    for limit in [8, 9, 100, 999] {
        let all = by_time_within(&bytes, &holding(limit));
        assert!(all.times().is_sorted(), "{limit}");
        assert_eq!((all.seen.len(), all.account.late), (1000, 0));
    }
    // A record that is further away is returned late and counted; the others are in order.
    let mut late = times.clone();
    late[500] = 1;
    let bytes = file(&late);
    let all = by_time_within(&bytes, &holding(16));
    assert_eq!((all.seen.len(), all.account.late), (1000, 1));
    let rest: Vec<_> = all.times().into_iter().filter(|&time| time != Some(1)).collect();
    assert!(rest.is_sorted());
}

#[test]
fn what_is_left_waits_for_what_comes_and_is_earlier() {
    // With a limit of 2 the earlier record is returned. Whenever 16 is left, the next one is returned.
    let bytes = file(&[14, 16, 14, 7, 14, 10, 14]);
    let all = by_time_within(&bytes, &holding(2));
    assert_eq!(all.times(), [14, 14, 7, 14, 10, 14, 16].map(Some));
    assert_eq!(all.account.late, 2);
}

#[test]
fn every_capture_by_time_is_the_same_records() {
    for name in ["plain.data", "everything.data", "system_wide.data", "lost.data", "tracing.pipe.data"] {
        let bytes = capture(name);
        let (mut one, by_time) = (read(&bytes), read_by_time(&bytes));
        let times: Vec<_> = by_time.times().into_iter().flatten().filter(|&time| time != 0).collect();
        assert!(times.len() > 3, "{name}");
        assert!(times.is_sorted(), "{name}");
        assert_eq!(by_time.account.late, 0, "{name}");
        let mut other = by_time.seen;
        one.seen.sort_by_key(|it| it.offset);
        other.sort_by_key(|it| it.offset);
        assert_eq!(one.seen, other, "{name}");
        assert_eq!(one.account.bytes, by_time.account.bytes, "{name}");
    }
}

#[test]
fn damage_does_not_end_it() {
    let mut data = [sample(9), sample(2)].concat();
    data.extend([0; 16]);
    data.extend([sample(5), sample(1), round(), sample(3)].concat());
    let built = Builder::new(false).event(timed(), &[7]).data(data).build();
    let all = read_by_time(&built.bytes);
    let times: Vec<_> = all.seen.iter().filter_map(|it| it.time).collect();
    assert_eq!(times, [1, 2, 3, 5, 9]);
    assert_eq!((all.errors.len(), all.account.bytes_skipped), (2, 16));
}

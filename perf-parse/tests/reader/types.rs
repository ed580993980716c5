//! Records of the requested types and no others.

use perf_parse::Reader;
use perf_parse::abi::record::RecordType;

use crate::{Seen, Trickle, Walk, capture, read, read_by_time, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Types that are common, that are rare, that the reader itself uses, that do not occur, and that no kernel has.
const ASKED: [&[RecordType]; 6] = [
    &[RecordType::MMAP2, RecordType::COMM],
    &[RecordType::SAMPLE],
    &[RecordType::FINISHED_ROUND, RecordType::LOST, RecordType::EVENT_UPDATE, RecordType::AUXTRACE],
    &[RecordType::TEXT_POKE],
    &[RecordType(5000), RecordType(63), RecordType(64)],
    &[],
];

fn only(reader: &Reader<'_>, types: &[RecordType], by_time: bool) -> Walk {
    let records = reader.records().only(types);
    walk(if by_time { records.in_time_order() } else { records })
}

fn asked(all: &Walk, types: &[RecordType]) -> Vec<Seen> {
    all.seen.iter().filter(|it| types.contains(&it.kind)).cloned().collect()
}

/// Returns the records with a time, and separately those without one: their positions depend on the other records
/// read.
fn by_time(seen: &[Seen]) -> (Vec<Seen>, Vec<Seen>) {
    seen.iter().cloned().partition(|it| it.time.is_some_and(|time| time != 0))
}

/// Requests each set of types in memory, in both orders.
fn check(name: &str, bytes: &[u8]) -> usize {
    let mut given = 0;
    let (all, all_by_time) = (read(bytes), read_by_time(bytes));
    for types in ASKED {
        let some = only(&Reader::new(bytes).unwrap(), types, false);
        assert_eq!(some.seen, asked(&all, types), "{name}: {types:?}");
        assert_eq!(some.account, all.account, "{name}: {types:?}");
        let some_by_time = only(&Reader::new(bytes).unwrap(), types, true);
        assert_eq!(by_time(&some_by_time.seen), by_time(&asked(&all_by_time, types)), "{name}: {types:?}");
        assert_eq!(some_by_time.account, all_by_time.account, "{name}: {types:?}");
        given += some.seen.len();
    }
    given
}

#[test]
fn of_captures() {
    for name in ["plain.data", "everything.data", "lost.data", "system_wide.data", "tracing.pipe.data"] {
        assert!(check(name, &capture(name)) > 10, "{name}");
    }
}

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[test]
fn of_compressed_captures() {
    for name in ["touch.zstd.data", "compressed.zstd.pipe.data"] {
        assert!(check(name, &capture(name)) > 10, "{name}");
    }
}

#[test]
fn of_a_stream() {
    let bytes = capture("tracing.pipe.data");
    for types in ASKED {
        for most in [7, 100_000] {
            let stream = Reader::stream(Trickle { bytes: &bytes, most, fails: None }).unwrap();
            let some = only(&stream, types, false);
            let raw = |seen: &[Seen]| seen.iter().map(|it| (it.offset, it.raw.clone())).collect::<Vec<_>>();
            assert_eq!(raw(&some.seen), raw(&asked(&read(&bytes), types)), "{types:?}, {most} at a time");
        }
    }
}

#[test]
fn damage_is_told_whatever_is_asked_for() {
    let other = |kind| Bytes::new(false).u64s(&[7, 3]).record(kind, 0);
    let data =
        [sample(1), other(14), vec![0; 16], sample(2), other(14), sample(3), other(14), sample(4)].concat();
    let bytes = Builder::new(false).event(timed(), &[7]).data(data).build().bytes;
    let all = read(&bytes);
    assert_eq!(all.errors.len(), 2);
    let some = only(&Reader::new(&bytes).unwrap(), &[RecordType::SWITCH], false);
    assert_eq!((some.errors, some.account), (all.errors.clone(), all.account.clone()));
    assert_eq!(some.seen.len(), 3);
    assert!(some.seen.iter().all(|it| it.kind == RecordType::SWITCH));
}

#[test]
fn what_a_walk_asks_for_is_its_own() {
    let bytes = capture("plain.data");
    let reader = Reader::new(&bytes).unwrap();
    assert!(reader.records().only(&[]).next().is_none());
    assert_eq!(walk(reader.records()).seen, read(&bytes).seen);
}

//! Every limit of a reader, made small: below it, at it and above it.

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::LittleEndian;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::{AnyReader, DeferredChains, Events, FileError, FileErrorKind, Limits, Reader};
use perf_parse::write::{self, SampleFields};

use crate::build::Builder;
use crate::common::Bytes;
use crate::pipe::{attr, header};
use crate::{Walk, by_time_within, capture, round, sample, timed, walk, walk_any};

/// The default limits with a change.
fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn left_out(field: &'static str, limit: u64, of: &'static str, offset: usize) -> FileError {
    FileError { kind: FileErrorKind::Limit { field, limit, of }, offset: offset as u64 }
}

/// A file of samples of these times.
fn file(times: &[u64]) -> Vec<u8> {
    let data: Vec<_> = times.iter().flat_map(|&time| sample(time)).collect();
    Builder::new(false).event(timed(), &[7]).data(data).build().bytes
}

/// The same as a stream.
fn stream(times: &[u64]) -> Vec<u8> {
    let records = times.iter().flat_map(|&time| sample(time)).collect();
    [header(false), attr(false, &timed(), &[7]), records].concat()
}

fn stream_by_time(bytes: &[u8], limits: &Limits) -> Walk {
    let AnyReader::Little(mut reader) = AnyReader::stream_within(bytes, limits).unwrap() else {
        panic!("not little")
    };
    reader.in_time_order();
    walk(reader)
}

fn times_and_late(walk: &Walk) -> (Vec<u64>, u64) {
    assert!(walk.account.is_clean(), "{:?}", walk.errors);
    (walk.seen.iter().filter_map(|it| it.time).collect(), walk.account.late)
}

/// What a copy of a sample takes: its place, header, id and time.
const COPY: usize = 24 + 24;

#[test]
fn held_records() {
    let times = [5, 4, 3, 2, 1];
    for (most, expected) in [
        (6, (vec![1, 2, 3, 4, 5], 0)),
        (5, (vec![1, 2, 3, 4, 5], 0)),
        // The earlier half of 5, 4, 3, 2 goes before 1 comes.
        (4, (vec![2, 3, 1, 4, 5], 1)),
        (2, (vec![4, 3, 2, 1, 5], 3)),
        // Nothing waits for anything.
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
        // What is in memory is not copied.
        assert_eq!(times_and_late(&by_time_within(&file(&times), &limits)).1, 0);
    }
}

#[test]
fn the_half_that_goes_is_of_the_bytes_where_these_are_at_their_limit() {
    // One early sample of 4 KiB and ten late small ones: the large one is more than half.
    let large = |time| Bytes::new(false).u64s(&[7, time]).raw(&[0; 4096]).record(9, 0);
    let records = [(20..30).flat_map(sample).collect(), large(5), sample(10)].concat();
    let bytes = [header(false), attr(false, &timed(), &[7]), records].concat();
    let all = stream_by_time(&bytes, &limits(|it| it.held_bytes = 4096));
    let times: Vec<_> = all.seen.iter().filter_map(|it| it.time).collect();
    let rest = (20..30).collect::<Vec<_>>();
    assert_eq!((times, all.account.late), ([&[5, 10], rest.as_slice()].concat(), 0));
}

/// Samples of equal time are one run, however many: what was given of it has to make room.
#[test]
fn copies_of_equal_times_end_at_any_limit() {
    let bytes = stream(&[5; 200]);
    for most in (0..=4 * COPY).chain([199 * COPY, 200 * COPY, 201 * COPY]) {
        let all = stream_by_time(&bytes, &limits(|it| it.held_bytes = most));
        assert_eq!(times_and_late(&all), (vec![5; 200], 0), "{most}");
        assert!(all.seen.is_sorted_by_key(|it| it.offset), "{most}");
    }
}

/// As a sorted capture on standard input is, beyond 64 MiB of copies.
#[test]
fn copies_of_rising_times_end_at_any_limit() {
    let times: Vec<_> = (1..=200).collect();
    for most in (0..=4 * COPY).chain([199 * COPY, 200 * COPY, 201 * COPY]) {
        let all = stream_by_time(&stream(&times), &limits(|it| it.held_bytes = most));
        assert_eq!(times_and_late(&all), (times.clone(), 0), "{most}");
    }
}

/// The same at the limit that is the default, with three times as many bytes: of 1,000 bytes each, some of equal time.
#[test]
fn copies_end_at_the_default_limit() {
    const COUNT: u64 = 200_000;
    let large = |time| Bytes::new(false).u64s(&[7, time]).raw(&[0; 976]).record(9, 0);
    let records = (0..COUNT).flat_map(|index| large(1 + index / 1000)).collect();
    let bytes = [header(false), attr(false, &timed(), &[7]), records].concat();
    let AnyReader::Little(mut reader) = AnyReader::stream(bytes.as_slice()).unwrap() else {
        panic!("not little")
    };
    reader.in_time_order();
    let (mut count, mut last) = (0, 0);
    while let Some(record) = reader.next().unwrap() {
        let time = record.time().unwrap_or(last);
        assert!(last <= time);
        (count, last) = (count + u64::from(!record.raw.kind().is_user()), time);
    }
    assert_eq!((count, reader.account().late), (COUNT, 0));
}

#[test]
fn every_record_that_is_earlier_than_one_given_is_counted() {
    // Of no order at all, with and without the ends of rounds.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for rounds in [0, 7, 50] {
        let record = |index: u64, time| match rounds {
            0 => sample(time),
            _ if index % rounds == 0 => round(),
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

#[test]
fn events() {
    for count in 1..5 {
        let one = || attr(false, &timed(), &[]);
        let pipe = [header(false), (0..count).flat_map(|_| one()).collect()].concat();
        let built = (0..count).fold(Builder::new(false), |file, _| file.event(timed(), &[]));
        let built = built.data(round()).build();
        let limits = limits(|it| it.events = 3);
        // An attr of a stream stands after the header of its record.
        for (bytes, first, stride) in
            [(&pipe, 16 + 8, one().len()), (&built.bytes, built.attrs, built.stride)]
        {
            let all = walk_any(AnyReader::open_within(bytes, &limits).unwrap());
            let beyond = (3..count).map(|index| left_out("attr", 3, "events", first + stride * index));
            assert_eq!(all.account.diagnostics, beyond.collect::<Vec<_>>());
            assert_eq!(all.names.len(), count.min(3));
        }
    }
}

#[test]
fn ids() {
    for count in 0..5_u64 {
        let [first, second] = [vec![10, 11], (20..20 + count).collect()];
        let one = attr(false, &timed(), &first);
        let pipe = [header(false), one.clone(), attr(false, &timed(), &second)].concat();
        let built = Builder::new(false).event(timed(), &first).event(timed(), &second).data(round()).build();
        let limits = limits(|it| it.ids = 5);
        let at = 16 + one.len() + 8 + (one.len() - 8 - 16);
        for (bytes, at) in [(&pipe, at), (&built.bytes, built.attrs + 2 * built.stride - 16)] {
            let AnyReader::Little(reader) = AnyReader::open_within(bytes, &limits).unwrap() else {
                panic!("not little")
            };
            let held: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
            let fits = count <= 3;
            assert_eq!(held, [first.clone(), if fits { second.clone() } else { vec![] }]);
            let beyond = (!fits).then(|| left_out("attr.ids", 5, "ids of events", at));
            assert_eq!(reader.account().diagnostics, Vec::from_iter(beyond));
        }
    }
}

/// Each event that has an id of an earlier one is told of, whether ids are close together or not, and keeps those that are
/// its own.
#[test]
fn ids_that_events_share_are_said() {
    for far in [0, 1 << 60] {
        let all = [vec![10, 11, 10], vec![11, 12 + far], vec![13], vec![13, 10]];
        let own = [vec![10, 11, 10], vec![12 + far], vec![13], vec![]];
        let one = |ids: &Vec<u64>| attr(false, &timed(), ids);
        let pipe = [header(false), all.iter().flat_map(one).collect(), round()].concat();
        let built = all.iter().fold(Builder::new(false), |file, ids| file.event(timed(), ids));
        let built = built.data(round()).build();
        let must = "an id that no earlier event has: it stays with that event";
        let shared = |id, offset: usize| FileError {
            kind: FileErrorKind::Invalid { field: "attr.ids", value: id, must },
            offset: offset as u64,
        };
        let ends: Vec<_> = all.iter().map(|ids| (one(ids).len(), ids.len())).collect();
        let ids_of = |event: usize| {
            16 + ends[..=event].iter().map(|(size, _)| size).sum::<usize>() - 8 * ends[event].1
        };
        let entry = |event: usize| built.attrs + built.stride * (event + 1) - 16;
        for (bytes, at) in [(&pipe, [ids_of(1), ids_of(3)]), (&built.bytes, [entry(1), entry(3)])] {
            let AnyReader::Little(reader) = AnyReader::open(bytes).unwrap() else { panic!("not little") };
            let held: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
            assert_eq!(held, own);
            assert_eq!(reader.account().diagnostics, [shared(11, at[0]), shared(13, at[1])]);
        }
    }
}

#[test]
fn diagnostics() {
    // Each header of no size is a fault, and what is passed over for it is another.
    let fault = [[0; 8].to_vec(), (1..=4).flat_map(sample).collect()].concat();
    let bytes = Builder::new(false).event(timed(), &[7]).data(fault.repeat(3)).build().bytes;
    for most in 0..8 {
        let all = walk_any(AnyReader::open_within(&bytes, &limits(|it| it.diagnostics = most)).unwrap());
        assert_eq!(all.errors.len(), 6);
        assert_eq!(all.account.diagnostics, all.errors[..most.min(6)]);
        assert_eq!(all.account.diagnostics_omitted as usize, 6 - most.min(6));
        assert!(!all.account.is_clean());
    }
}

#[test]
fn look_ahead() {
    let one = attr(false, &timed(), &[]);
    let tracing = [Bytes::new(false).u32(20).record(66, 0), vec![1; 24]].concat();
    let bytes = [header(false), one.clone(), tracing.clone(), one.clone(), sample(1)].concat();
    for (most, events, features) in [
        (0, 0, 0),
        (1, 1, 0),
        (23, 1, 0),
        (24, 1, 0),
        // The tracing data by itself is no more than the limit.
        (one.len(), 1, 0),
        (one.len() + 1, 1, 1),
        (one.len() + tracing.len(), 1, 1),
        (one.len() + tracing.len() + 1, 2, 1),
    ] {
        let limits = limits(|it| it.look_ahead = most);
        let AnyReader::Little(reader) = AnyReader::stream_within(bytes.as_slice(), &limits).unwrap() else {
            panic!("not little")
        };
        assert_eq!((reader.events().len(), reader.features().count()), (events, features), "{most}");
        // The rest is taken in on the way.
        let all = walk(reader);
        assert_eq!((all.names.len(), all.features.len(), all.times().len()), (2, 1, 4), "{most}");
        assert!(all.account.is_clean());
    }
    // Tracing data that is larger than the limit is not waited for.
    let start = [header(false), tracing.clone(), one].concat();
    for (most, features) in [(23, 0), (24, 1)] {
        let limits = limits(|it| it.look_ahead = most);
        let AnyReader::Little(reader) = AnyReader::stream_within(start.as_slice(), &limits).unwrap() else {
            panic!("not little")
        };
        assert_eq!((reader.features().count(), walk(reader).features.len()), (features, 1));
    }
}

#[test]
fn deferred_chains() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/synthetic");
    let bytes = std::fs::read(format!("{folder}/deferred.le.data")).unwrap();
    let read = |most| {
        let limits = limits(|it| it.deferred_chains = most);
        let mut reader = Reader::<LittleEndian>::open_within(&bytes, &limits).unwrap();
        let chains = reader.deferred_chains();
        (chains.len(), chains.omitted(), reader.account().diagnostics.clone())
    };
    let (len, omitted, diagnostics) = read(usize::MAX);
    assert_eq!((len, omitted, diagnostics), (2, 0, vec![]));
    // How much they take is found by what is just enough.
    let enough = (0..1 << 10).find(|&most| read(most).1 == 0).unwrap();
    let (len, omitted, diagnostics) = read(enough - 1);
    assert_eq!((len, omitted, diagnostics.len()), (1, 1, 1));
    let kind = FileErrorKind::Limit {
        field: "ips",
        limit: enough as u64 - 1,
        of: "bytes of deferred call chains",
    };
    assert_eq!(diagnostics[0].kind, kind);
    assert_eq!(
        diagnostics[0].to_string(),
        format!(
            "{:#x}: ips: is left out: there are more than {} bytes of deferred call chains, the limit of this reader",
            diagnostics[0].offset,
            enough - 1
        )
    );
    assert_eq!(read(0).1, 2);
    assert_eq!(DeferredChains::default().omitted(), 0);
}

#[test]
fn records_of_a_ring() {
    let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    let layout = perf_parse::SampleLayout::new(&attr).unwrap();
    let mut data = Vec::new();
    for time in [3, 2, 1] {
        let fields = SampleFields { time: Some(time), ..SampleFields::default() };
        write::sample::<LittleEndian>(&mut data, &layout, Default::default(), &fields).unwrap();
    }
    let events = Events::from_iter([(attr, vec![])]);
    let limits = limits(|it| it.held_records = 2);
    let mut reader = Reader::<LittleEndian>::of_records_within(events, &data, &limits);
    assert_eq!(reader.limits(), &limits);
    reader.in_time_order();
    assert_eq!(times_and_late(&walk(reader)), (vec![2, 1, 3], 1));
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    for name in ["plain.data", "everything.data", "touch.zstd.data", "tracing.pipe.data"] {
        let bytes = capture(name);
        let default = walk_any(AnyReader::open(&bytes).unwrap());
        let all = walk_any(AnyReader::open_within(&bytes, &Limits::default()).unwrap());
        assert_eq!((&default.seen, &default.account), (&all.seen, &all.account), "{name}");
    }
}

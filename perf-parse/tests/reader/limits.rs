//! Every limit of a reader at a small value: below it, at it and above it. The limits of time order are in
//! `order_limits`, those of decompression in `compressed`.

use std::io::Cursor;

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::{DeferredChains, DeferredSamples, FileError, FileErrorKind, Limits};
use perf_parse::rewrite::{RepairOrder, repair};
use perf_parse::write::{self, SampleFields};

use crate::order_limits::times_and_late;
use crate::pipe::{attr, header};
use crate::{capture, read, round, sample, timed, walk};
use testdata::Bytes;
use testdata::file::Builder;

/// Returns the default limits with a change.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn left_out(field: &'static str, limit: u64, of: &'static str, offset: usize) -> FileError {
    FileError { kind: FileErrorKind::Limit { field, limit, of }, offset: offset as u64 }
}

#[test]
fn events() {
    for count in 1..5 {
        let one = || attr(false, &timed(), &[]);
        let pipe = [header(false), (0..count).flat_map(|_| one()).collect()].concat();
        let built = (0..count).fold(Builder::new(false), |file, _| file.event(timed(), &[]));
        let built = built.data(round()).build();
        let limits = limits(|it| it.events = 3);
        // An attr of a stream follows the header of its record.
        for (bytes, first, stride) in
            [(&pipe, 16 + 8, one().len()), (&built.bytes, built.attrs, built.stride)]
        {
            let all = walk(Reader::new_within(bytes, &limits).unwrap().records());
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
            let reader = Reader::new_within(bytes, &limits).unwrap();
            let held: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
            let fits = count <= 3;
            assert_eq!(held, [first.clone(), if fits { second.clone() } else { vec![] }]);
            let beyond = (!fits).then(|| left_out("attr.ids", 5, "ids of events", at));
            assert_eq!(reader.account().diagnostics, Vec::from_iter(beyond));
        }
    }
}

/// Each event with an id of an earlier event is reported, whether the ids are close together or not, and keeps its
/// other ids.
#[test]
fn ids_that_events_share_are_said() {
    for far in [0, 1 << 60] {
        let all = [vec![10, 11, 10], vec![11, 12 + far], vec![13], vec![13, 10]];
        let own = [vec![10, 11, 10], vec![12 + far], vec![13], vec![]];
        let one = |ids: &Vec<u64>| attr(false, &timed(), ids);
        let pipe = [header(false), all.iter().flat_map(one).collect(), round()].concat();
        let built = all.iter().fold(Builder::new(false), |file, ids| file.event(timed(), ids));
        let built = built.data(round()).build();
        let must = "an id that no earlier event has; the id stays with the earlier event";
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
            let reader = Reader::new(bytes).unwrap();
            let held: Vec<_> = reader.events().iter().map(|event| event.ids.clone()).collect();
            assert_eq!(held, own);
            assert_eq!(reader.account().diagnostics, [shared(11, at[0]), shared(13, at[1])]);
            // The repaired capture has no shared ids.
            let reader = Reader::new(bytes).unwrap();
            let out = repair(&reader, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {})
                .unwrap()
                .out
                .into_inner();
            let repaired = read(&out);
            assert!(repaired.account.is_clean(), "{:?}", repaired.account);
            assert_eq!(repaired.names.len(), 4);
        }
    }
}

#[test]
fn diagnostics() {
    // Each header of size 0 is a fault, and the bytes skipped for it are another.
    let fault = [[0; 8].to_vec(), (1..=4).flat_map(sample).collect()].concat();
    let bytes = Builder::new(false).event(timed(), &[7]).data(fault.repeat(3)).build().bytes;
    for most in 0..8 {
        let all = walk(Reader::new_within(&bytes, &limits(|it| it.diagnostics = most)).unwrap().records());
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
        // The tracing data alone is within the limit.
        (one.len(), 1, 0),
        (one.len() + 1, 1, 1),
        (one.len() + tracing.len(), 1, 1),
        (one.len() + tracing.len() + 1, 2, 1),
    ] {
        let limits = limits(|it| it.look_ahead = most);
        let reader = Reader::stream_within(bytes.as_slice(), &limits).unwrap();
        assert_eq!((reader.events().len(), reader.features().len()), (events, features), "{most}");
        // The other features are read during the walk.
        let all = walk(reader.records());
        assert_eq!((all.names.len(), all.features.len(), all.times().len()), (2, 1, 4), "{most}");
        assert!(all.account.is_clean());
    }
    // The reader does not wait for tracing data that is larger than the limit.
    let start = [header(false), tracing.clone(), one].concat();
    for (most, features) in [(23, 0), (24, 1)] {
        let limits = limits(|it| it.look_ahead = most);
        let reader = Reader::stream_within(start.as_slice(), &limits).unwrap();
        assert_eq!((reader.features().len(), walk(reader.records()).features.len()), (features, 1));
    }
}

#[test]
fn deferred_chains() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/synthetic");
    let bytes = std::fs::read(format!("{folder}/deferred.le.data")).unwrap();
    let read = |most| {
        let limits = limits(|it| it.deferred_chains = most);
        let reader = Reader::new_within(&bytes, &limits).unwrap();
        let chains = reader.deferred_chains();
        (chains.len(), chains.omitted(), Vec::from_iter(chains.fault()))
    };
    let (len, omitted, diagnostics) = read(usize::MAX);
    assert_eq!((len, omitted, diagnostics), (2, 0, vec![]));
    // The smallest sufficient limit shows how much they need.
    let enough = (0..1 << 10).find(|&most| read(most).1 == 0).unwrap();
    let (len, omitted, diagnostics) = read(enough - 1);
    assert_eq!((len, omitted, diagnostics.len()), (1, 1, 1));
    let kind =
        FileErrorKind::Limit { field: "ips", limit: enough as u64 - 1, of: "bytes of deferred call chains" };
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
fn deferred_samples() {
    // Samples without a thread, whose chains end with a cookie.
    let attr = Attr { sample_type: SampleType::CALLCHAIN, ..Attr::default() };
    let layout = perf_parse::SampleLayout::new(&attr).unwrap();
    let mut data = Vec::new();
    for cookie in 0..3 {
        let callchain = Some(vec![CallchainContext::USER_DEFERRED.0, cookie]);
        let fields = SampleFields { callchain, ..SampleFields::default() };
        write::sample::<LittleEndian>(&mut data, &layout, Default::default(), &fields).unwrap();
    }
    // Those in memory are not copied; those of a stream are.
    for (is_copied, each) in [(false, 256), (true, 256 + 32)] {
        for (most, room) in
            [(0, 0), (each - 1, 0), (each, 1), (2 * each - 1, 1), (2 * each, 2), (3 * each, 3)]
        {
            let limits = limits(|it| it.deferred_samples = most);
            let pipe = [header(false), self::attr(false, &attr, &[]), data.clone()].concat();
            let built = Builder::new(false).event(attr, &[]).data(data.clone()).build();
            let reader = match is_copied {
                true => Reader::stream_within(Cursor::new(pipe), &limits).unwrap(),
                false => Reader::new_within(&built.bytes, &limits).unwrap(),
            };
            let mut waiting = DeferredSamples::within(reader.limits());
            let mut offsets = Vec::new();
            let held: Vec<_> = reader
                .records()
                .map(Result::unwrap)
                .filter(|record| record.kind() == RecordType::SAMPLE)
                .map(|record| {
                    offsets.push(record.offset());
                    waiting.hold(&record)
                })
                .collect();
            assert_eq!(held, [0, 1, 2].map(|index| index < room), "{most}");
            assert_eq!(waiting.omitted(), 3 - room);
            let fault = offsets.get(room as usize).map(|&offset| {
                left_out(
                    "callchain",
                    most as u64,
                    "bytes of samples that wait for their call chain",
                    offset as usize,
                )
            });
            assert_eq!(waiting.fault(), fault);
            // Those of no other thread. What is taken makes room.
            assert!(waiting.take(Some(0)).is_empty());
            let cookies: Vec<_> = waiting.take(None).iter().map(|sample| sample.cookie).collect();
            assert_eq!(cookies, Vec::from_iter(0..room));
            let again = Reader::new(&built.bytes).unwrap();
            let again: Vec<_> = again.records().map(|record| waiting.hold(&record.unwrap())).collect();
            let room = if is_copied { most / 256 } else { room as usize };
            assert_eq!(again, [0, 1, 2].map(|index| index < room), "{most}");
            assert_eq!(waiting.take_all().len(), room.min(3));
        }
    }
    assert_eq!(DeferredSamples::default().fault(), None);
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
    let reader = Reader::from_records_within(events, Endianness::Little, &data, &limits);
    assert_eq!(reader.limits(), &limits);
    assert_eq!(times_and_late(&walk(reader.records().in_time_order())), (vec![2, 1, 3], 1));
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    for name in ["plain.data", "everything.data", "touch.zstd.data", "tracing.pipe.data"] {
        let bytes = capture(name);
        let default = walk(Reader::new(&bytes).unwrap().records());
        let all = walk(Reader::new_within(&bytes, &Limits::default()).unwrap().records());
        assert_eq!((&default.seen, &default.account), (&all.seen, &all.account), "{name}");
    }
}

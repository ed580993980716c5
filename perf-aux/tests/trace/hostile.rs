//! Any bytes: no panic, no work or memory out of proportion, and no byte twice.

use perf_aux::trace::AuxTrace;
use perf_parse::Reader;
use proptest::prelude::*;

use crate::capture::{Area, PSB, Recorder, Trailer, block};

/// Reads everything. Returns the number of bytes of all slices.
fn read(capture: &[u8]) -> usize {
    let Ok(reader) = Reader::new(capture) else { return 0 };
    let trace = AuxTrace::of(&reader);
    let mut bytes = 0;
    for queue in trace.queues() {
        for slice in trace.slices(&reader, queue).flatten() {
            bytes += slice.bytes().len();
            let pieces: usize = slice.pieces().map(|(_, piece)| piece.len()).sum();
            assert!(pieces <= slice.bytes().len());
            assert!(slice.ranges.len() <= queue.ranges().len());
            assert_eq!(slice.clone().into_bytes(), slice.bytes());
        }
    }
    let _ = trace.switches().thread_at(1, 1 << 40);
    assert!(bytes <= capture.len());
    bytes
}

/// A number that is often at a limit.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), 0..200_u64, any::<u64>()]
}

fn area() -> impl Strategy<Value = Area> {
    let small = || prop_oneof![-2..3_i32, any::<i32>()];
    (prop_oneof![0..3_u32, any::<u32>()], small(), small()).prop_map(|(idx, tid, cpu)| Area { idx, tid, cpu })
}

/// Data with synchronisation packets and time stamps, whole and cut.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(PSB.to_vec()),
        (0..6_u64, 0..4_u8).prop_map(|(tsc, packets)| block(Some(tsc), 0, packets)),
        (0..4_u8).prop_map(|packets| block(None, 0, packets)),
        prop::collection::vec(any::<u8>(), 0..24),
        (1..40_usize).prop_map(|count| [2, 0x82].repeat(count)),
        (1..40_usize).prop_map(|count| vec![0; count]),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

#[derive(Clone, Debug)]
enum Item {
    Piece(Area, u64, Vec<u8>),
    Aux(u64, u64, u64, u32),
    Switch(bool, i32, u64, u32),
    Info(u32, Vec<u64>),
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        (area(), number(), data()).prop_map(|(area, offset, data)| Item::Piece(area, offset, data)),
        (number(), number(), 0..16_u64, 0..3_u32).prop_map(|(a, b, c, d)| Item::Aux(a, b, c, d)),
        (any::<bool>(), any::<i32>(), number(), 0..3_u32).prop_map(|(a, b, c, d)| Item::Switch(a, b, c, d)),
        (0..9_u32, prop::collection::vec(number(), 0..20)).prop_map(|(kind, words)| Item::Info(kind, words)),
    ]
}

fn records(make: Recorder, items: &[Item]) -> Vec<Vec<u8>> {
    let at = |time, cpu| Trailer { pid: 1, tid: 1, time, cpu };
    let record = |item: &Item| match item {
        Item::Piece(area, offset, data) => make.piece(*area, *offset, 0, data),
        &Item::Aux(offset, size, flags, cpu) => make.aux(offset, size, flags, at(0, cpu)),
        &Item::Switch(is_out, tid, time, cpu) => make.switch_cpu_wide(is_out, tid, at(time, cpu)),
        Item::Info(kind, words) => make.info(*kind, words),
    };
    items.iter().map(record).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_with_any_values(
        big in any::<bool>(),
        config in any::<u64>(),
        snapshot in any::<Option<bool>>(),
        items in prop::collection::vec(item(), 0..20),
    ) {
        let make = Recorder { big };
        let mut all: Vec<_> = snapshot.map(|snapshot| make.intel_pt(snapshot)).into_iter().collect();
        all.extend(records(make, &items));
        let capture = make.file(config, &all);
        let bytes = read(&capture);
        let data = |item: &Item| if let Item::Piece(_, _, data) = item { data.len() } else { 0 };
        prop_assert!(bytes <= items.iter().map(data).sum());
    }

    #[test]
    fn damaged_captures(
        items in prop::collection::vec(item(), 1..12),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let make = Recorder { big: false };
        let mut capture = make.file(1 << 10, &records(make, &items));
        for (at, byte) in damage {
            let at = at.index(capture.len());
            capture[at] = byte;
        }
        read(&capture);
        read(&capture[..cut.index(capture.len())]);
    }
}

/// Bytes that are synchronisation packets at each second offset, and data that repeats itself: the search stays linear. A
/// quadratic one would take minutes.
#[test]
fn long_buffers_that_repeat_themselves() {
    let make = Recorder { big: false };
    let size = 1 << 18;
    let psbs = [2, 0x82].repeat(size / 2);
    let mut pads = PSB.to_vec();
    pads.resize(size, 0);
    let mut mixed = [&PSB[..], &[0; 48]].concat().repeat(size / 64);
    mixed[size - 1] = 0x59;
    for (config, is_snapshot_of_bts) in [(1 << 10, false), (0, false), (0, true)] {
        let info = if is_snapshot_of_bts { make.info(2, &[6, 0, 0, 0, 0, 1]) } else { make.intel_pt(true) };
        let area = crate::capture::of_cpu(0);
        let pieces = [&psbs, &psbs, &pads, &pads, &mixed, &mixed[..].to_vec(), &psbs];
        let mut all = vec![info];
        all.extend(pieces.iter().map(|data| make.piece(area, 0, 0, data)));
        read(&make.file(config, &all));
    }
}

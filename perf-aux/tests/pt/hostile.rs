//! Any bytes: no panic, each byte consumed once, and nothing allocated.

use perf_aux::pt::{Clock, Context, EventState, Packets};
use proptest::prelude::*;
use testdata::intel_pt::{self, REFERENCE};
use testdata::memory::{Counting, measure};

use crate::support::{CONFIG, info};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Checks that packets and errors cover the trace without gaps, that lines do, and that the rest ends.
fn check(trace: &[u8]) {
    for mut packets in [Packets::new(trace), Packets::as_perf(trace)] {
        let mut lines = packets.clone().lines();
        let mut end = 0;
        while let Some(found) = packets.next() {
            let (offset, size) =
                found.map_or_else(|error| (error.offset, 1), |found| (found.offset, found.bytes.len()));
            assert_eq!(offset, end);
            end = offset + size;
            assert_eq!(packets.offset(), end);
            if let Ok(found) = found {
                assert_eq!(found.bytes, &trace[offset..end]);
            }
        }
        assert_eq!(end, trace.len());
        let covered =
            lines.by_ref().try_fold(0, |end, line| (line.offset == end).then_some(end + line.bytes.len()));
        assert_eq!(covered, Some(trace.len()));
    }
    let mut context = Context::default();
    let mut clock = Clock::new(&info(), CONFIG);
    let mut packets = Packets::new(trace);
    let mut last = None;
    while let Some(found) = packets.next() {
        if let Ok(found) = found {
            context.apply(&found.packet);
            clock.apply(&found.packet, &packets);
            assert!(clock.tsc() >= last);
            last = clock.tsc();
        }
    }
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    // In two buffers.
    let (first, second) = trace.split_at(trace.len() / 2);
    let mut last = None;
    for part in [first, second] {
        for event in state.events(part) {
            assert!(event.offset < part.len() && event.tsc >= last);
            last = event.tsc;
            let _ = event.kind.to_string();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(trace in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&trace);
    }

    #[test]
    fn any_packets(seed: u64, count in 0_usize..60, cut in 0_usize..20) {
        let mut trace = intel_pt::packets(seed, count);
        trace.truncate(trace.len() - cut.min(trace.len()));
        check(&trace);
    }

    #[test]
    fn any_events(seed: u64, count in 0_usize..60) {
        check(&intel_pt::events(seed, count));
    }
}

#[test]
fn nothing_is_allocated() {
    let trace = [intel_pt::packets(1, 5000), intel_pt::events(2, 5000)].concat();
    let info = info();
    let (counts, used) = measure(|| {
        let mut state = EventState::new(&info, CONFIG);
        state.start(REFERENCE);
        (Packets::new(&trace).count(), Packets::new(&trace).lines().count(), state.events(&trace).count())
    });
    assert!(counts.0 > 10_000 && counts.1 > 5_000 && counts.2 > 5_000, "{counts:?}");
    assert_eq!(used.calls, 0);
}

//! The captures, and the ways to decode each of them.

use super::capture::{self, CPUS, EVENTS};
use super::sums::Sums;
use super::way::{Outcome, Way, Workload};
use super::{hand, named, parse, ring};

/// Returns the outcome of a handwritten loop, which reports no reason if it fails.
fn by_hand(sums: Option<Sums>) -> Outcome {
    sums.ok_or_else(|| "the capture is truncated".into())
}

/// The event of each id in [`ten_events`](capture::ten_events), starting with the first id.
const EVENT_OF: [u8; (EVENTS * CPUS) as usize] = {
    let mut event_of = [0; (EVENTS * CPUS) as usize];
    let mut id = 0;
    while id < event_of.len() {
        event_of[id] = (id as u64 / CPUS) as u8;
        id += 1;
    }
    event_of
};

/// The ways that read only the headers of contiguous records.
const HOPS: &[Way] = &[
    Way { name: "hop-by-hand", run: |it| by_hand(hand::hop(&it.bytes)) },
    Way { name: "hop", run: parse::hop },
];

/// The ways over samples of processes.
const OF_SESSIONS: &[Way] =
    &[Way { name: "decode", run: parse::chains }, Way { name: "session", run: parse::session }];

/// All captures, and the ways to decode each of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "plain_32",
        capture: capture::plain_32,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::plain_32(&it.bytes)) },
            Way { name: "sample", run: parse::sample },
            Way { name: "decode", run: parse::decode },
            Way { name: "batches", run: parse::batches },
        ],
    },
    Workload {
        name: "plain_48",
        capture: capture::plain_48,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::plain_48(&it.bytes)) },
            Way { name: "sample", run: parse::sample },
            Way { name: "decode", run: parse::decode },
            Way { name: "batches", run: parse::batches },
            Way { name: "getters", run: parse::getters },
            Way { name: "run-time", run: parse::sample_at_run_time },
        ],
    },
    Workload {
        name: "raw",
        capture: capture::raw,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::raw(&it.bytes)) },
            Way { name: "sample", run: parse::sample_tail },
            Way { name: "decode", run: parse::decode_tail },
            Way { name: "batches", run: parse::batches },
        ],
    },
    Workload {
        name: "callchain",
        capture: capture::callchain,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::callchain(&it.bytes)) },
            Way { name: "chain", run: parse::chain },
            Way { name: "sample", run: parse::sample_tail },
            Way { name: "decode", run: parse::decode_tail },
            Way { name: "batches", run: parse::batches },
            Way { name: "chain-rt", run: parse::chain_at_run_time },
            Way { name: "run-time", run: parse::tail_at_run_time },
        ],
    },
    Workload {
        name: "dwarf",
        capture: capture::dwarf,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::dwarf(&it.bytes)) },
            Way { name: "sample", run: parse::sample_tail },
            Way { name: "decode", run: parse::decode_tail },
            Way { name: "run-time", run: parse::tail_at_run_time },
        ],
    },
    Workload {
        name: "ten_events",
        capture: capture::ten_events,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::ten_events(&it.bytes, &EVENT_OF)) },
            Way { name: "decode", run: parse::events },
            Way { name: "batches", run: parse::batches_of_events },
        ],
    },
    Workload {
        name: "records_mix",
        capture: capture::records_mix,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::records_mix(&it.bytes)) },
            Way { name: "decode", run: parse::records },
        ],
    },
    Workload {
        name: "many_events",
        capture: capture::many_events,
        hops: HOPS,
        decoders: &[Way { name: "decode", run: parse::events }],
    },
    Workload { name: "processes", capture: capture::processes, hops: HOPS, decoders: OF_SESSIONS },
    Workload { name: "stacks", capture: capture::stacks, hops: HOPS, decoders: OF_SESSIONS },
    Workload { name: "scheduled", capture: capture::scheduled, hops: HOPS, decoders: OF_SESSIONS },
    Workload { name: "sched_stacks", capture: capture::sched_stacks, hops: HOPS, decoders: OF_SESSIONS },
    Workload {
        name: "unwound",
        capture: capture::unwound,
        hops: &[],
        decoders: &[Way { name: "unwind", run: named::unwind }],
    },
    Workload {
        name: "kallsyms",
        capture: capture::kallsyms,
        hops: &[],
        decoders: &[
            Way { name: "parse", run: named::kallsyms },
            Way { name: "look-up", run: named::look_up },
        ],
    },
    Workload {
        name: "lines",
        capture: capture::lines,
        hops: &[],
        decoders: &[Way { name: "look-up", run: named::lines }],
    },
    Workload {
        name: "profile",
        capture: capture::sched_stacks,
        hops: &[],
        decoders: &[
            Way { name: "collect", run: named::collect },
            Way { name: "fold", run: named::to_fold },
            Way { name: "pprof", run: named::to_pprof },
            Way { name: "flamegraph", run: named::to_flamegraph },
            Way { name: "firefox", run: named::to_firefox },
        ],
    },
    Workload {
        name: "ring",
        capture: capture::plain_48,
        hops: &[
            Way { name: "hop-by-hand", run: |it| by_hand(hand::hop(&it.bytes)) },
            Way { name: "hop", run: ring::hop },
        ],
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::plain_48(&it.bytes)) },
            Way { name: "sample", run: ring::sample },
            Way { name: "with-event", run: ring::with_event },
        ],
    },
    Workload {
        name: "many_cpus",
        capture: capture::many_cpus,
        hops: HOPS,
        decoders: &[Way { name: "time-order", run: parse::ring_time_order }],
    },
    Workload {
        name: "file",
        capture: capture::file,
        hops: &[
            Way { name: "hop-by-hand", run: |it| by_hand(hand::data_section(&it.bytes).and_then(hand::hop)) },
            Way { name: "hop", run: parse::file_hop },
        ],
        decoders: &[
            Way {
                name: "by-hand",
                run: |it| by_hand(hand::data_section(&it.bytes).and_then(hand::plain_48)),
            },
            Way { name: "file-order", run: parse::file_order },
            Way { name: "batches", run: parse::file_batches },
            Way { name: "time-order", run: parse::time_order },
        ],
    },
];

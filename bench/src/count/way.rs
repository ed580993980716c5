//! The captures, and the ways to decode each of them.

use std::error::Error;

use super::capture::{self, CPUS, Capture, EVENTS};
use super::sums::Sums;
use super::{hand, named, parse, ring};

/// The result of a way.
pub(crate) type Outcome = Result<Sums, Box<dyn Error>>;

/// A way to decode a capture.
pub(crate) struct Way {
    /// Its name, for the command line.
    pub(crate) name: &'static str,
    /// Decodes the whole capture once.
    pub(crate) run: fn(&Capture) -> Outcome,
}

/// A capture, and the ways to decode it.
pub(crate) struct Input {
    /// Its name, for the command line.
    pub(crate) name: &'static str,
    /// Makes the capture.
    pub(crate) capture: fn() -> Capture,
    /// Ways that read only the headers, if the input has headers. All of them find the same.
    pub(crate) hops: &'static [Way],
    /// Ways that decode all fields. All of them find the same.
    pub(crate) decoders: &'static [Way],
}

impl Input {
    /// Iterates over all ways.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &'static Way> {
        self.hops.iter().chain(self.decoders)
    }

    /// Runs all ways, which must agree.
    pub(crate) fn agree(&self, capture: &Capture) -> Result<(), Box<dyn Error>> {
        for ways in [self.hops, self.decoders] {
            let Some(first) = ways.first() else { continue };
            let expected = (first.run)(capture)?;
            for way in ways {
                let found = (way.run)(capture)?;
                if found != expected {
                    let (input, first) = (self.name, first.name);
                    return Err(format!("{input}: {first}: {expected:?}, but {}: {found:?}", way.name).into());
                }
            }
        }
        Ok(())
    }
}

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

/// All inputs.
pub(crate) const INPUTS: &[Input] = &[
    Input {
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
    Input {
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
    Input {
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
    Input {
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
    Input {
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
    Input {
        name: "ten_events",
        capture: capture::ten_events,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::ten_events(&it.bytes, &EVENT_OF)) },
            Way { name: "decode", run: parse::events },
            Way { name: "batches", run: parse::batches_of_events },
        ],
    },
    Input {
        name: "records_mix",
        capture: capture::records_mix,
        hops: HOPS,
        decoders: &[
            Way { name: "by-hand", run: |it| by_hand(hand::records_mix(&it.bytes)) },
            Way { name: "decode", run: parse::records },
        ],
    },
    Input {
        name: "many_events",
        capture: capture::many_events,
        hops: HOPS,
        decoders: &[Way { name: "decode", run: parse::events }],
    },
    Input { name: "processes", capture: capture::processes, hops: HOPS, decoders: OF_SESSIONS },
    Input { name: "stacks", capture: capture::stacks, hops: HOPS, decoders: OF_SESSIONS },
    Input { name: "scheduled", capture: capture::scheduled, hops: HOPS, decoders: OF_SESSIONS },
    Input { name: "sched_stacks", capture: capture::sched_stacks, hops: HOPS, decoders: OF_SESSIONS },
    Input {
        name: "unwound",
        capture: capture::unwound,
        hops: &[],
        decoders: &[Way { name: "unwind", run: named::unwind }],
    },
    Input {
        name: "kallsyms",
        capture: capture::kallsyms,
        hops: &[],
        decoders: &[
            Way { name: "parse", run: named::kallsyms },
            Way { name: "look-up", run: named::look_up },
        ],
    },
    Input {
        name: "lines",
        capture: capture::lines,
        hops: &[],
        decoders: &[Way { name: "look-up", run: named::lines }],
    },
    Input {
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
    Input {
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
    Input {
        name: "many_cpus",
        capture: capture::many_cpus,
        hops: HOPS,
        decoders: &[Way { name: "time-order", run: parse::ring_time_order }],
    },
    Input {
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

//! The traces of captures: queues, slices, snapshots, and what else is reported about them.

mod capture;
mod damage;
mod doors;
mod hostile;
mod queues;
mod sideband;
mod slices;
mod snapshots;

use perf_aux::trace::{AuxQueue, AuxTrace};
use perf_parse::Reader;

/// What a test compares of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    queue: u32,
    offset: u64,
    bytes: Vec<u8>,
    is_consecutive: bool,
    left_out: usize,
    padding: usize,
    gap: u64,
    follows_loss: bool,
}

/// Reads all slices of a capture.
fn slices_of(reader: &Reader<'_>) -> Vec<Seen> {
    let trace = AuxTrace::of(reader);
    let of_queue = |queue: &AuxQueue| {
        let slices = trace.slices(reader, queue).map(|slice| {
            let slice = slice.unwrap();
            Seen {
                queue: queue.idx,
                offset: slice.offset,
                bytes: slice.bytes().to_vec(),
                is_consecutive: slice.is_consecutive,
                left_out: slice.left_out,
                padding: slice.padding,
                gap: slice.gap,
                follows_loss: slice.follows_loss,
            }
        });
        slices.collect::<Vec<_>>()
    };
    trace.queues().iter().flat_map(of_queue).collect()
}

/// Reads all slices of a capture in memory.
fn slices(capture: &[u8]) -> Vec<Seen> {
    slices_of(&Reader::new(capture).unwrap())
}

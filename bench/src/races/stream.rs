//! Compressed files and pipes, in the order of the capture.

use std::fs::File;
use std::io::{BufReader, Cursor};

use super::Context;
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::floor::{self, Floor};
use crate::inputs::{PIPE, ZSTD};
use crate::ours;
use crate::peers::linux_perf_data;
use crate::race::{Contestant, Work, race};
use crate::table::{Goal, Table};

const FLOOR: &str = "floor";
const OURS: &str = "perf-parse";
const BATCHES: &str = "perf-parse, batches";
const AHEAD: &str = "perf-parse, batches, decompressing ahead";
const PEER: &str = "linux-perf-data";

/// Goal 3: a compressed file takes at most 1.2 times as long as decompression and the floor; a pipe at most
/// 1.4 times as long as the floor.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    Ok(vec![compressed(context)?, pipe(context)?])
}

/// The floor decompresses with the same library into a buffer, and decodes the buffer each time it is full.
fn compressed(context: &Context) -> Result<Table, Failure> {
    let path = context.inputs.path(ZSTD);
    let capture = Capture::read(&path)?;
    let by_hand = Floor::new(&capture.events);
    let records = floor::zstd(&by_hand, capture.records())?.records;
    let bytes = floor::decompress(capture.records())?;
    let contestants = vec![
        Contestant::bound("decompressing alone", || floor::decompress(capture.records())),
        Contestant::new(FLOOR, || floor::zstd(&by_hand, capture.records())),
        Contestant::new(OURS, || ours::in_file_order(&capture::map(&path)?)),
        Contestant::new(BATCHES, || ours::in_batches(&capture::map(&path)?)),
        Contestant::new(AHEAD, || ours::in_batches_ahead(&capture::map(&path)?)),
        Contestant::new(PEER, || linux_perf_data::file(Cursor::new(&*capture::map(&path)?))),
    ];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table("Stream: zstd".into(), Work { records, bytes }, FLOOR)?;
    for way in [OURS, BATCHES] {
        table.judge(&format!("{way}, against the floor"), standings.ratio(way, FLOOR)?, Goal::AtMost(1.2));
    }
    Ok(table)
}

/// The contents of a pipe are read from a file with `read`, so that no other process is involved.
fn pipe(context: &Context) -> Result<Table, Failure> {
    /// Bytes that the peer receives at a time.
    const BUFFER: usize = 1 << 20;
    let path = context.inputs.path(PIPE);
    let capture = Capture::read(&path)?;
    let by_hand = Floor::new(&capture.events);
    let open = || File::open(&path).map_err(|error| Failure::of(path.display(), error));
    let contestants = vec![
        Contestant::new(FLOOR, || floor::pipe(&by_hand, open()?)),
        Contestant::new(OURS, || ours::pipe(open()?)),
        Contestant::new(BATCHES, || ours::pipe_in_batches(open()?)),
        Contestant::new(PEER, || linux_perf_data::pipe(BufReader::with_capacity(BUFFER, open()?))),
    ];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table("Stream: pipe".into(), capture.work(), FLOOR)?;
    for way in [OURS, BATCHES] {
        table.judge(&format!("{way}, against the floor"), standings.ratio(way, FLOOR)?, Goal::AtMost(1.4));
    }
    Ok(table)
}

//! Files, memory mapped, in time order.

use std::io::Cursor;

use super::Context;
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::floor::{self, Floor};
use crate::inputs::{CALLCHAIN, DWARF, FULL, Input, MULTI, PLAIN, RAW};
use crate::ours;
use crate::peers::linux_perf_data;
use crate::race::{Contestant, race};
use crate::table::{Goal, Table};

const FLOOR: &str = "floor, by time";
const OURS: &str = "perf-parse";
const PEER: &str = "linux-perf-data";

/// The inputs, and the goal for the ratio to the peer, if there is one.
const INPUTS: [(Input, Option<f64>); 6] = [
    (PLAIN, Some(6.0)),
    (FULL, Some(6.0)),
    (RAW, None),
    (CALLCHAIN, Some(2.4)),
    (DWARF, None),
    (MULTI, Some(3.0)),
];

const MIB: f64 = (1 << 20) as f64;

/// Goal 2: at most 1.3 times the floor, which sorts an index of each round; faster than the peer; at
/// most 8 MiB of heap.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    INPUTS.iter().map(|&(input, faster)| one(context, input, faster)).collect()
}

fn one(context: &Context, input: Input, faster: Option<f64>) -> Result<Table, Failure> {
    let path = context.inputs.path(input);
    let work = Capture::read(&path)?.work();
    let by_hand = |decode: fn(&Floor, &[u8]) -> Option<_>| {
        let file = capture::map(&path)?;
        let found =
            capture::parts(&file).and_then(|(events, data)| decode(&Floor::new(&events), &file[data]));
        found.ok_or_else(|| Failure("a record cannot be decoded".into()))
    };
    let contestants = vec![
        Contestant::bound("floor, in file order", || by_hand(Floor::decode)),
        Contestant::new(FLOOR, || by_hand(floor::by_time)),
        Contestant::new(OURS, || ours::by_time(&capture::map(&path)?)),
        Contestant::new("perf-parse, order by another thread", || ours::by_time_ahead(&capture::map(&path)?)),
        Contestant::new(PEER, || linux_perf_data::file(Cursor::new(&*capture::map(&path)?))),
    ];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table(format!("File, by time: {}", input.what), work, FLOOR)?;
    table.judge("perf-parse against the floor", standings.ratio(OURS, FLOOR)?, Goal::AtMost(1.3));
    if let Some(faster) = faster {
        let ratio = standings.ratio(PEER, OURS)?;
        table.judge("perf-parse faster than linux-perf-data", ratio, Goal::AtLeast(faster));
    }
    let peak = standings.of(OURS)?.allocations.peak as f64 / MIB;
    table.judge("peak heap of perf-parse, MiB", peak, Goal::AtMost(8.0));
    Ok(table)
}

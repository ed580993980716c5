//! Some record types only: the cost of skipping the others.

use super::Context;
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::floor;
use crate::inputs::{Input, MULTI, PLAIN};
use crate::ours;
use crate::race::{Contestant, race};
use crate::table::{Goal, Table};

const HOP: &str = "hop by hand";
const OURS: &str = "perf-parse";

/// Goal 6: MMAP2 and COMM records only, in at most 1.15 times the time of reading only the headers.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    [PLAIN, MULTI].into_iter().map(|input| one(context, input)).collect()
}

fn one(context: &Context, input: Input) -> Result<Table, Failure> {
    let path = context.inputs.path(input);
    let capture = Capture::read(&path)?;
    let events = ours::events(&capture::map(&path)?)?;
    let records = capture.records();
    let contestants = vec![
        Contestant::bound(HOP, || floor::hop(records)),
        Contestant::bound("hop by perf-parse", || ours::hop(records)),
        Contestant::whole("floor", || floor::maps_and_comms(records)),
        Contestant::new(OURS, || ours::maps_and_comms(&events, records)),
    ];
    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table(format!("MMAP2 and COMM alone: {}", input.what), capture.work(), HOP)?;
    table.judge("perf-parse against the hop", standings.ratio(OURS, HOP)?, Goal::AtMost(1.15));
    Ok(table)
}

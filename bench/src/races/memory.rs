//! Records in memory: all fields of all records, read by perf-parse, its peers and the floor.

use super::{Context, rss};
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::floor::{self, Floor};
use crate::inputs::{CALLCHAIN, DWARF, FULL, Input, MULTI, PLAIN, RAW};
use crate::ours;
use crate::peers::{linux_perf_event_reader, perf_event_data, perf_event_open};
use crate::race::{Contestant, race};
use crate::table::{Goal, Table};

const FLOOR: &str = "floor";
const OURS: &str = "perf-parse";
const BATCHES: &str = "perf-parse, batches";
const PEERS: [&str; 4] =
    ["linux-perf-event-reader", "perf-event-data, visitor", "perf-event-data, record", "perf-event-open"];

/// The inputs, the goal for the ratio to the best peer, and the goal for the ratio of batches to the floor. There is
/// none for an input that has fields without a column in a batch.
const INPUTS: [(Input, f64, Option<f64>); 6] = [
    (PLAIN, 4.0, Some(0.7)),
    (FULL, 4.0, Some(0.7)),
    (RAW, 2.2, Some(1.0)),
    (CALLCHAIN, 2.2, Some(1.0)),
    (DWARF, 2.2, None),
    (MULTI, 2.2, Some(0.9)),
];

/// Goal 1: at most 1.25 times the floor, faster than any peer, no allocations. `perfdata script` takes at most 100 MB for a
/// pipe of 1 GB.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let of_records = INPUTS.iter().map(|&(input, faster, batches)| one(context, input, faster, batches));
    of_records.chain([rss::run(context)]).collect()
}

fn one(context: &Context, input: Input, faster: f64, batches: Option<f64>) -> Result<Table, Failure> {
    let path = context.inputs.path(input);
    let capture = Capture::read(&path)?;
    let records = capture.records();
    let events = ours::events(&capture::map(&path)?)?;
    let batches = batches.filter(|_| ours::in_columns(&events));
    let floor = Floor::new(&capture.events);
    let reader = linux_perf_event_reader::prepare(&capture.events);
    let data = perf_event_data::prepare(&capture.events);
    let open = perf_event_open::prepare(&capture.events);

    let mut contestants = vec![
        Contestant::bound("sum of words", || floor::sum_of_words(capture.words())),
        Contestant::bound("hop by hand", || floor::hop(records)),
        Contestant::bound("hop by perf-parse", || ours::hop(records)),
        Contestant::whole(FLOOR, || floor.decode(records)),
        Contestant::new(OURS, || ours::decode(&events, records)),
    ];
    if batches.is_some() {
        contestants.push(Contestant::new(BATCHES, || ours::decode_batches(&events, records)));
    }
    let mut notes = Vec::new();
    let [lper, visitor, record, peo] = PEERS;
    match &reader {
        Some(known) => {
            contestants.push(Contestant::whole(lper, || linux_perf_event_reader::decode(known, records)))
        }
        None => notes.push(format!("{lper} cannot read it: it does not know an attr")),
    }
    if let Some(known) = &data {
        contestants.push(Contestant::whole(visitor, || perf_event_data::visit(known, records)));
        contestants.push(Contestant::whole(record, || perf_event_data::decode(known, records)));
    }
    match &open {
        Some(known) => contestants.push(Contestant::whole(peo, || perf_event_open::decode(known, records))),
        None => notes.push(format!("{peo} cannot read it: {}", perf_event_open::NO_IDENTIFIER)),
    }

    let standings = race(contestants, context.rounds)?;
    let mut table = standings.table(format!("In memory: {}", input.what), capture.work(), FLOOR)?;
    table.notes = notes;
    table.judge("perf-parse against the floor", standings.ratio(OURS, FLOOR)?, Goal::AtMost(1.25));
    if let Some(goal) = batches {
        table.judge("batches against the floor", standings.ratio(BATCHES, FLOOR)?, Goal::AtMost(goal));
    }
    let best = standings.fastest(&PEERS)?;
    table.judge(
        &format!("perf-parse faster than {best}"),
        standings.ratio(best, OURS)?,
        Goal::AtLeast(faster),
    );
    let allocated = standings.of(OURS)?.allocations.count;
    table.judge("allocations of perf-parse", allocated as f64, Goal::AtMost(0.0));
    if batches.is_some() {
        let allocated = standings.of(BATCHES)?.allocations.count;
        table.judge("allocations of batches", allocated as f64, Goal::AtMost(0.0));
    }
    Ok(table)
}

//! Scale: the cost of a record does not depend on the number of CPUs, of processes and their mappings, or of events.

use std::cell::RefCell;

use perf_abi::attr::Attr;
use perf_parse::event::Events;

use super::Context;
use super::growth::{FIELDS, FIRST_ID, over_first, pass, samples, samples_by_id, table};
use super::session::with_session;
use crate::failure::Failure;
use crate::processes::{self, Shape};
use crate::race::{Contestant, race};
use crate::table::{Goal, Table};

/// The goal for a record of the larger case against one of the smaller.
const STEADY: Goal = Goal::AtMost(1.5);

pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    Ok(vec![cpus(context)?, events(context)?, processes(context)?])
}

/// The rings of few and of many CPUs, interleaved, in time order.
fn cpus(context: &Context) -> Result<Table, Failure> {
    let count = if context.quick { 40_000 } else { 2_000_000 };
    let attr = Attr { sample_type: FIELDS, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    let [few, many] = [4, 1024].map(|cpus| samples(&attr, cpus, count, 48, |_, _| {}));
    let (few, many) = (few?, many?);
    let contestants = vec![pass("4 CPUs", &events, &few, true)?, pass("1,024 CPUs", &events, &many, true)?];
    let standings = race(contestants, context.rounds)?;
    let mut table = table("Scale: rings of CPUs, by time".into(), "a record", &standings, &[count; 2]);
    table.judge("1,024 CPUs against 4, a record", over_first(&standings, &[count; 2], 1), STEADY);
    Ok(table)
}

/// Samples of few and of many events, found by their ids.
fn events(context: &Context) -> Result<Table, Failure> {
    let count = if context.quick { 20_000 } else { 2_000_000 };
    let (few, many) = (samples_by_id(16, count)?, samples_by_id(65_536, count)?);
    let contestants =
        vec![pass("16 events", &few.0, &few.1, false)?, pass("65,536 events", &many.0, &many.1, false)?];
    let standings = race(contestants, context.rounds)?;
    let mut table = table("Scale: events found by id".into(), "a record", &standings, &[count; 2]);
    table.judge("65,536 events against 16, a record", over_first(&standings, &[count; 2], 1), STEADY);
    Ok(table)
}

/// Samples of few processes with few mappings, and of many with many, through a session.
fn processes(context: &Context) -> Result<Table, Failure> {
    let count = if context.quick { 4096 } else { 2_000_000 };
    let (processes, mappings) = if context.quick { (100, 20) } else { (10_000, 200) };
    let mut captures = Vec::new();
    for (processes, mappings) in [(100, 20), (processes, mappings)] {
        let shape = Shape { processes, mappings, ..Shape::new(true) };
        let events = processes::events(&shape);
        let records = processes::samples(&events, &shape, count);
        let session = RefCell::new(processes::session(&events, &shape));
        captures.push((events, records, session));
    }
    let names = ["100 processes of 20 mappings", "10,000 of 200"].into_iter().zip(&captures);
    let contestants = names.map(|(name, (events, records, session))| {
        Contestant::new(name, move || with_session(events, records, &mut session.borrow_mut()).map(|_| ()))
    });
    let standings = race(contestants.collect(), context.rounds)?;
    let mut table = table("Scale: processes and mappings".into(), "a sample", &standings, &[count; 2]);
    table.judge("10,000 processes against 100, a sample", over_first(&standings, &[count; 2], 1), STEADY);
    Ok(table)
}

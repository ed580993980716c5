//! Counts events of a command: `cargo run --example stat`.

use perf_record::Targets;
use perf_record::open::event::parse;
use perf_record::open::workload::Workload;
use perf_record::stat::{StatError, StatOptions, StatPlan};

fn count() -> Result<(), StatError> {
    let plan = StatPlan::new(parse("page-faults,task-clock")?, Targets::Command, StatOptions::default())?;
    let mut command = Workload::prepare("true".as_ref(), [])?;
    let mut run = plan.open(Some(command.pid()))?;
    run.start()?;
    command.start()?;
    command.wait()?;
    let counts = run.finish(Some(&command))?;
    for row in plan.rows(&counts.events, core::slice::from_ref(&counts.readout), counts.elapsed) {
        println!("{:?} {} {}", row.value(), row.event.unit.as_deref().unwrap_or_default(), row.event.name);
    }
    Ok(())
}

fn main() {
    // A container may forbid the call.
    count().unwrap_or_else(|error| println!("{error}"));
}

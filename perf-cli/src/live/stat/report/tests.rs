//! The rows that the tests of all formats print.

use perf_open::EventSpec;
use perf_open::abi::event::{HwId, SwId};

use super::*;
use crate::live::stat::metric::Metric;
use crate::live::stat::table::{Shown, Status, Value};
use crate::live::stat::tally::Place;

/// Prints four rows: a clock with a metric, a plain count that was estimated, a count that never ran, and one that
/// nothing counts.
pub(super) fn each(print: impl FnMut(&Row<'_>) -> String) -> Vec<String> {
    let clock = Shown::from(&EventSpec::software(SwId::TASK_CLOCK));
    let faults = Shown::from(&EventSpec::software(SwId::PAGE_FAULTS));
    let cycles = Shown::from(&EventSpec::hardware(HwId::CPU_CYCLES));
    let counted = |value| Status::Counted { value, deviation_percent: 1.25 };
    let row = |event, status, enabled, running| Row {
        event,
        place: Place::Everywhere,
        status,
        enabled,
        running,
        metric: None,
    };
    let metric = Metric { value: 0.987_65, unit: "CPUs utilized".to_owned() };
    [
        Row {
            metric: Some(metric),
            ..row(&clock, counted(Value::Real(1234.5678)), 1_234_567_800, 1_234_567_800)
        },
        Row { place: Place::Cpu(3), ..row(&faults, counted(Value::Whole(1_234_567)), 800, 200) },
        Row { place: Place::Thread(4321), ..row(&faults, Status::NotCounted, 800, 0) },
        row(&cycles, Status::NotSupported, 0, 0),
    ]
    .iter()
    .map(print)
    .collect()
}

/// Returns the totals of two runs.
pub(super) fn two_runs() -> Totals {
    let time =
        |user, system| CpuTime { user: Duration::from_millis(user), system: Duration::from_millis(system) };
    Totals { elapsed: vec![1.0, 3.0], cpu_times: vec![time(500, 10), time(700, 30)] }
}

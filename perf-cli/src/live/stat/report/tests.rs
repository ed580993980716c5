//! The rows that the tests of all formats print.

use perf_open::EventSpec;
use perf_open::abi::event::{HwId, SwId};

use super::*;
use crate::live::stat::metric::Metric;
use crate::live::stat::table::{Shown, Status, Value};
use crate::live::stat::tally::Place;
use crate::live::stat::topology::Label;

fn label(key: &'static str, width: usize, text: &str, counters: Option<usize>) -> Label {
    Label { key, width, text: text.to_owned(), counters }
}

fn new<'a>(
    event: &'a Shown,
    label: Option<&'a Label>,
    status: Status,
    enabled: u64,
    running: u64,
) -> Row<'a> {
    Row {
        event,
        label,
        place: Place::Everywhere,
        status,
        enabled,
        running,
        metric: None,
        second_metric: None,
    }
}

fn counted(value: Value) -> Status {
    Status::Counted { value, deviation_percent: 1.25 }
}

pub(super) fn metric(value: f64, unit: &str) -> Option<Metric> {
    Some(Metric { value, unit: unit.to_owned(), per_second: None })
}

/// A rate, shown in thousands.
pub(super) fn rate(value: f64) -> Option<Metric> {
    Some(Metric { value: value / 1e3, unit: "K/sec".to_owned(), per_second: Some(value) })
}

/// Passes the rows of events with these names and metrics, which are counted together.
pub(super) fn with_metrics(names: &[&str], metrics: &[Option<Metric>], test: impl FnOnce(&[Row<'_>])) {
    let event = |name: &&str| Shown::from(&EventSpec::software(SwId::PAGE_FAULTS).with_name(*name));
    let events: Vec<_> = names.iter().map(event).collect();
    let row = |event| new(event, None, counted(Value::Whole(7)), 9, 9);
    let rows = events.iter().zip(metrics).map(|(event, it)| Row { metric: it.clone(), ..row(event) });
    test(&rows.collect::<Vec<_>>());
}

/// Prints four rows: a clock with a metric, a plain count of a cgroup that was estimated, a count that never ran, and one
/// that nothing counts.
pub(super) fn each(print: impl FnMut(&Row<'_>) -> String) -> Vec<String> {
    let clock = Shown::from(&EventSpec::software(SwId::TASK_CLOCK));
    let faults = Shown::from(&EventSpec::software(SwId::PAGE_FAULTS));
    let mut of_cgroup = faults.clone();
    of_cgroup.cgroup = Some("a/b".to_owned());
    let cycles = Shown::from(&EventSpec::hardware(HwId::CPU_CYCLES));
    let [cpu, thread] = [label("cpu", 8, "CPU3", None), label("thread", 25, "sh-4321", None)];
    [
        Row {
            metric: metric(0.987_65, "CPUs utilized"),
            ..new(&clock, None, counted(Value::Real(1234.5678)), 1_234_567_800, 1_234_567_800)
        },
        new(&of_cgroup, Some(&cpu), counted(Value::Whole(1_234_567)), 800, 200),
        new(&faults, Some(&thread), Status::NotCounted, 800, 0),
        new(&cycles, None, Status::NotSupported, 0, 0),
    ]
    .iter()
    .map(print)
    .collect()
}

/// Passes rows of two sockets: a clock and a count of each; the second count has no metric.
pub(super) fn labelled(test: impl FnOnce(&[Row<'_>])) {
    let clock = Shown::from(&EventSpec::software(SwId::CPU_CLOCK));
    let faults = Shown::from(&EventSpec::software(SwId::PAGE_FAULTS));
    let [first, second] = ["S0", "S1"].map(|text| label("socket", 5, text, Some(2)));
    let row = |event, label| new(event, Some(label), counted(Value::Whole(7)), 9, 9);
    test(&[
        Row { metric: metric(0.987_65, "CPUs utilized"), ..row(&clock, &first) },
        Row { metric: metric(0.25, "CPUs utilized"), ..row(&clock, &second) },
        Row { metric: rate(5000.0), ..row(&faults, &first) },
        row(&faults, &second),
    ]);
}

/// Returns the totals of two runs.
pub(super) fn two_runs() -> Totals {
    let time =
        |user, system| CpuTime { user: Duration::from_millis(user), system: Duration::from_millis(system) };
    Totals { elapsed: vec![1.0, 3.0], cpu_times: vec![time(500, 10), time(700, 30)], table: false }
}

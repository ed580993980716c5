//! The rows that the tests of all formats print.

use perf_open::EventSpec;
use perf_open::abi::event::{HwId, SwId};
use perf_record::stat::{
    Aggregate, AggregateLabel, CountStatus, CountValue, CountedEvent, CpuDomain, MetricValue,
};

use super::*;

fn new<'a>(
    event: &'a CountedEvent,
    label: Option<&'a AggregateLabel>,
    status: CountStatus,
    enabled: u64,
    running: u64,
) -> CountRow<'a> {
    CountRow {
        event,
        label,
        aggregate: Aggregate::Total,
        status,
        enabled,
        running,
        metric: None,
        second_metric: None,
    }
}

fn counted(value: CountValue) -> CountStatus {
    CountStatus::Counted { value, deviation_percent: 1.25 }
}

pub(super) fn metric(value: f64, unit: &str) -> Option<MetricValue> {
    Some(MetricValue { value, unit: unit.to_owned(), per_second: None })
}

/// A rate, shown in thousands.
pub(super) fn rate(value: f64) -> Option<MetricValue> {
    Some(MetricValue { value: value / 1e3, unit: "K/sec".to_owned(), per_second: Some(value) })
}

/// Passes the rows of events with these names and metrics, which are counted together.
pub(super) fn with_metrics(
    names: &[&str],
    metrics: &[Option<MetricValue>],
    test: impl FnOnce(&[CountRow<'_>]),
) {
    let event = |name: &&str| CountedEvent::from(&EventSpec::software(SwId::PAGE_FAULTS).with_name(*name));
    let events: Vec<_> = names.iter().map(event).collect();
    let row = |event| new(event, None, counted(CountValue::Whole(7)), 9, 9);
    let rows = events.iter().zip(metrics).map(|(event, it)| CountRow { metric: it.clone(), ..row(event) });
    test(&rows.collect::<Vec<_>>());
}

/// Prints four rows: a clock with a metric, a plain count of a cgroup that was estimated, a count that never ran, and one
/// that nothing counts.
pub(super) fn each(print: impl FnMut(&CountRow<'_>) -> String) -> Vec<String> {
    let clock = CountedEvent::from(&EventSpec::software(SwId::TASK_CLOCK));
    let faults = CountedEvent::from(&EventSpec::software(SwId::PAGE_FAULTS));
    let mut of_cgroup = faults.clone();
    of_cgroup.cgroup = Some("a/b".to_owned());
    let cycles = CountedEvent::from(&EventSpec::hardware(HwId::CPU_CYCLES));
    let [cpu, thread] = [AggregateLabel::cpu(3), AggregateLabel::thread(4321, "sh")];
    [
        CountRow {
            metric: metric(0.987_65, "CPUs utilized"),
            ..new(&clock, None, counted(CountValue::Real(1234.5678)), 1_234_567_800, 1_234_567_800)
        },
        new(&of_cgroup, Some(&cpu), counted(CountValue::Whole(1_234_567)), 800, 200),
        new(&faults, Some(&thread), CountStatus::NotCounted, 800, 0),
        new(&cycles, None, CountStatus::NotSupported, 0, 0),
    ]
    .iter()
    .map(print)
    .collect()
}

/// Passes rows of two sockets: a clock and a count of each; the second count has no metric.
pub(super) fn labelled(test: impl FnOnce(&[CountRow<'_>])) {
    let clock = CountedEvent::from(&EventSpec::software(SwId::CPU_CLOCK));
    let faults = CountedEvent::from(&EventSpec::software(SwId::PAGE_FAULTS));
    let socket = |text: &str| AggregateLabel::domain(CpuDomain::Socket, text.to_owned(), 2);
    let [first, second] = ["S0", "S1"].map(socket);
    let row = |event, label| new(event, Some(label), counted(CountValue::Whole(7)), 9, 9);
    test(&[
        CountRow { metric: metric(0.987_65, "CPUs utilized"), ..row(&clock, &first) },
        CountRow { metric: metric(0.25, "CPUs utilized"), ..row(&clock, &second) },
        CountRow { metric: rate(5000.0), ..row(&faults, &first) },
        row(&faults, &second),
    ]);
}

/// Returns the totals of two runs.
pub(super) fn two_runs() -> RunTotals {
    let time =
        |user, system| CpuTime { user: Duration::from_millis(user), system: Duration::from_millis(system) };
    RunTotals { elapsed: vec![1.0, 3.0], cpu_times: vec![time(500, 10), time(700, 30)], table: false }
}

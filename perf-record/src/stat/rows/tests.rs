use perf_open::EventSpec;
use perf_open::abi::event::{HwId, SwId};

use super::*;

static NONE: AggregateLabels = AggregateLabels::new();
const SECOND: Duration = Duration::from_secs(1);

/// The counts of an event by aggregate.
type Counts = Option<alloc::collections::BTreeMap<Aggregate, TimedCount>>;

fn timed(value: u64, enabled: u64, running: u64) -> TimedCount {
    TimedCount::new(value, enabled, running)
}

fn total(count: TimedCount) -> Counts {
    Some([(Aggregate::Total, count)].into())
}

fn counted_events(events: &[EventSpec]) -> Vec<CountedEvent> {
    events.iter().map(CountedEvent::from).collect()
}

/// Returns the rows of some runs of a second.
fn rows_of(events: &[CountedEvent], runs: impl IntoIterator<Item = Vec<Counts>>) -> Vec<CountRow<'_>> {
    let readouts: Vec<_> = runs.into_iter().map(Readout::from).collect();
    rows(events, &NONE, &readouts, SECOND, true)
}

fn counted(value: CountValue) -> CountStatus {
    CountStatus::Counted { value, deviation_percent: 0.0 }
}

#[test]
fn an_event_is_counted_or_was_never_on_the_pmu_or_does_not_exist() {
    let events = counted_events(&[
        EventSpec::software(SwId::PAGE_FAULTS),
        EventSpec::hardware(HwId::CPU_CYCLES),
        EventSpec::hardware(HwId::INSTRUCTIONS),
    ]);
    let run = vec![total(timed(u64::MAX, 9, 9)), total(timed(0, 9, 0)), None];
    let rows = rows_of(&events, [run]);
    let actual: Vec<_> = rows.iter().map(|row| (row.status, row.running_percent())).collect();
    assert_eq!(
        actual,
        [
            (counted(CountValue::Whole(u64::MAX)), Some(100.0)),
            (CountStatus::NotCounted, Some(0.0)),
            (CountStatus::NotSupported, None)
        ]
    );
}

#[test]
fn a_count_of_a_part_of_the_time_is_an_estimate() {
    let events = counted_events(&[EventSpec::hardware(HwId::CPU_CYCLES)]);
    let rows = rows_of(&events, [vec![total(timed(100, 400, 100))]]);
    assert_eq!(rows[0].status, counted(CountValue::Whole(400)));
    assert_eq!(rows[0].running_percent(), Some(25.0));
    let raw = super::rows(&events, &NONE, &[vec![total(timed(100, 400, 100))].into()], SECOND, false);
    assert_eq!(raw[0].status, counted(CountValue::Whole(100)));
}

#[test]
fn an_event_of_topdown_has_two_metrics() {
    let named = |name: &str| EventSpec::raw(1).with_name(name);
    let events = ["topdown-retiring", "topdown-be-bound", "topdown-heavy-ops"].map(named);
    let run = [300, 100, 40].map(|value| total(timed(value, 1, 1))).to_vec();
    let events = counted_events(&events);
    let rows = rows_of(&events, [run]);
    let metrics = rows.iter().flat_map(|row| [&row.metric, &row.second_metric]).flatten();
    let metrics: Vec<_> = metrics.map(|metric| (&*metric.unit, metric.value)).collect();
    let expected = [
        ("%  Retiring", 75.0),
        ("%  Backend Bound", 25.0),
        ("%  Heavy Operations", 10.0),
        ("%  Light Operations", 65.0),
    ];
    assert_eq!(metrics, expected);
}

#[test]
fn what_is_merged_has_no_row_and_cgroups_have_metrics_of_their_own() {
    let mut events = counted_events(&[
        EventSpec::software(SwId::CPU_CLOCK),
        EventSpec::software(SwId::PAGE_FAULTS),
        EventSpec::software(SwId::CPU_CLOCK),
        EventSpec::software(SwId::PAGE_FAULTS),
        EventSpec::software(SwId::PAGE_FAULTS),
    ]);
    for (event, cgroup) in events.iter_mut().zip(["a", "a", "b", "b", "b"]) {
        event.cgroup = Some(cgroup.to_owned());
    }
    events[4].is_merged = true;
    let second = timed(1_000_000_000, 1, 1);
    let half = timed(500_000_000, 1, 1);
    let run = [second, timed(7, 1, 1), half, timed(7, 1, 1), timed(1, 1, 1)].map(total).to_vec();
    let rows = rows_of(&events, [run]);
    let metrics: Vec<f64> = rows.iter().map(|row| row.metric.as_ref().unwrap().value).collect();
    assert_eq!(metrics, [1.0, 7.0, 0.5, 14.0]);
}

#[test]
fn a_scale_makes_units() {
    let mut joules = EventSpec::raw(2);
    (joules.unit, joules.scale) = (Some("Joules".to_owned()), Some(0.25));
    let events = counted_events(&[EventSpec::software(SwId::TASK_CLOCK), joules]);
    let run = vec![total(timed(1_234_567, 9, 9)), total(timed(10, 9, 9))];
    let rows = rows_of(&events, [run]);
    assert_eq!(rows[0].status, counted(CountValue::Real(1.234567)));
    assert_eq!(rows[0].event.unit.as_deref(), Some("msec"));
    assert_eq!(rows[1].status, counted(CountValue::Real(2.5)));
    assert_eq!(rows[1].event.unit.as_deref(), Some("Joules"));
}

#[test]
fn runs_make_a_mean_of_those_that_counted() {
    let events = counted_events(&[EventSpec::software(SwId::PAGE_FAULTS)]);
    let runs = [timed(8, 10, 10), timed(12, 30, 30), timed(0, 20, 0)].map(|count| vec![total(count)]);
    let rows = rows_of(&events, runs);
    let CountStatus::Counted { value, deviation_percent } = rows[0].status else { panic!("{rows:?}") };
    assert_eq!(value, CountValue::Real(10.0));
    // A variance of 8, so a standard error of 2.
    assert!((deviation_percent - 20.0).abs() < 1e-9, "{deviation_percent}");
    assert_eq!((rows[0].enabled, rows[0].running), (20, 13));
}

#[test]
fn metrics_are_of_the_same_place() {
    let events =
        counted_events(&[EventSpec::software(SwId::CPU_CLOCK), EventSpec::software(SwId::PAGE_FAULTS)]);
    let cpus = |counts: [TimedCount; 2]| {
        Some([Aggregate::Cpu(0), Aggregate::Cpu(3)].into_iter().zip(counts).collect())
    };
    let run = vec![
        cpus([timed(1_000_000_000, 1, 1), timed(500_000_000, 1, 1)]),
        cpus([timed(10, 1, 1), timed(10, 1, 1)]),
        None,
    ];
    let rows = rows_of(&events, [run]);
    let actual: Vec<_> =
        rows.iter().map(|row| (row.aggregate, row.metric.as_ref().map(|metric| metric.value))).collect();
    assert_eq!(
        actual,
        [
            (Aggregate::Cpu(0), Some(1.0)),
            (Aggregate::Cpu(3), Some(0.5)),
            (Aggregate::Cpu(0), Some(10.0)),
            (Aggregate::Cpu(3), Some(20.0))
        ]
    );
}

#[test]
fn what_nothing_counts_has_a_row_for_every_place() {
    let events =
        counted_events(&[EventSpec::software(SwId::CPU_CLOCK), EventSpec::hardware(HwId::CPU_CYCLES)]);
    let clock = [(Aggregate::Cpu(0), timed(1, 1, 1)), (Aggregate::Cpu(1), timed(1, 1, 1))].into();
    let aggregates = |run| rows_of(&events, [run]).iter().map(|row| row.aggregate).collect::<Vec<_>>();
    assert_eq!(
        aggregates(vec![Some(clock), None]),
        [Aggregate::Cpu(0), Aggregate::Cpu(1), Aggregate::Cpu(0), Aggregate::Cpu(1)]
    );
    assert_eq!(aggregates(vec![None, None]), [Aggregate::Total, Aggregate::Total]);
}

/// The metrics of many places and cgroups are each those of their own counts.
#[test]
fn places_and_cgroups_do_not_mix() {
    let (cpus, cgroups) = (300, ["a", "b", "c"]);
    let mut events = Vec::new();
    for cgroup in cgroups {
        for mut event in
            counted_events(&[EventSpec::hardware(HwId::INSTRUCTIONS), EventSpec::hardware(HwId::CPU_CYCLES)])
        {
            event.cgroup = Some(cgroup.to_owned());
            events.push(event);
        }
    }
    // The instructions per cycle of a cpu in a cgroup are a number that no other place has.
    let ratio = |cpu: u32, cgroup: usize| 1 + u64::from(cpu) * 3 + cgroup as u64;
    let counts = (0..events.len()).map(|index| {
        let count = |cpu| if index % 2 == 0 { 10 * ratio(cpu, index / 2) } else { 10 };
        let of_cpu = |cpu| (Aggregate::Cpu(cpu), timed(count(cpu), 1, 1));
        Some((0..cpus).map(of_cpu).collect())
    });
    let rows = rows_of(&events, [counts.collect()]);
    assert_eq!(rows.len(), events.len() * cpus as usize);
    for row in rows.iter().filter(|row| row.event.name.contains("instructions")) {
        let Aggregate::Cpu(cpu) = row.aggregate else { panic!("{:?}", row.aggregate) };
        let cgroup = cgroups.iter().position(|it| row.event.cgroup.as_deref() == Some(it)).unwrap();
        let metric = row.metric.as_ref().unwrap();
        assert_eq!((metric.value, &*metric.unit), (ratio(cpu, cgroup) as f64, "insn per cycle"));
    }
}

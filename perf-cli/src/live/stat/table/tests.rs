use perf_open::abi::event::{HwId, SwId};

use super::*;

static NONE: Labels = Labels::new();
const SECOND: Duration = Duration::from_secs(1);

fn tally(value: u64, enabled: u64, running: u64) -> Tally {
    Tally { value, enabled, running, is_constant: false }
}

fn everywhere(tally: Tally) -> Option<alloc::collections::BTreeMap<Place, Tally>> {
    Some([(Place::Everywhere, tally)].into())
}

fn shown(events: &[EventSpec]) -> Vec<Shown> {
    events.iter().map(Shown::from).collect()
}

fn counted(value: Value) -> Status {
    Status::Counted { value, deviation_percent: 0.0 }
}

#[test]
fn an_event_is_counted_or_was_never_on_the_pmu_or_does_not_exist() {
    let events = shown(&[
        EventSpec::software(SwId::PAGE_FAULTS),
        EventSpec::hardware(HwId::CPU_CYCLES),
        EventSpec::hardware(HwId::INSTRUCTIONS),
    ]);
    let run = vec![everywhere(tally(u64::MAX, 9, 9)), everywhere(tally(0, 9, 0)), None];
    let rows = rows(&events, &NONE, &[run], SECOND, true);
    let actual: Vec<_> = rows.iter().map(|row| (row.status, row.running_percent())).collect();
    assert_eq!(
        actual,
        [
            (counted(Value::Whole(u64::MAX)), Some(100.0)),
            (Status::NotCounted, Some(0.0)),
            (Status::NotSupported, None)
        ]
    );
}

#[test]
fn a_count_of_a_part_of_the_time_is_an_estimate() {
    let events = shown(&[EventSpec::hardware(HwId::CPU_CYCLES)]);
    let rows = rows(&events, &NONE, &[vec![everywhere(tally(100, 400, 100))]], SECOND, true);
    assert_eq!(rows[0].status, counted(Value::Whole(400)));
    assert_eq!(rows[0].running_percent(), Some(25.0));
    let raw = super::rows(&events, &NONE, &[vec![everywhere(tally(100, 400, 100))]], SECOND, false);
    assert_eq!(raw[0].status, counted(Value::Whole(100)));
}

#[test]
fn an_event_of_topdown_has_two_metrics() {
    let named = |name: &str| EventSpec::raw(1).with_name(name);
    let events = ["topdown-retiring", "topdown-be-bound", "topdown-heavy-ops"].map(named);
    let run = [300, 100, 40].map(|value| everywhere(tally(value, 1, 1))).to_vec();
    let events = shown(&events);
    let rows = rows(&events, &NONE, &[run], SECOND, true);
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
    let mut events = shown(&[
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
    let second = tally(1_000_000_000, 1, 1);
    let half = tally(500_000_000, 1, 1);
    let run = [second, tally(7, 1, 1), half, tally(7, 1, 1), tally(1, 1, 1)].map(everywhere).to_vec();
    let rows = super::rows(&events, &NONE, &[run], SECOND, true);
    let metrics: Vec<f64> = rows.iter().map(|row| row.metric.as_ref().unwrap().value).collect();
    assert_eq!(metrics, [1.0, 7.0, 0.5, 14.0]);
}

#[test]
fn a_scale_makes_units() {
    let mut joules = EventSpec::raw(2);
    (joules.unit, joules.scale) = (Some("Joules".to_owned()), Some(0.25));
    let events = shown(&[EventSpec::software(SwId::TASK_CLOCK), joules]);
    let run = vec![everywhere(tally(1_234_567, 9, 9)), everywhere(tally(10, 9, 9))];
    let rows = rows(&events, &NONE, &[run], SECOND, true);
    assert_eq!(rows[0].status, counted(Value::Real(1.234567)));
    assert_eq!(rows[0].event.unit.as_deref(), Some("msec"));
    assert_eq!(rows[1].status, counted(Value::Real(2.5)));
    assert_eq!(rows[1].event.unit.as_deref(), Some("Joules"));
}

#[test]
fn runs_make_a_mean_of_those_that_counted() {
    let events = shown(&[EventSpec::software(SwId::PAGE_FAULTS)]);
    let runs = [tally(8, 10, 10), tally(12, 30, 30), tally(0, 20, 0)].map(|tally| vec![everywhere(tally)]);
    let rows = rows(&events, &NONE, &runs, SECOND, true);
    let Status::Counted { value, deviation_percent } = rows[0].status else { panic!("{rows:?}") };
    assert_eq!(value, Value::Real(10.0));
    // A variance of 8, so a standard error of 2.
    assert!((deviation_percent - 20.0).abs() < 1e-9, "{deviation_percent}");
    assert_eq!((rows[0].enabled, rows[0].running), (20, 13));
}

#[test]
fn metrics_are_of_the_same_place() {
    let events = shown(&[EventSpec::software(SwId::CPU_CLOCK), EventSpec::software(SwId::PAGE_FAULTS)]);
    let cpus = |tallies: [Tally; 2]| Some([Place::Cpu(0), Place::Cpu(3)].into_iter().zip(tallies).collect());
    let run = vec![
        cpus([tally(1_000_000_000, 1, 1), tally(500_000_000, 1, 1)]),
        cpus([tally(10, 1, 1), tally(10, 1, 1)]),
        None,
    ];
    let rows = rows(&events, &NONE, &[run], SECOND, true);
    let actual: Vec<_> =
        rows.iter().map(|row| (row.place, row.metric.as_ref().map(|metric| metric.value))).collect();
    assert_eq!(
        actual,
        [
            (Place::Cpu(0), Some(1.0)),
            (Place::Cpu(3), Some(0.5)),
            (Place::Cpu(0), Some(10.0)),
            (Place::Cpu(3), Some(20.0))
        ]
    );
}

#[test]
fn what_nothing_counts_has_a_row_for_every_place() {
    let events = shown(&[EventSpec::software(SwId::CPU_CLOCK), EventSpec::hardware(HwId::CPU_CYCLES)]);
    let clock = [(Place::Cpu(0), tally(1, 1, 1)), (Place::Cpu(1), tally(1, 1, 1))].into();
    let rows_of =
        |run| rows(&events, &NONE, &[run], SECOND, true).iter().map(|row| row.place).collect::<Vec<_>>();
    assert_eq!(
        rows_of(vec![Some(clock), None]),
        [Place::Cpu(0), Place::Cpu(1), Place::Cpu(0), Place::Cpu(1)]
    );
    assert_eq!(rows_of(vec![None, None]), [Place::Everywhere, Place::Everywhere]);
}

use core::time::Duration;

use serde_json::json;

use super::super::tests::{each, labelled};
use super::*;

const ONE: ReportedSpan = ReportedSpan::Whole { runs: 1 };

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_row_is_an_object_with_the_names_of_perf() {
    let rows: Vec<Json> = each(|event| row(event, ONE)).iter().map(|row| parsed(row)).collect();
    assert_eq!(
        rows,
        [
            json!({"counter-value": "1234.567800", "unit": "msec", "event": "task-clock",
                "event-runtime": 1_234_567_800_u64, "pcnt-running": 100.0,
                "metric-value": "0.987650", "metric-unit": "CPUs utilized"}),
            json!({"cpu": "3", "counter-value": "1234567.000000", "unit": "", "event": "page-faults", "cgroup": "a/b",
                "event-runtime": 200, "pcnt-running": 25.0}),
            json!({"thread": "sh-4321", "counter-value": "<not counted>", "unit": "", "event": "page-faults",
                "event-runtime": 0, "pcnt-running": 0.0}),
            json!({"counter-value": "<not supported>", "unit": "", "event": "cpu-cycles",
                "event-runtime": 0, "pcnt-running": 100.0}),
        ]
    );
    labelled(|rows| {
        assert!(row(&rows[3], ONE).starts_with(r#"{"socket":"S1","counters":2,"counter-value":"7.000000","#));
    });
}

#[test]
fn runs_and_intervals_add_members() {
    let rows = each(|event| row(event, ReportedSpan::Interval(Duration::from_millis(1500))));
    assert_eq!(parsed(&rows[0])["interval"], json!(1.5));
    let rows = each(|event| row(event, ReportedSpan::Whole { runs: 2 }));
    assert_eq!(parsed(&rows[0])["variance"], json!(1.25));
    assert_eq!(parsed(&rows[3])["variance"], json!(0.0));
    assert_eq!(parsed(&each(|event| row(event, ReportedSpan::Summary))[0]).get("interval"), None);
}

use super::super::tests::{each, two_runs};
use super::*;

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_row_is_an_object_with_every_member() {
    let rows: Vec<Json> = each(|event| row(event, None, 1)).iter().map(|row| parsed(row)).collect();
    assert_eq!(
        rows,
        [
            json!({"event": "task-clock", "status": "counted", "value": 1234.5678, "unit": "msec",
                "enabled_ns": 1_234_567_800_u64, "running_ns": 1_234_567_800_u64, "running_percent": 100.0,
                "metric": {"value": 0.98765, "unit": "CPUs utilized"}}),
            json!({"cpu": 3, "event": "page-faults", "status": "counted", "value": 1_234_567, "unit": null,
                "enabled_ns": 800, "running_ns": 200, "running_percent": 25.0, "metric": null}),
            json!({"thread": 4321, "event": "page-faults", "status": "not counted", "value": null, "unit": null,
                "enabled_ns": 800, "running_ns": 0, "running_percent": 0.0, "metric": null}),
            json!({"event": "cpu-cycles", "status": "not supported", "value": null, "unit": null,
                "enabled_ns": 0, "running_ns": 0, "running_percent": null, "metric": null}),
        ]
    );
}

#[test]
fn runs_and_intervals_add_members() {
    let rows = each(|event| row(event, Some(Duration::from_millis(1500)), 2));
    let rows: Vec<Json> = rows.iter().map(|row| parsed(row)).collect();
    assert_eq!((&rows[0]["interval_s"], &rows[0]["deviation_percent"]), (&json!(1.5), &json!(1.25)));
    assert!(rows[3].as_object().unwrap().contains_key("deviation_percent"), "{}", rows[3]);
    assert!(rows[3]["deviation_percent"].is_null());
}

#[test]
fn totals_are_means() {
    let expected = json!({"elapsed_s": 2.0, "runs": 2, "user_s": 0.6, "system_s": 0.02});
    assert_eq!(parsed(&totals(&two_runs())), expected);
    let one = Totals { elapsed: vec![0.25], cpu_times: Vec::new() };
    assert_eq!(totals(&one), "{\"elapsed_s\":0.25,\"runs\":1}\n");
}

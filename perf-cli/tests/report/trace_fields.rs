//! Fields of tracepoints as keys: their values are those of the samples, and their columns those of perf.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::arguments::fails;
use crate::{perfdata, report};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![rows_have_the_values_of_the_samples, columns_are_those_of_perf, other_words_are_no_keys,];

const CAPTURE: &str = "sched/switches.data";

/// Returns the number of samples of each value of a field, as the fields of samples have it.
fn counts_of_samples(event: &str, field: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in perfdata("script", CAPTURE, &["--format", "jsonl"]).out.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        if sample["event_name"] != event {
            continue;
        }
        let value = &sample["trace"][field];
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn rows_have_the_values_of_the_samples() {
    for (event, key, field) in [
        ("sched:sched_switch", "prev_comm", "prev_comm"),
        ("sched:sched_switch", "sched:sched_switch.next_pid", "next_pid"),
        ("sched:sched_switch", "sched_switch.prev_pid", "prev_pid"),
    ] {
        let output = report(CAPTURE, &["--format", "json", "--sort", key, "--event", event]).out;
        let document: Value = serde_json::from_str(&output).unwrap();
        let table = &document["tables"][0];
        assert_eq!(table["columns"][1], key);
        let of = |row: &Value| {
            (row[key].as_str().unwrap().to_owned(), row["self"][0]["samples"].as_u64().unwrap())
        };
        let rows: BTreeMap<_, _> = table["rows"].as_array().unwrap().iter().map(of).collect();
        let expected = counts_of_samples(event, field);
        assert!(expected.len() > 2, "{expected:?}");
        assert_eq!(rows, expected, "{key}");
    }
}

fn columns_are_those_of_perf() {
    let output =
        report(CAPTURE, &["--stdio", "--sort", "prev_pid,prev_state", "--event", "sched:sched_switch"]);
    // perf report -s prev_pid,prev_state of 6.1.
    assert!(
        output.out.contains(
            "\n# Overhead    prev_pid          prev_state\n# ........  ..........  ..................\n"
        ),
        "{}",
        output.out
    );
    let all = report(CAPTURE, &["--stdio", "--sort", "trace_fields", "--event", "sched:sched_switch"]).out;
    let names = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
    let heading = all.lines().find(|line| line.starts_with("# Overhead")).unwrap();
    let found: Vec<_> = heading.split_whitespace().filter(|word| names.contains(word)).collect();
    assert_eq!(found, names);
    let states =
        report(CAPTURE, &["--format", "json", "--sort", "prev_state", "--event", "sched:sched_switch"]).out;
    assert!(states.contains(r#""prev_state":"S""#), "as the text of the tracepoint has it: {states}");
}

fn other_words_are_no_keys() {
    fails(
        CAPTURE,
        &[
            (
                &["--sort", "prev_com"],
                "--sort prev_com: there is no such key, and no tracepoint of the capture has such a field",
            ),
            (
                &["--fields", "sched:sched_waking.prev_comm"],
                "--fields sched:sched_waking.prev_comm: there is no such key",
            ),
            (&["--sort", "a b!"], "b!: there is no such key; the keys are"),
        ],
    );
    fails(
        "captures/callchain.data",
        &[(&["--sort", "trace_fields"], "no tracepoint of the capture has such a field")],
    );
}

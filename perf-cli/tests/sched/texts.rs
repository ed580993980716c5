//! The texts that perf 6.1 and 7.2 print of a capture, and the same as JSON.

use serde_json::Value;

use crate::{SWITCHES, json, sched};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    perfs_texts_are_printed,
    json_has_the_switches_of_the_text,
    json_has_the_delays_of_the_text,
    json_has_the_map_of_the_text,
    versions_differ_in_states_and_delays,
];

fn perfs_texts_are_printed() {
    let options: [(&str, &[&str]); 3] =
        [("timehist", &["-w", "-n", "-M", "-V", "--state", "-S"]), ("latency", &["-p"]), ("map", &[])];
    for version in ["6.1", "7.2"] {
        for (verb, options) in options {
            let file = testdata::path("").parent().unwrap().join(format!("sched/{verb}.perf-{version}.txt"));
            let theirs = std::fs::read_to_string(file).unwrap();
            let run = sched(verb, SWITCHES, &[options, &["--perf-version", version]].concat());
            assert_eq!(run.status, 0, "{run:?}");
            assert!(run.out.lines().count() > 20, "{}", run.out);
            for (ours, theirs) in run.out.lines().zip(theirs.lines()) {
                assert_eq!(ours, theirs, "{verb} {version}");
            }
            assert_eq!(run.out, theirs, "{verb} {version}");
        }
    }
}

/// Microseconds of a text in milliseconds, such as `12.345`.
fn microseconds(text: &str) -> u64 {
    text.replace('.', "").parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn json_has_the_switches_of_the_text() {
    let text = sched("timehist", SWITCHES, &["--state"]).out;
    let document = json("timehist", SWITCHES, &[]);
    let events = document["events"].as_array().unwrap();
    let lines: Vec<_> = text.lines().skip(3).collect();
    assert_eq!(lines.len(), events.len());
    for (line, event) in lines.iter().zip(events) {
        let columns: Vec<_> = line.split_whitespace().rev().take(4).collect();
        let [state, run, delay, wait] = columns[..] else { panic!("{line}") };
        let time = |name: &str| event[name].as_u64().unwrap() / 1000;
        assert_eq!((time("run"), time("delay")), (microseconds(run), microseconds(delay)), "{line}");
        assert_eq!(time("wait"), microseconds(wait), "{line}");
        assert!(event["state"].as_str().unwrap().starts_with(state), "{line} {event}");
    }
    let runs = |value: &Value| value["runs"].as_u64().unwrap();
    let sums = document["threads"].as_array().unwrap();
    assert!(!sums.is_empty() && sums.iter().map(runs).sum::<u64>() <= events.len() as u64);
}

fn json_has_the_delays_of_the_text() {
    let text = sched("latency", SWITCHES, &["-p"]).out;
    let document = json("latency", SWITCHES, &["-p"]);
    let rows = document["rows"].as_array().unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains(" avg:")).collect();
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(rows) {
        let switches: u64 = line.split('|').nth(2).unwrap().trim().parse().unwrap();
        assert_eq!(row["switches"].as_u64(), Some(switches), "{line}");
        let start = line.split("max start:").nth(1).unwrap().trim().split(' ').next().unwrap();
        assert_eq!(row["max_delay_start"].as_u64().unwrap() / 1000, microseconds(start), "{line}");
    }
}

fn json_has_the_map_of_the_text() {
    let text = sched("map", SWITCHES, &[]).out;
    let document = json("map", SWITCHES, &[]);
    let switches = document["switches"].as_array().unwrap();
    assert_eq!(text.lines().count(), switches.len());
    for (line, switch) in text.lines().zip(switches) {
        let cpu = &switch["cpus"][switch["cpu"].as_u64().unwrap() as usize];
        let name = cpu["runs"]["name"].as_str().unwrap();
        assert!(line.contains(&format!("*{name}")), "{line} {switch}");
        assert_eq!(line.contains("=>"), !switch["named"].is_null(), "{line}");
    }
}

/// Linux 6.1's perf has the letters of old kernels, and no delay after a preemption.
fn versions_differ_in_states_and_delays() {
    let rows = |version| -> Vec<(char, u64)> {
        let run = sched("timehist", SWITCHES, &["--state", "--perf-version", version]);
        let row = |line: &str| {
            let mut columns = line.split_whitespace().rev();
            let state = columns.next().unwrap().chars().next().unwrap();
            (state, microseconds(columns.nth(1).unwrap()))
        };
        run.out.lines().skip(3).map(row).collect()
    };
    let (old, new) = (rows("6.1"), rows("7.2"));
    assert_eq!(old.len(), new.len());
    let letters = [('K', 'I'), ('X', 'Z')];
    for (&(old, _), &(new, _)) in old.iter().zip(&new) {
        assert!(old == new || letters.contains(&(old, new)), "{old} {new}");
    }
    assert!(letters.iter().all(|letters| old.iter().zip(&new).any(|(old, new)| (old.0, new.0) == *letters)));
    let delays = |rows: &[(char, u64)]| rows.iter().map(|(_, delay)| delay).sum::<u64>();
    assert!(delays(&old) < delays(&new));
}

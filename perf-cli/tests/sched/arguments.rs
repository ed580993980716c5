//! Wrong arguments, and their errors.

use std::process::Command;

use crate::{SWITCHES, sched};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    wrong_values_are_named,
    verbs_of_perf_are_refused_by_name,
    options_of_perf_that_change_nothing_are_accepted,
    captures_without_switches_are_refused,
];

fn wrong_values_are_named() {
    let cases: [(&str, &[&str], &str); 7] = [
        ("timehist", &["--time", "x"], "--time x: a start and an end"),
        ("timehist", &["--time", "2,1"], "--time 2,1"),
        ("timehist", &["--cpu", "3-1"], "--cpu 3-1: numbers and ranges"),
        ("timehist", &["--cpu", "4096"], "--cpu 4096"),
        ("timehist", &["-s", "-w"], "cannot be used with"),
        ("latency", &["--sort", "size"], "size: no such key; use runtime"),
        ("map", &["--cpus", "a"], "--cpus a"),
    ];
    for (verb, args, said) in cases {
        let run = sched(verb, SWITCHES, args);
        assert!(run.status == 1 && run.err.contains(said), "{verb} {args:?}: {run:?}");
    }
}

fn verbs_of_perf_are_refused_by_name() {
    for (verb, instead) in [
        ("record", "perfdata record --sched"),
        ("script", "perfdata script"),
        ("replay", "perf"),
        ("stats", "perf"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_perfdata"))
            .args(["sched", verb, "--option", "x"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(verb) && said.contains(instead), "{said}");
        assert_eq!(output.status.code(), Some(1));
    }
}

fn options_of_perf_that_change_nothing_are_accepted() {
    let plain = sched("timehist", SWITCHES, &[]).out;
    assert_eq!(sched("timehist", SWITCHES, &["-f", "-v", "-g"]).out, plain);
    assert_eq!(sched("timehist", SWITCHES, &["--no-call-graph"]).out, plain);
}

fn captures_without_switches_are_refused() {
    for verb in ["timehist", "latency", "map"] {
        let run = sched(verb, "captures/plain.data", &[]);
        assert!(run.status == 1 && run.err.contains("sched:sched_switch"), "{verb}: {run:?}");
    }
}

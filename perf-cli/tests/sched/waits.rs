//! `perfdata sched waits`: its sums.

use serde_json::Value;

use crate::{SWITCHES, json, sched};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    the_times_of_a_thread_are_its_life,
    groups_have_the_times_of_their_threads,
    causes_add_up_to_the_waits,
    switch_records_alone_are_enough,
];

const TIMES: [&str; 4] = ["running", "runnable", "blocked", "stopped"];

fn time(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name}: {value}"))
}

fn groups(args: &[&str]) -> Vec<Value> {
    json("waits", SWITCHES, &[&["--limit", "100000"], args].concat())["groups"].as_array().unwrap().clone()
}

/// What a thread does at each moment is one of the kinds: their sum is its life within 1 %.
fn the_times_of_a_thread_are_its_life() {
    let groups = groups(&[]);
    assert!(groups.len() > 10);
    // The recorder ran already when the recording began, so that a switch to it is missing.
    for group in groups.into_iter().filter(|group| group["name"] != "perf") {
        let sum: u64 = TIMES.iter().map(|name| time(&group, name)).sum();
        let life = time(&group, "lifetime");
        assert!(sum.abs_diff(life) * 100 <= life, "{sum} {life}: {group}");
    }
}

fn groups_have_the_times_of_their_threads() {
    let all = |by: &str, name: &str| groups(&["--by", by]).iter().map(|it| time(it, name)).sum::<u64>();
    for name in TIMES {
        let of_threads = all("thread", name);
        for by in ["process", "comm", "cgroup"] {
            assert_eq!(all(by, name), of_threads, "{by} {name}");
        }
    }
    assert!(all("thread", "running") > 0 && all("thread", "runnable") > 0);
    assert_eq!(groups(&["--by", "cgroup"]).len(), 1, "the capture has no cgroups");
}

fn causes_add_up_to_the_waits() {
    let mut preempted = 0;
    for group in groups(&["--details", "--no-symbols"]) {
        let stolen: u64 = group["stolen_by"].as_array().unwrap().iter().map(|it| time(it, "time")).sum();
        assert!(stolen <= time(&group, "runnable"), "{group}");
        preempted += time(&group["preempted"], "count");
        let of_wakers: u64 = group["wakers"].as_array().unwrap().iter().map(|it| time(it, "count")).sum();
        let ended: u64 =
            group["states"].as_array().unwrap().iter().map(|it| time(&it["times"], "count")).sum();
        assert!(of_wakers <= ended, "{group}");
        let delays = &group["wakeup_to_run"];
        let order: Vec<_> =
            ["min", "p50", "p90", "p99", "max"].iter().map(|name| time(delays, name)).collect();
        assert!(order.is_sorted(), "{delays}");
    }
    assert!(preempted > 0);
}

fn switch_records_alone_are_enough() {
    let document = json("waits", "captures/switch.data", &[]);
    assert_eq!(document["has_states"], false);
    let groups = document["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| time(group, "running") > 0), "{document}");
    let run = sched("waits", "captures/switch.data", &[]);
    assert!(run.err.contains("does not have wake-ups"), "{}", run.err);
    let run = sched("waits", "captures/plain.data", &[]);
    assert!(run.status == 1 && run.err.contains("sched:sched_switch"), "{run:?}");
}

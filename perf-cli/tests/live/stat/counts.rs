//! The counts.

use std::io::Read;
use std::process::{Command, Stdio};

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    page_faults_grow_with_what_is_touched,
    a_group_is_counted_at_the_very_same_times,
    children_are_counted_unless_they_are_left_out,
    what_the_machine_lacks_is_told_and_the_rest_is_counted,
    intervals_add_up,
    runs_are_repeated,
    every_cpu_has_a_line,
    a_process_that_runs_is_counted_until_it_ends,
];

fn page_faults_grow_with_what_is_touched() {
    // The kernel writes to the buffer of dd.
    needs::all(&[needs::Need::KernelEvents]);
    let huge = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if huge.contains("[always]") {
        needs::skip("small-pages", "transparent huge pages are always used");
    }
    // dd reads into a buffer of one block, and touches each of its pages.
    let faults = |block: &str| {
        let command =
            ["-e", "minor-faults", "dd", "if=/dev/zero", "of=/dev/null", "count=1", "status=none", block];
        value(&json(&command), 0)
    };
    let (small, large) = (faults("bs=1M"), faults("bs=9M"));
    // 8 MiB are 2048 pages of 4 KiB, 512 of 16 KiB, 128 of 64 KiB.
    let grown = large.saturating_sub(small);
    assert!((128..=2100).contains(&grown), "{small} and {large}");
}

fn a_group_is_counted_at_the_very_same_times() {
    let lines = json(&["-e", "{page-faults,faults,minor-faults,major-faults}", "true"]);
    let counts: Vec<u64> = (0..4).map(|index| value(&lines, index)).collect();
    assert!(counts[0] > 0, "{counts:?}");
    assert_eq!((counts[0], counts[0]), (counts[1], counts[2] + counts[3]), "{counts:?}");
    for line in &lines {
        assert_eq!(line["event-runtime"], lines[0]["event-runtime"], "{lines:?}");
        assert_eq!(line["pcnt-running"], 100.0, "{lines:?}");
    }
}

fn children_are_counted_unless_they_are_left_out() {
    needs::all(&[needs::Need::Sysfs]);
    let forks = ["--", "sh", "-c", "ls / >/dev/null; ls / >/dev/null; ls / >/dev/null; true"];
    let with = value(&json(&[&["-e", "faults"], &forks[..]].concat()), 0);
    let without = value(&json(&[&["-e", "faults", "-i"], &forks[..]].concat()), 0);
    let by_term = value(&json(&[&["-e", "software/config=2,no-inherit/"], &forks[..]].concat()), 0);
    assert!(with > without + 100 && without > 0, "{with} and {without}");
    assert!(with > by_term + 100 && by_term > 0, "{with} and {by_term}");
}

fn status_of(line: &Value) -> &str {
    match line["counter-value"].as_str().unwrap() {
        "<not counted>" => "not counted",
        "<not supported>" => "not supported",
        _ => "counted",
    }
}

fn what_the_machine_lacks_is_told_and_the_rest_is_counted() {
    needs::all(&[needs::Need::NoHardware]);
    let lines = json(&["true"]);
    let told: Vec<_> = lines.iter().map(|line| (line["event"].as_str().unwrap(), status_of(line))).collect();
    let lacking = ["cycles", "instructions", "branches", "branch-misses"];
    assert_eq!(told[4..], lacking.map(|name| (name, "not supported")));
    let counted = ["task-clock", "context-switches", "cpu-migrations", "page-faults"];
    let counted = counted.map(|name| format!("{name}{}", needs::modifier()));
    assert_eq!(told[..4], counted.each_ref().map(|name| (&**name, "counted")));
    assert_eq!(lines[0]["metric-unit"], "CPUs utilized");
    assert!(lines[4]["event-runtime"] == 0 && lines[4].get("metric-value").is_none(), "{}", lines[4]);
    // A member is left out of its group. Without its leader, a group is not counted. A weak group is broken up.
    let status = |events: &str| {
        let lines = json(&["-e", events, "true"]);
        lines.iter().map(|line| status_of(line).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(status("{faults,cycles}"), ["counted", "not supported"]);
    assert_eq!(status("{cycles,faults}"), ["not supported", "not supported"]);
    assert_eq!(status("{cycles,faults}:W"), ["not supported", "counted"]);
    let text = stat(["-e", "cycles", "true"]);
    assert!(text.err.contains("   <not supported>  cycles\n") && text.status == 0, "{text:?}");
}

fn intervals_add_up() {
    let script = "ls / >/dev/null; sleep 0.5; ls / >/dev/null";
    let both = json(&["-e", "faults,duration_time", "-I", "100", "--", "sh", "-c", script]);
    let (lines, durations): (Vec<Value>, Vec<Value>) =
        both.into_iter().partition(|line| line["event"] != "duration_time");
    assert!(lines.len() >= 3, "{lines:?}");
    let times: Vec<f64> = lines.iter().map(|line| line["interval"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] >= 0.1 && times[1] >= 0.2, "{times:?}");
    let elapsed: f64 = durations.iter().map(|line| real(line) / 1e9).sum();
    assert!((elapsed - times.last().unwrap()).abs() < 1e-6, "{elapsed} of {times:?}");
    // While it slept, it was not on a CPU.
    let value_of = |line: &Value| line["counter-value"].as_str().and_then(|value| value.parse::<f64>().ok());
    assert!(lines.iter().any(|line| value_of(line).unwrap_or(0.0) == 0.0), "{lines:?}");
    let sum = lines.iter().filter_map(value_of).sum::<f64>() as u64;
    let whole = value(&json(&["-e", "faults", "--", "sh", "-c", script]), 0);
    assert!(sum.abs_diff(whole) <= whole / 10, "{sum} in intervals, {whole} at once");
}

fn runs_are_repeated() {
    let file = needs::folder().join("repeat");
    let script = format!("echo run >> {}", file.display());
    let lines = json(&["-e", "faults", "-r", "3", "--", "sh", "-c", &script]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "run\nrun\nrun\n");
    assert!(real(&lines[0]) > 10.0, "{lines:?}");
    assert!(lines[0]["variance"].as_f64().unwrap() < 20.0, "{lines:?}");
    let text = stat(["-e", "faults", "-r", "2", "true"]);
    assert!(text.err.contains("for 'true' (2 runs):") && text.err.contains(" +- "), "{text:?}");
}

fn every_cpu_has_a_line() {
    needs::all(&[needs::Need::CpuEvents, needs::Need::Sysfs]);
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let online = perf_open::pmu::parse_cpus(&online).unwrap();
    let mut lines = json(&["-a", "-A", "-e", "cpu-clock,page-faults,duration_time", "sleep", "0.1"]);
    let elapsed = real(&lines.pop().unwrap()) / 1e9;
    let cpus: Vec<&str> = lines.iter().map(|line| line["cpu"].as_str().unwrap()).collect();
    let expected: Vec<String> = online.iter().chain(&online).map(u32::to_string).collect();
    assert_eq!(cpus, expected);
    for line in &lines[..online.len()] {
        // The clock of a CPU is the wall clock.
        let seconds = real(line) / 1000.0;
        assert!((seconds - elapsed).abs() < 0.3 * elapsed, "{seconds} s of {elapsed} s");
    }
    let one = online[0].to_string();
    let lines = json(&["-C", &one, "-e", "cpu-clock", "sleep", "0.05"]);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].get("cpu").is_none() && real(&lines[0]) >= 50.0, "{lines:?}");
}

fn a_process_that_runs_is_counted_until_it_ends() {
    let script = "read line; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
    let mut child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
    let pid = child.id().to_string();
    let mut counting = spawn(&["-p", &pid, "--per-thread", "-e", "task-clock", "--json", "-I", "50"]);
    let (first, mut rest) = counted(&mut counting);
    // Its counter is open by now.
    drop(child.stdin.take());
    child.wait().unwrap();
    let mut text = first;
    rest.read_to_string(&mut text).unwrap();
    assert!(counting.wait().unwrap().success());
    let lines = objects(&text);
    let thread = format!("sh-{pid}");
    assert!(lines.iter().all(|line| line["thread"] == thread.as_str()), "{lines:?}");
    let milliseconds: f64 = lines.iter().filter(|line| status_of(line) == "counted").map(real).sum();
    assert!(milliseconds > 1.0, "{lines:?}");
}

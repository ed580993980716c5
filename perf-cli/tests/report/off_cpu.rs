//! Times: off the CPU, and of threads.

use std::path::Path;

use serde_json::Value;

use crate::made::Made;
use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    a_thread_waits_at_the_stack_of_its_last_sample,
    selected_threads_alone_are_counted,
    a_wait_without_an_end_is_reported,
    a_capture_without_switches_is_refused,
    a_capture_without_wakers_is_refused,
    a_timeline_has_all_samples,
];

/// The threads 5 and 6, which leave the CPU for 1,000 and 3 microseconds, and 6 for another 20.
fn made() -> Made {
    Made::new()
        .with_switches()
        .sample(5, 1, &[0x10, 0x20])
        .sample(6, 1, &[0x30])
        .switch(5, true)
        .switch(6, true)
        .wait(1)
        .switch(6, false)
        .sample(6, 1, &[0x40])
        .wait(995)
        .switch(5, false)
        .switch(6, true)
        .wait(19)
        .switch(6, false)
}

/// Returns the address, the samples and the period of each row.
fn rows(path: &Path, args: &[&str]) -> Vec<(String, u64, u64)> {
    let common = ["--off-cpu", "--no-children", "--sort", "sym", "--format", "json", "--no-symbols"];
    let run = report(path.to_str().unwrap(), &[&common, args].concat());
    assert_eq!((run.status, &*run.err), (0, ""));
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 1, "of samples on the CPU there is no table");
    assert_eq!(tables[0]["name"], "off-cpu");
    let row = |row: &Value| {
        let number = |name: &str| row["self"][0][name].as_u64().unwrap();
        (row["address"].to_string(), number("samples"), number("period"))
    };
    tables[0]["rows"].as_array().unwrap().iter().map(row).collect()
}

fn a_thread_waits_at_the_stack_of_its_last_sample() {
    let path = made().file("waits");
    let rows = rows(&path, &[]);
    let counted: Vec<_> = rows.iter().map(|(_, samples, period)| (*samples, *period)).collect();
    // A record is a microsecond after the one before it.
    assert_eq!(counted, [(1, 1_000_000), (1, 20_000), (1, 2_000)], "{rows:?}");
    let folded = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"))
        .args(["fold", "--off-cpu", "--root", "tid", "--no-symbols"])
        .arg(&path)
        .output()
        .unwrap();
    let lines = ":5-5/5;[unknown];[unknown] 1000000\n:6-6/6;[unknown] 22000\n";
    assert_eq!(String::from_utf8(folded.stdout).unwrap(), lines);
}

fn selected_threads_alone_are_counted() {
    let rows = rows(&made().file("selected"), &["--tid", "6"]);
    let sum: u64 = rows.iter().map(|row| row.2).sum();
    assert_eq!(sum, 22_000);
}

fn a_wait_without_an_end_is_reported() {
    let path = made().switch(5, true).file("endless");
    let run = report(path.to_str().unwrap(), &["--off-cpu"]);
    assert_eq!(run.status, 0);
    assert!(
        run.err.contains("threads whose last wait is not counted") && run.err.contains(": 1\n"),
        "{}",
        run.err
    );
}

fn a_capture_without_switches_is_refused() {
    let run = report(Made::new().sample(5, 1, &[0x10]).file("none").to_str().unwrap(), &["--off-cpu"]);
    assert_eq!((run.status, &*run.out), (1, ""));
    assert!(run.err.contains("--off-cpu: ") && run.err.contains("--switch-events"), "{}", run.err);
}

fn a_capture_without_wakers_is_refused() {
    let path = made().file("nobody");
    for (args, said) in [
        (
            &["--off-cpu", "--wakers"][..],
            "--wakers: the capture does not tell who woke threads up; record with",
        ),
        (&["--off-cpu", "--wakers", "0"], "--wakers"),
        (&["--wakers"], "--off-cpu"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let run = command.arg("fold").arg(&path).args(args).output().unwrap();
        let errors = String::from_utf8(run.stderr).unwrap();
        assert!(!run.status.success() && run.stdout.is_empty() && errors.contains(said), "{errors}");
    }
}

fn a_timeline_has_all_samples() {
    for capture in ["captures/callchain.data", "captures/system_wide.data", "captures/group_read.data"] {
        let run = report(capture, &["--timeline"]);
        assert_eq!((run.status, &*run.err), (0, ""), "{capture}");
        let rows = || run.out.lines().filter(|line| line.starts_with("  "));
        let listed: u64 = rows()
            .map(|row| {
                let (head, strip) = row.split_once(" |").unwrap();
                assert_eq!(strip.chars().count(), 101, "{row}");
                assert!(strip.trim_end_matches('|').chars().any(|it| it != ' '), "{row}");
                head.split_whitespace().next_back().unwrap().parse::<u64>().unwrap()
            })
            .sum();
        let headings = run.out.lines().filter_map(|line| line.split_once(" samples, ")?.0.rsplit(' ').next());
        let all: u64 = headings.map(|count| count.parse::<u64>().unwrap()).sum();
        assert!(listed > 0 && listed == all, "{capture}: {listed} {all}");
    }
    // The thread 5 has a sample at the start of some 20 ms, 6 also at their end.
    let path =
        Made::new().sample(5, 1, &[1]).sample(6, 1, &[1]).wait(20_000).sample(6, 1, &[1]).file("strip");
    let out = report(path.to_str().unwrap(), &["--timeline"]).out;
    let strips: Vec<_> = out.lines().filter_map(|line| Some(line.split_once(" |")?.1)).collect();
    assert_eq!(strips, [format!("█{}█|", " ".repeat(98)), format!("█{}|", " ".repeat(99))]);
}

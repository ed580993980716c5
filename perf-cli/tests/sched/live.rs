//! Captures of this machine: `perfdata sched` against the installed perf.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{json, sched};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![perf_prints_the_same, record_has_what_is_needed, a_commands_threads_are_whole];

fn run(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let output =
        command.args(args).current_dir(needs::folder()).env("PERF_CONFIG", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compares all verbs with perf on a capture, by the script of the goldens.
fn compare(perf: &str, capture: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/sched.sh");
    let mut command = Command::new("bash");
    command.arg(script).args([env!("CARGO_BIN_EXE_perfdata"), perf]).arg(capture);
    let output = command.env("PERF_CONFIG", "/dev/null").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("same: 0,"), "{said}");
}

/// The work of a recording: processes that start, wait for each other and end.
const WORK: &str = "for i in 1 2 3; do echo $i | cat | wc -c; done; sleep 0.01";

fn perf_prints_the_same() {
    needs::all(&[needs::Need::PERF, needs::Need::Tracepoints, needs::Need::CpuEvents]);
    needs::all(&[needs::Need::Runs(&["bash", "--version"])]);
    run("perf", &["sched", "record", "-q", "-o", "sched.data", "--", "sh", "-c", WORK]);
    let capture = needs::folder().join("sched.data");
    compare("perf", &capture);
    let newer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/packages/perf");
    if newer.exists() {
        compare(newer.to_str().unwrap(), &capture);
    }
}

fn recorded(args: &[&str], script: &str) -> PathBuf {
    let work = ["-o", "own.data", "--", "sh", "-c", script];
    run(env!("CARGO_BIN_EXE_perfdata"), &[&["record", "--sched", "-q"], args, &work].concat());
    needs::folder().join("own.data")
}

fn record_has_what_is_needed() {
    needs::all(&[needs::Need::Tracepoints, needs::Need::CpuEvents]);
    needs::all(&[needs::Need::Runs(&["taskset", "--version"])]);
    // On one CPU, each command of a pipe waits for the one before. Where a CPU was idle, some kernels do not trace that it ends.
    let pin = "cpu=$(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/'); taskset -cp $cpu $$ >/dev/null;";
    let capture = recorded(&["-a", "-g"], &format!("{pin} {WORK}"));
    let capture = capture.to_str().unwrap();
    for verb in ["timehist", "latency", "map"] {
        let run = sched(verb, capture, &[]);
        // A process may end before its new name is printed.
        assert!(run.status == 0 && run.out.contains("sh"), "{verb}: {run:?}");
    }
    let document = json("waits", capture, &["--details", "-c", "sleep,cat,wc", "--limit", "1000"]);
    assert_eq!((&document["has_wakeups"], &document["has_states"]), (&true.into(), &true.into()));
    let groups = document["groups"].as_array().unwrap();
    let has =
        |name: &str| groups.iter().any(|group| group[name].as_array().is_some_and(|list| !list.is_empty()));
    assert!(has("waits") && has("wakers") && has("states"), "{document}");
}

/// Without -a, there are no switches from other threads. SWITCH records tell when a thread is back.
fn a_commands_threads_are_whole() {
    needs::all(&[needs::Need::Tracepoints, needs::Need::Events]);
    let capture = recorded(&[], WORK);
    let document = json("waits", capture.to_str().unwrap(), &["--limit", "1000"]);
    let time = |group: &serde_json::Value, name: &str| group[name].as_u64().unwrap();
    let groups = document["groups"].as_array().unwrap();
    let slept = groups.iter().filter(|group| group["name"] == "sleep").map(|group| time(group, "blocked"));
    assert!(slept.max() >= Some(9_000_000), "{document}");
    // Threads that are not recorded are seen when they are woken up, and no record has their process.
    for group in groups.iter().filter(|group| group["pid"] != -1) {
        let sum: u64 =
            ["running", "runnable", "blocked", "stopped"].iter().map(|name| time(group, name)).sum();
        let life = time(group, "lifetime");
        assert!(sum.abs_diff(life) * 100 <= life, "{sum} {life}: {group}");
    }
}

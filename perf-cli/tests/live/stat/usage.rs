//! Errors in a command line are reported, and nothing is run.

use std::path::Path;

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    an_unknown_event_is_told_with_the_closest,
    what_cannot_be_counted_is_told,
    what_makes_no_sense_together_is_refused,
    options_behind_the_command_are_its_own,
    without_privilege_user_space_alone_is_counted,
];

fn fails(args: &[&str], why: &str) {
    let run = stat(args);
    assert_eq!((run.status, &*run.out), (1, ""), "{args:?}: {}", run.err);
    assert!(run.err.contains(why), "{args:?}: {:?} does not say {why:?}", run.err);
}

fn an_unknown_event_is_told_with_the_closest() {
    fails(&["-e", "page-fauts", "true"], "perfdata: at byte 0: no event `page-fauts`; closest: page-faults");
    fails(&["-e", "cycles:u,nosuch:event", "true"], "cycles:u,nosuch:event\n         ^");
    fails(&["-e", "{cycles,faults", "true"], "expected");
    fails(&["-e", "cycles:b", "true"], "the modifier b is not supported");
    fails(&["-e", "faults/period=5/", "true"], "faults/period=5/: the term period is about samples");
}

fn what_cannot_be_counted_is_told() {
    needs::all(&[needs::Need::Events, needs::Need::Sysfs]);
    fails(&["no-such-command-anywhere"], "no folder of PATH contains no-such-command-anywhere");
    fails(&["-p", "4194305"], "process 4194305: No such file");
    fails(&["-t", "4194305", "-e", "faults"], "there is no such thread");
    fails(&["-C", "65000", "true"], "CPU 65000 does not exist");
    fails(&["-C", "x", "true"], "--cpu x: ");
    fails(&["--", "/nonexist"], "/nonexist: execve: ENOENT");
    fails(&["--pre", "exit 3", "true"], "--pre exit 3: exit status: 3");
    fails(&["-a", "--for-each-cgroup", "no-such-cgroup", "-e", "cs", "true"], "cgroup no-such-cgroup: ");
    fails(&["-o", "/no-such-folder/file", "true"], "/no-such-folder/file: ");
}

fn what_makes_no_sense_together_is_refused() {
    fails(&["-A", "true"], "--no-aggr needs -a or -C");
    fails(&["--per-thread", "true"], "--per-thread needs -p, -t or -a");
    fails(&["-a", "-p", "1"], "cannot be used with");
    fails(&["-I", "100", "-r", "3", "true"], "cannot be used with");
    fails(&["-x,", "--json", "true"], "cannot be used with");
    fails(&["-I", "0", "true"], "'0'");
    fails(&["-e", "cs", "record", "true"], "stat record: options follow record");
    fails(&["-n", "report"], "give its path: ./report");
    fails(&["record", "-r", "2", "true"], "stat record: a capture has one run");
    fails(&["record", "-a", "-G", "/", "-e", "cs", "true"], "does not name cgroups");
    fails(&["record", "-e", "duration_time", "true"], "is not an event of the kernel");
    fails(&["--per-socket", "true"], "--per-socket and the like need -a or -C");
    fails(&["-G", "a", "true"], "--cgroup needs -a or -C");
    fails(&["--for-each-cgroup", "a", "true"], "--for-each-cgroup needs -a or -C");
    fails(&["-a", "-G", "a,b", "-e", "cs,cs,cs", "true"], "--cgroup: 2 cgroups for 3 events");
    fails(
        &["-a", "-G", "a,b", "-e", "{cs,faults}", "true"],
        "the events of a group must have the same cgroup",
    );
    fails(&["--filter", "x", "-e", "faults", "true"], "--filter x: must follow the -e of a tracepoint");
    fails(&["-e", "faults", "--filter", "x", "true"], "--filter x: faults is not a tracepoint");
    fails(&["--append", "true"], "--output");
    fails(&["--interval-count", "3", "true"], "--interval-print");
    fails(&["--all-user", "--all-kernel", "true"], "cannot be used with");
    fails(&["--control", "fd:x", "true"], "must be fd:N");
    fails(&["--per-cache=L9", "-a", "true"], "must be LLC or L1 to L4");
    fails(&["-D", "-2", "true"], "-2");
    fails(&["-r", "2", "-a"], "<COMMAND>");
}

fn options_behind_the_command_are_its_own() {
    needs::all(&[needs::Need::Events]);
    let run = stat(["sh", "-c", "echo $1", "sh", "-a", "--json"]);
    assert_eq!((run.status, &*run.out), (0, "-a\n"), "{run:?}");
}

/// Returns the command `perfdata stat` as an ordinary user who may count only user space. Skips the test if there is
/// none.
fn as_ordinary_user() -> Command {
    needs::all(&[needs::Need::Events, needs::Need::OrdinaryUser]);
    match perf_open::limits::paranoid() {
        Ok(2..) => {}
        level => needs::skip("paranoid-2", &format!("perf_event_paranoid is {level:?}")),
    }
    let perfdata = || needs::as_ordinary_user(Path::new(env!("CARGO_BIN_EXE_perfdata")));
    let version = perfdata().arg("--version").output().unwrap();
    if !version.status.success() {
        needs::skip("ordinary-user", "others may not run what is built here");
    }
    let mut command = perfdata();
    command.arg("stat");
    command
}

fn without_privilege_user_space_alone_is_counted() {
    let output = as_ordinary_user()
        .args(["--json", "-e", "faults,{minor-faults,faults:u},cycles", "true"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let lines = objects(&text);
    let names: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(names[..3], ["faults:u", "minor-faults:u", "faults:u"]);
    assert!(names[3].starts_with("cycles") && lines[3]["counter-value"] != "<not counted>", "{text}");
    assert!(value(&lines, 0) > 0, "{text}");
    // Without the kernel, a kernel-only event counts nothing.
    let output = as_ordinary_user().args(["-e", "faults:k", "true"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("perfdata: faults:k: perf_event_open: EACCES (13): "), "{error}");
}

//! Against `perf stat`, where it is installed.

use super::*;

/// The count that `perf stat` tells of an event of a command; `None`, said on standard error, where it tells none.
fn by_perf(event: &str, command: &[&str]) -> Option<u64> {
    let output = Command::new("perf").args(["stat", "-x", ",", "-e", event, "--"]).args(command).output();
    let output = output.map_err(|error| eprintln!("not tested: the same as perf: {error}")).ok()?;
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find(|line| line.split(',').nth(2) == Some(event));
    let count = line.and_then(|line| line.split(',').next()?.parse().ok());
    if count.is_none() {
        eprintln!("not tested: the same as perf: perf says {text:?}");
    }
    count
}

#[test]
fn calls_of_a_system_call_are_as_many_as_are_made() {
    const EVENT: &str = "syscalls:sys_enter_chdir";
    if !may_count(&Target::this_thread(), EVENT, "tracepoints") {
        return;
    }
    let script = "i=0; while [ $i -lt 321 ]; do cd /; i=$((i + 1)); done";
    let command = ["sh", "-c", script];
    let ours = value(&json(&[&["-e", EVENT, "--"], &command[..]].concat()).0, 0);
    assert_eq!(ours, 321);
    if let Some(perfs) = by_perf(EVENT, &command) {
        assert_eq!(ours, perfs);
    }
}

#[test]
fn an_exec_is_one_and_what_leads_there_is_not_counted() {
    // The child's own execve is entered before the counting, and left within it.
    let events = "syscalls:sys_enter_execve,syscalls:sys_exit_execve";
    if !may_count(&Target::this_thread(), events, "tracepoints") {
        return;
    }
    let lines = json(&["-e", events, "true"]).0;
    assert_eq!((value(&lines, 0), value(&lines, 1)), (0, 1));
    for (index, event) in events.split(',').enumerate() {
        if let Some(perfs) = by_perf(event, &["true"]) {
            assert_eq!(value(&lines, index), perfs, "{event}");
        }
    }
}

#[test]
fn page_faults_are_about_as_many() {
    if !may_count(&Target::this_thread(), "page-faults", "counting") {
        return;
    }
    let command = ["sh", "-c", "ls / >/dev/null"];
    let ours = value(&json(&[&["-e", "page-faults", "--"], &command[..]].concat()).0, 0);
    if let Some(perfs) = by_perf("page-faults", &command) {
        assert!(ours.abs_diff(perfs) <= perfs / 10, "{ours}, perf: {perfs}");
    }
}

#[test]
fn columns_are_those_of_perf() {
    if !may_count(&Target::this_thread(), "page-faults", "counting") {
        return;
    }
    let columns = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        lines.collect()
    };
    let events = "task-clock,context-switches,page-faults";
    let ours = stat(["-x,", "-r", "2", "-e", events, "true"]);
    assert_eq!((ours.status, &*ours.err), (0, ""));
    let ours = columns(&ours.out);
    assert_eq!(ours.len(), 3);
    let Ok(perf) = Command::new("perf").args(["stat", "-x,", "-r", "2", "-e", events, "true"]).output()
    else {
        return eprintln!("not tested: the columns of perf, which is not installed");
    };
    let perfs = columns(&String::from_utf8(perf.stderr).unwrap());
    for (ours, perfs) in ours.iter().zip(&perfs) {
        assert_eq!((ours.len(), &ours[1..3]), (perfs.len(), &perfs[1..3]), "{ours:?}, perf: {perfs:?}");
        assert!(ours[3].ends_with('%') && perfs[3].ends_with('%'), "{ours:?}, perf: {perfs:?}");
        assert_eq!(ours[5], perfs[5], "{ours:?}, perf: {perfs:?}");
    }
    assert_eq!(ours[0][7], perfs[0][7]);
}

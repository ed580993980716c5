//! Comparison with the installed `perf stat`.

use super::*;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    calls_of_a_system_call_are_as_many_as_are_made,
    an_exec_is_one_and_what_leads_there_is_not_counted,
    page_faults_are_about_as_many,
    columns_are_those_of_perf,
    names_in_json_are_those_of_perf,
];

/// Returns the count that `perf stat` prints for an event of a command.
fn by_perf(event: &str, command: &[&str]) -> u64 {
    needs::all(&[needs::Need::PERF]);
    let output = Command::new("perf").args(["stat", "-x", ",", "-e", event, "--"]).args(command).output();
    let text = String::from_utf8(output.unwrap().stderr).unwrap();
    // If the kernel may not be counted, perf shows that in the name.
    let is_of_event = |line: &&str| {
        line.split(',').nth(2).is_some_and(|name| name.strip_suffix(":u").unwrap_or(name) == event)
    };
    let line = text.lines().find(is_of_event);
    let count = line.and_then(|line| line.split(',').next()?.parse().ok());
    count.unwrap_or_else(|| panic!("perf stat -e {event}: {text}"))
}

fn calls_of_a_system_call_are_as_many_as_are_made() {
    needs::all(&[needs::Need::Tracepoints]);
    const EVENT: &str = "syscalls:sys_enter_chdir";
    let script = "i=0; while [ $i -lt 321 ]; do cd /; i=$((i + 1)); done";
    let command = ["sh", "-c", script];
    let ours = value(&json(&[&["-e", EVENT, "--"], &command[..]].concat()), 0);
    assert_eq!(ours, 321);
    assert_eq!(ours, by_perf(EVENT, &command));
}

fn an_exec_is_one_and_what_leads_there_is_not_counted() {
    needs::all(&[needs::Need::Tracepoints]);
    // The child's own execve starts before the counting and ends within it.
    let events = "syscalls:sys_enter_execve,syscalls:sys_exit_execve";
    let lines = json(&["-e", events, "true"]);
    assert_eq!((value(&lines, 0), value(&lines, 1)), (0, 1));
    for (index, event) in events.split(',').enumerate() {
        assert_eq!(value(&lines, index), by_perf(event, &["true"]), "{event}");
    }
}

fn page_faults_are_about_as_many() {
    let command = ["sh", "-c", "ls / >/dev/null"];
    let ours = value(&json(&[&["-e", "page-faults", "--"], &command[..]].concat()), 0);
    let perfs = by_perf("page-faults", &command);
    assert!(ours.abs_diff(perfs) <= perfs / 10, "{ours}, perf: {perfs}");
}

fn columns_are_those_of_perf() {
    let columns = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        lines.collect()
    };
    let events = "task-clock,context-switches,page-faults";
    let ours = stat(["-x,", "-r", "2", "-e", events, "true"]);
    assert_eq!((ours.status, &*ours.out), (0, ""), "as perf, it leaves standard output to the command");
    let ours = columns(&ours.err);
    assert_eq!(ours.len(), 3);
    needs::all(&[needs::Need::PERF]);
    let perf = Command::new("perf").args(["stat", "-x,", "-r", "2", "-e", events, "true"]).output().unwrap();
    let perfs = columns(&String::from_utf8(perf.stderr).unwrap());
    for (ours, perfs) in ours.iter().zip(&perfs) {
        assert_eq!((ours.len(), &ours[1..3]), (perfs.len(), &perfs[1..3]), "{ours:?}, perf: {perfs:?}");
        assert!(ours[3].ends_with('%') && perfs[3].ends_with('%'), "{ours:?}, perf: {perfs:?}");
        assert_eq!(ours[5], perfs[5], "{ours:?}, perf: {perfs:?}");
    }
    assert_eq!(ours[0][7], perfs[0][7]);
}

fn names_in_json_are_those_of_perf() {
    needs::all(&[needs::Need::PERF, needs::Need::CpuEvents, needs::Need::Sysfs]);
    let names = |line: &Value| -> Vec<String> {
        // Which events have a metric, and what the number of cpus is called, differs between versions of perf.
        let newer = |name: &String| match name.as_str() {
            "aggregate-number" => "counters".to_owned(),
            name => name.to_owned(),
        };
        let names = line.as_object().unwrap().keys().filter(|name| !name.starts_with("metric-"));
        names.map(newer).collect()
    };
    for options in [&["-a"][..], &["-a", "-A"], &["-a", "--per-socket"], &["-a", "--per-core"], &["-r", "2"]]
    {
        let args = [&["stat", "-j", "-e", "cpu-clock"], options, &["true"]].concat();
        let perf = Command::new("perf").args(&args).output().unwrap();
        let perfs = objects(&String::from_utf8(perf.stderr).unwrap());
        let ours = objects(&stat(&args[1..]).err);
        assert_eq!(ours.len(), perfs.len(), "{options:?}");
        for (ours, perfs) in ours.iter().zip(&perfs) {
            assert_eq!(names(ours), names(perfs), "{options:?}: {ours}, perf: {perfs}");
            for label in ["cpu", "socket", "core", "unit", "event"] {
                assert_eq!(ours[label], perfs[label], "{options:?}: {ours}, perf: {perfs}");
            }
        }
    }
}

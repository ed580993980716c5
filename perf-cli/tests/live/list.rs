//! `perfdata list` on the machine that runs the tests.
#![cfg(target_os = "linux")]

use alloc::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use perf_open::event::parse;
use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    everything_is_listed_once_and_in_order,
    what_is_listed_can_be_used,
    patterns_choose,
    text_has_a_heading_for_each_kind,
    details_tell_the_numbers,
    raw_events_have_their_syntax,
    kernel_probes_have_their_syntax,
    user_probes_have_their_syntax,
    patterns_choose_tracepoints,
    details_of_a_tracepoint_tell_its_id,
    hardware_that_is_there_is_listed,
    hardware_that_is_not_there_is_not_listed,
    a_file_gets_the_list,
    raw_names_are_one_line,
    a_reader_that_goes_away_ends_it_quietly,
    events_of_the_tool_are_listed,
    other_kinds_are_not_spoken_of,
];

fn list(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).arg("list").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn names(args: &[&str]) -> Vec<String> {
    let (status, out, _) = list(&[args, &["--json"]].concat());
    assert_eq!(status, 0, "{args:?}");
    events(&out).iter().map(|event| event["EventName"].as_str().unwrap().to_owned()).collect()
}

/// Returns the events of a JSON array. Each is on a line.
fn events(out: &str) -> Vec<Value> {
    let events: Vec<Value> = serde_json::from_str(out).unwrap();
    assert_eq!(out.lines().count(), events.len() + 2);
    events
}

fn everything_is_listed_once_and_in_order() {
    let (status, out, _) = list(&["--json"]);
    assert_eq!(status, 0);
    let events = events(&out);
    let kinds: Vec<&str> = events.iter().map(|event| event["EventType"].as_str().unwrap()).collect();
    const SYNTAX: &str = "Raw event descriptor";
    for kind in ["Hardware event", "Software event", "Hardware cache event", SYNTAX] {
        // Hardware and caches are not counted everywhere.
        assert!(kinds.contains(&kind) || kind.starts_with("Hardware"), "{kind}");
        let of_kind = |event: &&Value| event["EventType"] == kind;
        let names: Vec<&str> =
            events.iter().filter(of_kind).map(|event| event["EventName"].as_str().unwrap()).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "{kind}");
        assert!(kind == SYNTAX || names.is_sorted(), "{names:?}");
    }
    let faults = events.iter().find(|event| event["EventName"] == "page-faults").unwrap();
    assert_eq!((&faults["EventType"], &faults["EventAlias"]), (&"Software event".into(), &"faults".into()));
}

fn what_is_listed_can_be_used() {
    for pattern in ["hw", "sw", "cache", "pmu", "sched:*"] {
        // The machine may have none of them.
        let (status, out, _) = list(&[pattern, "--json"]);
        for event in if status == 0 { events(&out) } else { Vec::new() } {
            let has_required = event["Encoding"].as_str().is_some_and(|terms| terms.contains('?'));
            let name = event["EventName"].as_str().unwrap();
            assert!(has_required || parse(name).is_ok(), "{name}: {:?}", parse(name));
        }
    }
}

fn patterns_choose() {
    assert_eq!(names(&["page-faults"]), ["page-faults"]);
    assert_eq!(names(&["PAGE-FAULTS"]), ["page-faults"]);
    // An alias is also a name.
    assert_eq!(names(&["faults"])[..].iter().filter(|name| *name == "page-faults").count(), 1);
    assert_eq!(names(&["cpu-cl*", "page-faults"]), ["cpu-clock", "page-faults"]);
    assert_eq!(names(&["?pu-clock"]), ["cpu-clock"]);
    assert!(names(&["fault"]).len() > 3);
    let (status, out, err) = list(&["no-such-event"]);
    assert_eq!((status, &*out), (1, ""));
    assert!(err.contains("no event of this machine matches no-such-event"), "{err}");
}

fn text_has_a_heading_for_each_kind() {
    let (status, out, _) = list(&["cpu-cl*", "page-faults", "mem:*"]);
    assert_eq!(status, 0);
    let expected = "\
Software events:
  cpu-clock
  page-faults OR faults

Breakpoints:
  mem:ADDRESS[/LENGTH][:rwx]
";
    assert_eq!(out, expected);
}

fn details_tell_the_numbers() {
    let (status, out, _) = list(&["page-faults", "--details"]);
    assert_eq!(
        (status, &*out),
        (0, "Software events:\n  page-faults OR faults\n      attr: type SOFTWARE, config 0x2\n")
    );
}

fn hardware_that_is_there_is_listed() {
    needs::all(&[needs::Need::Hardware]);
    assert!(names(&["cycles"]).contains(&"cpu-cycles".to_owned()));
}

/// A virtual machine without a PMU: perf lists no hardware events there either.
fn hardware_that_is_not_there_is_not_listed() {
    needs::all(&[needs::Need::NoHardware, needs::Need::Events]);
    let (status, out, err) = list(&["cpu-cycles"]);
    assert_eq!((status, &*out), (1, ""));
    let expected =
        "no event of this machine matches cpu-cycles; cpu-cycles is known, but the machine does not count it";
    assert!(err.contains(expected), "{err}");
    assert!(names(&[]).iter().all(|name| name != "cpu-cycles"));
}

fn a_file_gets_the_list() {
    let path = needs::folder().join("list");
    let path = path.to_str().unwrap();
    let (status, out, err) = list(&["sw", "-j", "-o", path]);
    assert_eq!((status, &*out), (0, ""), "{err}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), list(&["sw", "--json"]).1);
    let (status, _, err) = list(&["sw", "-o", "/no/such/folder"]);
    assert_eq!(status, 1);
    assert!(err.contains("/no/such/folder: No such file"), "{err}");
    assert_eq!(list(&["page-faults", "-v"]), list(&["page-faults", "--details"]));
}

fn raw_names_are_one_line() {
    assert_eq!(list(&["page-faults", "cpu-clock", "--raw-dump"]).1, "cpu-clock page-faults faults \n");
    let (status, out, _) = list(&["--raw-dump"]);
    assert_eq!((status, out.lines().count()), (0, 1));
    assert!(!out.contains("mem:ADDRESS") && !out.contains("rHEX"), "{out}");
}

fn raw_events_have_their_syntax() {
    let syntax = names(&["syntax"]);
    assert!(syntax.iter().any(|name| name.starts_with("rHEX")), "{syntax:?}");
}

/// The syntax of a PMU for probes contains the term. Skips the test if this machine has no such PMU.
fn probes_have_their_syntax(pmu: &str, term: &str) {
    needs::all(&[needs::Need::Sysfs]);
    if !perf_open::pmu::Pmus::new().has(pmu) {
        needs::skip(pmu, "this kernel has no such PMU");
    }
    let syntax = names(&["syntax"]);
    let of_pmu = syntax.iter().find(|name| name.starts_with(&format!("{pmu}/")));
    assert!(of_pmu.is_some_and(|name| name.contains(term)), "{syntax:?}");
}

fn kernel_probes_have_their_syntax() {
    probes_have_their_syntax("kprobe", "func=");
}

fn user_probes_have_their_syntax() {
    probes_have_their_syntax("uprobe", "path=");
}

fn patterns_choose_tracepoints() {
    needs::all(&[needs::Need::Tracepoints]);
    let sched = names(&["sched:*"]);
    assert!(sched.iter().all(|name| name.starts_with("sched:")), "{sched:?}");
    assert!(sched.is_sorted() && sched.iter().any(|name| name == "sched:sched_switch"), "{sched:?}");
}

fn details_of_a_tracepoint_tell_its_id() {
    needs::all(&[needs::Need::Tracepoints]);
    let (_, out, _) = list(&["sched:sched_switch", "--details"]);
    let config = parse("sched:sched_switch").unwrap()[0].events[0].attr.config;
    assert!(out.contains(&format!("attr: type TRACEPOINT, config {config:#x}\n")), "{out}");
}

fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let mut child = child.arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(["Hardware events:\n", "Software events:\n"].contains(&&*line), "{line}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("pipe"), "{errors}");
}

/// perf 6.1 lists the times; perf 7.2 lists the others too. Some machines lack the last three.
fn events_of_the_tool_are_listed() {
    needs::all(&[needs::Need::Sysfs]);
    let tools = names(&["tool"]);
    for tool in
        ["duration_time", "user_time", "system_time", "has_pmem", "num_cpus_online", "smt_on", "target_cpu"]
    {
        assert!(tools.iter().any(|it| it == tool), "{tool}: {tools:?}");
    }
    let (_, out, _) = list(&["tool", "-v"]);
    assert!(
        out.contains("Tool events") && out.contains("value: the number of CPUs that are online"),
        "{out}"
    );
    // Each is counted, in each interval the same.
    let events = tools.join(",");
    let mut stat = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let run = stat.args(["stat", "-j", "-I", "20", "-e", &events, "--", "sleep", "0.03"]).output().unwrap();
    let text = String::from_utf8(run.stderr).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let of = |name: &str| -> Vec<f64> {
        let of_event = lines.iter().filter(|line| line["event"] == name);
        of_event.map(|line| line["counter-value"].as_str().unwrap().parse().unwrap()).collect()
    };
    assert!(
        of("num_cpus_online").len() > 1 && of("num_cpus_online").iter().all(|&it| it >= cpus as f64),
        "{text}"
    );
    for (tool, expected) in [("target_cpu", 0.0), ("has_pmem", f64::from(u8::from(has_pmem())))] {
        assert!(of(tool).iter().all(|&value| value == expected), "{tool}: {text}");
    }
    assert!(!text.contains("<not"), "{text}");
}

fn has_pmem() -> bool {
    std::path::Path::new("/sys/firmware/acpi/tables/NFIT").exists()
}

/// Without sysfs and tracefs, the kinds that need none of them are listed without a word about those.
fn other_kinds_are_not_spoken_of() {
    let unshared = |pattern: &str| {
        let script = format!("mount -t tmpfs none /sys && exec \"$0\" list {pattern}");
        let run = Command::new("unshare")
            .args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_perfdata")])
            .output();
        let run = run.unwrap();
        (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    needs::all(&[needs::Need::Runs(&["unshare", "-m", "true"])]);
    for pattern in ["sw", "tool", "syntax", "sw tool"] {
        let (out, err) = unshared(pattern);
        assert!(!out.is_empty() && err.is_empty(), "{pattern}: {err}");
    }
    let (_, err) = unshared("tracepoint");
    assert!(err.contains("perfdata: /sys/kernel/tracing/events: ") && !err.contains("event_source"), "{err}");
    let (_, err) = unshared("fault");
    assert!(err.contains("/sys/kernel/tracing/events: ") && err.contains("event_source"), "{err}");
}

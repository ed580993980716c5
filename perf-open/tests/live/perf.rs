//! The attr of an event string is equal to perf's attr for the same string.
#![cfg(target_os = "linux")]

use alloc::collections::BTreeMap;
use std::process::Command;

use perf_open::abi::attr::{Attr, AttrFlags};
use perf_open::event::parse;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Sysfs, KernelEvents: hardware_cache_and_raw_events,
    software_events,
    breakpoints,
    groups,
    modifiers,
    tracepoints,
    events_of_msr,
    user_probes,
    events_of_a_core,
];

/// Returns the fields that select the events, from the attrs that `perf stat -vv` prints for `events`. Uses the first
/// attr of each event, because perf tries others if the kernel refuses the first.
fn perfs(events: &str) -> Vec<BTreeMap<String, u64>> {
    let output = Command::new("perf").args(["stat", "-vv", "-e", events, "true"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut attrs = Vec::new();
    let mut fresh = true;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        fresh |= line.contains(" = ") || line.starts_with("Warning");
        if line != "perf_event_attr:" {
            continue;
        }
        let fields = lines.by_ref().take_while(|line| !line.starts_with('-')).filter_map(field).collect();
        if fresh {
            attrs.push(fields);
        }
        fresh = false;
    }
    assert!(!attrs.is_empty(), "perf makes no event of {events}: {text}");
    attrs
}

/// Parses a line such as `  { bp_addr, config1 }             0x1000`. Returns this crate's name of the field, and the
/// value.
fn field(line: &str) -> Option<(String, u64)> {
    let (name, value) = line.trim().rsplit_once("  ")?;
    let name =
        name.trim().trim_start_matches("{ bp_addr, ").trim_start_matches("{ bp_len, ").trim_end_matches(" }");
    let value = value.trim();
    let number = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => value.parse().ok()?,
    };
    let says_which = ["type", "bp_type", "precise_ip", "pinned", "exclusive"].contains(&name)
        || name.starts_with("config")
        || name.starts_with("exclude_");
    says_which.then(|| (name.to_owned(), number))
}

/// Returns the same fields of an attr of this crate.
fn ours(attr: &Attr) -> BTreeMap<String, u64> {
    let words = [
        ("type", attr.kind.0.into()),
        ("config", attr.config),
        ("config1", attr.config1),
        ("config2", attr.config2),
        ("bp_type", attr.bp_type.0.into()),
        ("precise_ip", attr.flags.precise_ip().into()),
    ];
    let flags = AttrFlags::NAMES.iter().map(|flag| (flag.c_name, u64::from(attr.flags.0 & flag.value != 0)));
    let all = words.into_iter().chain(flags).filter(|&(_, value)| value != 0);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Compares our attrs for strings with those of perf. Skips the test if perf is missing or has other rules.
fn are_perfs<'s>(strings: impl IntoIterator<Item = &'s str>) {
    needs::all(&[needs::Need::PERF]);
    // perf before 6.13 sets `exclude_guest` for events without modifiers, and so do we.
    if !perfs("dummy").iter().any(|attr| attr.contains_key("exclude_guest")) {
        needs::skip("perf-before-6.13", "the rule of this perf for guests differs from ours");
    }
    for string in strings {
        let groups = parse(string).unwrap_or_else(|error| panic!("{error:#}"));
        let events: Vec<_> =
            groups.iter().flat_map(|group| &group.events).map(|event| ours(&event.attr)).collect();
        assert_eq!(events, perfs(string), "{string}");
    }
}

/// Does the same as [`are_perfs`] for a PMU that not every machine has. Skips the test if sysfs lacks `file`.
fn are_perfs_where_there_is(name: &str, file: &str, strings: &[&str]) {
    let file = format!("/sys/bus/event_source/devices/{file}");
    if let Err(error) = std::fs::read(&file) {
        needs::skip(name, &format!("{file}: {error}"));
    }
    are_perfs(strings.iter().copied());
}

fn hardware_cache_and_raw_events() {
    are_perfs([
        "cycles",
        "instructions:u",
        "idle-cycles-backend:k",
        "r1a8",
        "L1-dcache-load-misses",
        "LLC-loads",
        "Data-TLB-write-miss",
        "branch-loads",
        "L1-data-misses-load",
        "node-prefetch-misses:k",
        "1:2:u",
        "3:0x10002:k",
    ]);
}

fn software_events() {
    are_perfs([
        "faults",
        "cs",
        "page-faults:u",
        "dummy",
        "cgroup-switches",
        "faults/config=7/",
        "faults/name=foo,period=100/u",
        "faults/config=0x1234,config1=2,config2=3/",
        "software/config=1/",
    ]);
}

fn breakpoints() {
    are_perfs(["mem:0x1000/4:rw", "mem:0x1000:x", "mem:0x1000", "mem:0x1000/8", "mem:0x1000:wr:u"]);
}

fn groups() {
    are_perfs(["{faults:u,cs}:k", "{faults:G,cs}:u", "{faults:D,cs}:e", "{faults:p,cs}:pu", "{faults,cs}:S"]);
}

fn modifiers() {
    let modifiers =
        ["u", "k", "h", "uk", "uh", "ukh", "G", "H", "GH", "Gu", "I", "p", "pp", "ppp", "pG", "D", "e"];
    let strings = modifiers.map(|modifiers| format!("cycles:{modifiers}"));
    are_perfs(strings.iter().map(String::as_str));
}

fn tracepoints() {
    needs::all(&[needs::Need::Tracepoints]);
    are_perfs(["sched:sched_switch", "sched:sched_switch:u"]);
}

fn events_of_msr() {
    let strings = ["msr/tsc/", "tsc", "msr/tsc/ukI", "msr/event=0/k"];
    are_perfs_where_there_is("msr", "msr/events/tsc", &strings);
}

fn user_probes() {
    are_perfs_where_there_is("uprobe", "uprobe/type", &["uprobe/retprobe,ref_ctr_offset=0x20/"]);
}

fn events_of_a_core() {
    let strings = ["cpu/event=0x3c,umask=1/", "cpu/event=0x3c/pp"];
    are_perfs_where_there_is("cpu-pmu", "cpu/format/umask", &strings);
}

//! The attr of a string is the one that perf makes of it.

use alloc::collections::BTreeMap;
use std::process::Command;

use perf_abi::attr::{Attr, AttrFlags};
use perf_open::event::parse;

/// The fields of the attrs that `perf stat -vv` prints of `events`, those that say what to count; of each event the
/// first, as perf tries others where the kernel refuses it. `None` if there is no perf.
fn perfs(events: &str) -> Option<Vec<BTreeMap<String, u64>>> {
    let output = Command::new("perf").args(["stat", "-vv", "-e", events, "true"]).output().ok()?;
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
    Some(attrs)
}

/// `  { bp_addr, config1 }             0x1000`: the name after which this crate calls the field, and the value.
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

/// The same fields of an attr of this crate.
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

/// Whether perf gives `exclude_guest` to events without modifiers: before 6.13 it does.
fn excludes_guests() -> bool {
    perfs("dummy").is_some_and(|attrs| attrs.iter().any(|attr| attr.contains_key("exclude_guest")))
}

#[test]
fn attrs_are_perfs() {
    if Command::new("perf").arg("version").output().is_err() {
        eprintln!("skipped: there is no perf");
        return;
    }
    if !excludes_guests() {
        eprintln!("skipped: this perf is newer than 6.12, whose rule for guests is the one followed");
        return;
    }
    let mut lists: Vec<String> = [
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
        "faults",
        "cs",
        "page-faults:u",
        "dummy",
        "cgroup-switches",
        "1:2:u",
        "3:0x10002:k",
        "mem:0x1000/4:rw",
        "mem:0x1000:x",
        "mem:0x1000",
        "mem:0x1000/8",
        "mem:0x1000:wr:u",
        "faults/config=7/",
        "faults/name=foo,period=100/u",
        "faults/config=0x1234,config1=2,config2=3/",
        "software/config=1/",
        "{faults:u,cs}:k",
        "{faults:G,cs}:u",
        "{faults:D,cs}:e",
        "{faults:p,cs}:pu",
        "{faults,cs}:S",
    ]
    .map(str::to_owned)
    .to_vec();
    for modifiers in
        ["u", "k", "h", "uk", "uh", "ukh", "G", "H", "GH", "Gu", "I", "p", "pp", "ppp", "pG", "D", "e"]
    {
        lists.push(format!("cycles:{modifiers}"));
    }
    let optional = [
        (
            "/sys/kernel/tracing/events/sched/sched_switch/id",
            &["sched:sched_switch", "sched:sched_switch:u"][..],
        ),
        (
            "/sys/bus/event_source/devices/msr/events/tsc",
            &["msr/tsc/", "tsc", "msr/tsc/ukI", "msr/event=0/k"][..],
        ),
        ("/sys/bus/event_source/devices/uprobe/type", &["uprobe/retprobe,ref_ctr_offset=0x20/"][..]),
        (
            "/sys/bus/event_source/devices/cpu/format/umask",
            &["cpu/event=0x3c,umask=1/", "cpu/event=0x3c/pp"][..],
        ),
    ];
    for (file, strings) in optional {
        if std::fs::exists(file).unwrap_or(false) {
            lists.extend(strings.iter().map(|&string| string.to_owned()));
        } else {
            eprintln!("skipped: {strings:?}, as there is no {file}");
        }
    }
    for list in &lists {
        let groups = parse(list).unwrap_or_else(|error| panic!("{error:#}"));
        let events: Vec<_> =
            groups.iter().flat_map(|group| &group.events).map(|event| ours(&event.attr)).collect();
        assert_eq!(events, perfs(list).unwrap(), "{list}");
    }
}

//! The names of the PMUs, probes and tracepoints of this machine.
#![cfg(target_os = "linux")]

use perf_open::abi::event::EventType;
use perf_open::event::{EventParser, EventSpec};
use perf_open::pmu::Pmus;
use perf_open::probe::ProbeLocation;
use perf_open::tracepoint::Tracefs;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    every_event_of_every_pmu_is_parsed,
    user_probes_are_of_their_pmu,
    kernel_probes_are_of_their_pmu,
    a_tracepoint_has_the_id_of_its_file,
    software_events_are_listed,
    tracepoints_are_listed,
];

fn every_event_of_every_pmu_is_parsed() {
    needs::all(&[needs::Need::Sysfs]);
    let pmus = Pmus::new();
    for pmu in pmus.all().unwrap() {
        let pmu = pmu.unwrap_or_else(|error| panic!("{error}"));
        for event in &pmu.events {
            let EventSpec { attr, .. } = pmu.event(&event.name).unwrap_or_else(|error| panic!("{error:#}"));
            assert_eq!(attr.kind, pmu.kind, "{}", event.name);
        }
    }
    for (name, kind) in [
        ("software", EventType::SOFTWARE),
        ("tracepoint", EventType::TRACEPOINT),
        ("breakpoint", EventType::BREAKPOINT),
    ] {
        assert_eq!(pmus.get(name).unwrap().kind, kind);
    }
}

/// Returns the type of a PMU of probes. Skips the test if this machine has none.
fn kind_of(pmu: &str) -> EventType {
    needs::all(&[needs::Need::Sysfs]);
    Pmus::new().get(pmu).unwrap_or_else(|error| needs::skip(pmu, &error.to_string())).kind
}

fn user_probes_are_of_their_pmu() {
    let kind = kind_of("uprobe");
    for event in [EventSpec::uprobe("/bin/true", 0), EventSpec::uretprobe("/bin/true", 0)] {
        assert_eq!(event.unwrap().attr.kind, kind);
    }
}

fn kernel_probes_are_of_their_pmu() {
    let kind = kind_of("kprobe");
    let place = ProbeLocation::Function("vfs_read", 0);
    for event in [EventSpec::kprobe(place), EventSpec::kretprobe(place)] {
        assert_eq!(event.unwrap().attr.kind, kind);
    }
}

fn a_tracepoint_has_the_id_of_its_file() {
    needs::all(&[needs::Need::Tracepoints]);
    let path = Tracefs::find().root().join("events/sched/sched_switch/id");
    let id = std::fs::read_to_string(path).unwrap();
    let event = EventSpec::tracepoint("sched", "sched_switch").unwrap();
    assert_eq!(event.attr.config.to_string(), id.trim_end());
}

/// Returns the names of all events of this machine.
fn names() -> Vec<String> {
    EventParser::new().list().events.into_iter().map(|event| event.name).collect()
}

fn software_events_are_listed() {
    assert!(names().iter().any(|name| name == "task-clock"));
}

fn tracepoints_are_listed() {
    needs::all(&[needs::Need::Tracepoints]);
    assert!(names().iter().any(|name| name == "sched:sched_switch"));
}

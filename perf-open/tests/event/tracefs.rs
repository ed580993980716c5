//! Tracepoints.

use perf_abi::event::EventType;
use perf_open::event::{EventSpec, LookupError};

use crate::fake::{TRACEPOINTS, tracefs_of};

#[test]
fn ids_and_names() {
    let tracefs = tracefs_of(TRACEPOINTS);
    assert_eq!(tracefs.systems().unwrap(), ["ftrace", "sched", "syscalls"]);
    assert_eq!(tracefs.names("sched").unwrap(), ["sched_process_exit", "sched_switch", "sched_wakeup"]);
    assert_eq!(tracefs.names("ftrace").unwrap(), [""; 0]);
    assert_eq!(tracefs.id("sched", "sched_switch").unwrap(), 316);
    assert!(tracefs.format("sched", "sched_switch").unwrap().starts_with("name: sched_switch"));
    let event = EventSpec::tracepoint_of(&tracefs, "sched", "sched_wakeup").unwrap();
    assert_eq!(
        (event.name.as_str(), event.attr.kind, event.attr.config),
        ("sched:sched_wakeup", EventType::TRACEPOINT, 319)
    );
}

#[test]
fn what_is_not_there() {
    let tracefs = tracefs_of(TRACEPOINTS);
    let told = |system, name| tracefs.id(system, name).unwrap_err().to_string();
    assert_eq!(
        told("sched", "sched_swich"),
        "no tracepoint `sched:sched_swich`; closest: sched:sched_switch"
    );
    assert_eq!(told("shed", "sched_switch"), "no tracepoint system `shed`; closest: sched");
    assert!(told("syscalls", "sys_enter_read").ends_with("/id: at byte 0: expected a number"));
    for (system, name) in
        [("..", "sched"), ("sched", "../sched/sched_switch"), ("", ""), ("sched/sched_switch", "")]
    {
        assert!(matches!(tracefs.id(system, name), Err(LookupError::Unknown { .. })), "{system} {name}");
    }
    let unmounted = tracefs_of(&[]);
    let error = unmounted.id("sched", "sched_switch").unwrap_err();
    assert!(
        error.to_string().ends_with("tracefs may not be mounted: mount -t tracefs nodev /sys/kernel/tracing"),
        "{error}"
    );
}

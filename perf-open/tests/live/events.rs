//! The kernel opens the events of strings and constructors.
#![cfg(target_os = "linux")]

use perf_open::abi::event::{EventType, HwId, SwId};
use perf_open::event::{EventSpec, parse};
use perf_open::{Builder, Target};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: software_events,
    breakpoints,
    tracepoints,
    events_of_cpus,
    user_probes,
    support_is_what_opening_tells,
];

/// Opens an event on this thread, or on the first of the event's cpus.
fn open(event: EventSpec) {
    let name = event.name.clone();
    let target = event.cpus.first().map_or_else(Target::this_thread, |&cpu| Target::cpu(cpu));
    if let Err(error) = Builder::new(event).open(&target) {
        panic!("{name}: {error}");
    }
}

/// Opens the events of a string.
fn open_all(string: &str) {
    parse(string).unwrap().into_iter().flat_map(|group| group.events).for_each(open);
}

fn software_events() {
    ["faults:u", "task-clock:u", "dummy:u"].into_iter().for_each(open_all);
}

fn support_is_what_opening_tells() {
    needs::all(&[needs::Need::Events]);
    assert!(EventSpec::software(SwId::PAGE_FAULTS).is_supported());
    assert!(!EventSpec::numeric("unknown", EventType::SOFTWARE, 1000).is_supported());
    assert!(!EventSpec::numeric("unknown", EventType(0x7fff_0000), 1).is_supported());
    let cycles = EventSpec::hardware(HwId::CPU_CYCLES);
    let opens = Builder::new(cycles.clone()).exclude_kernel(true).open(&Target::this_thread());
    assert_eq!(cycles.is_supported(), opens.is_ok());
}

fn breakpoints() {
    needs::all(&[needs::Need::Breakpoints]);
    let watched = 0_u64;
    open_all(&format!("mem:{:#x}/8:rw:u", (&raw const watched).addr()));
}

fn tracepoints() {
    needs::all(&[needs::Need::Tracepoints]);
    open_all("sched:sched_switch");
}

fn events_of_cpus() {
    needs::all(&[needs::Need::CpuEvents]);
    let file = "/sys/bus/event_source/devices/msr/events/tsc";
    if let Err(error) = std::fs::read(file) {
        needs::skip("msr", &format!("{file}: {error}"));
    }
    open_all("msr/tsc/GH");
}

fn user_probes() {
    needs::all(&[needs::Need::Uprobes]);
    // Use a file that nothing executes, because the kernel checks the probed instruction only when the file is mapped.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("probed");
    std::fs::copy("/proc/self/exe", &path).unwrap();
    open(EventSpec::uprobe(&path, 0x1000).unwrap());
    open(EventSpec::uretprobe(&path, 0x1000).unwrap());
}

//! The kernel opens what strings and constructors name.

use std::path::Path;

use perf_open::event::{Event, parse};
use perf_open::pmu::Pmus;
use perf_open::{Builder, Target};

/// Opens an event on this thread, or on the first cpu that it is for.
fn open(event: Event) {
    let name = event.name.clone();
    let target = event.cpus.first().map_or_else(Target::this_thread, |&cpu| Target::cpu(cpu));
    if let Err(error) = Builder::new(event).open(&target) {
        panic!("{name}: {error}");
    }
}

#[test]
fn software_tracepoints_and_breakpoints() {
    if std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").is_err() {
        eprintln!("skipped: the kernel has no perf events");
        return;
    }
    let watched = 0_u64;
    let address = (&raw const watched).addr();
    let mut strings = vec![
        "faults:u".to_owned(),
        "task-clock:u".to_owned(),
        format!("mem:{address:#x}/8:rw:u"),
        "dummy:u".to_owned(),
    ];
    let privileged = [
        ("/sys/kernel/tracing/events/sched/sched_switch/id", "sched:sched_switch"),
        ("/sys/bus/event_source/devices/msr/events/tsc", "msr/tsc/GH"),
    ];
    for (file, string) in privileged {
        if std::fs::read(file).is_ok() {
            strings.push(string.to_owned());
        } else {
            eprintln!("skipped: {string}, as {file} cannot be read");
        }
    }
    for event in strings.iter().flat_map(|string| parse(string).unwrap()).flat_map(|group| group.events) {
        open(event);
    }
}

#[test]
fn user_probes() {
    let may_probe = std::fs::File::open("/sys/kernel/tracing/uprobe_events").is_ok();
    if !Pmus::new().has("uprobe") || !may_probe {
        eprintln!("skipped: the kernel has no uprobes, or needs more privilege for them");
        return;
    }
    // A file of its own, which nothing runs: the kernel looks at what is probed only once it is mapped.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probed");
    std::fs::copy("/proc/self/exe", &path).unwrap();
    open(Event::uprobe(&path, 0x1000).unwrap());
    open(Event::uretprobe(&path, 0x1000).unwrap());
}

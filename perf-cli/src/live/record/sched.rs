//! The events of `--sched`: when threads run, wait and wake up.

use perf_open::abi::sample_type::SampleType;
use perf_open::event::parse;
use perf_open::{Builder, EventSpec, Target};

use crate::args::live::record::RecordArgs;
use crate::outcome::Failure;
use crate::output::say;

/// The tracepoints. The first one is needed; the others may be missing, as `sched_waking` is before Linux 4.3.
///
/// `sched_stat_runtime`, which `perf sched record` has too, is as frequent as all of them together, and says what the switches say.
const TRACEPOINTS: [&str; 4] =
    ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup_new", "sched:sched_migrate_task"];

/// Returns the events that the command line asks for and that can be opened here.
///
/// # Errors
///
/// If `sched:sched_switch` cannot be used.
pub(super) fn events(args: &RecordArgs) -> Result<Vec<EventSpec>, Failure> {
    if !args.sched {
        return Ok(Vec::new());
    }
    let (events, missing) = available(&TRACEPOINTS);
    if missing.first() == TRACEPOINTS.first() {
        return Err(Failure(
            "--sched: sched:sched_switch cannot be used here; it needs root and a mounted tracefs (mount -t tracefs nodev \
             /sys/kernel/tracing). --switch-events needs neither, and has no states and wake-ups"
                .to_owned(),
        ));
    }
    if !args.quiet && !missing.is_empty() {
        say!("perfdata: not recorded, because this kernel does not have them: {}", missing.join(", "));
    }
    Ok(events)
}

/// Returns the tracepoints that can be opened here, and the names of the others.
pub(super) fn available(names: &[&'static str]) -> (Vec<EventSpec>, Vec<&'static str>) {
    let (mut events, mut missing) = (Vec::new(), Vec::new());
    for &name in names {
        match event(name) {
            Some(event) => events.push(event),
            None => missing.push(name),
        }
    }
    (events, missing)
}

/// Returns a tracepoint; `None` if it cannot be opened here.
fn event(name: &str) -> Option<EventSpec> {
    let event = parse(name).ok()?.pop()?.events.pop()?;
    let open = Builder::new(event.clone()).sample_period(1).sample_type(SampleType::RAW).disabled(true);
    open.open(&Target::this_thread()).ok()?;
    Some(event)
}

//! The events of `--off-cpu`: where and how long threads wait, and who wakes them up.
//!
//! perf measures it in the kernel, by a BPF program. perfdata loads none. It records when threads are switched and woken up,
//! and `perfdata report --off-cpu` and `perfdata fold --off-cpu --wakers` compute the times.

use perf_open::abi::sample_type::SampleType;
use perf_open::event::{CallGraphTerm, parse};
use perf_open::{Builder, EventSpec, Target};

use crate::args::live::record::RecordArgs;
use crate::output::say;

/// Returns the events that record the call chains of threads that stop running, and of those that wake others up, if the
/// command line asks for them and they can be opened here.
pub(super) fn events(args: &RecordArgs) -> Vec<EventSpec> {
    if !args.off_cpu {
        return Vec::new();
    }
    let (switch, waking) = (event("sched:sched_switch", args), event("sched:sched_waking", args));
    if !args.quiet {
        match (&switch, &waking) {
            (Some(_), Some(_)) => say!(
                "perfdata: off-CPU times are recorded by sched:sched_switch and context switches, wakers by sched:sched_waking"
            ),
            (Some(_), None) => say!(
                "perfdata: off-CPU times are recorded by sched:sched_switch and context switches; wakers are not recorded, \
                 because sched:sched_waking cannot be used"
            ),
            (None, _) => say!(
                "perfdata: off-CPU times are recorded by context switches, at the samples before them, because \
                 sched:sched_switch cannot be used (tracefs, perf_event_paranoid)"
            ),
        }
    }
    // Without the times, nobody asks who woke threads up.
    let waking = waking.filter(|_| switch.is_some());
    switch.into_iter().chain(waking).collect()
}

/// Returns a tracepoint with call chains; `None` if it cannot be opened here.
fn event(name: &str, args: &RecordArgs) -> Option<EventSpec> {
    let mut event = parse(name).ok()?.pop()?.events.pop()?;
    let open = Builder::new(event.clone()).sample_period(1).sample_type(SampleType::RAW).disabled(true);
    open.open(&Target::this_thread()).ok()?;
    if args.call_graph.is_none() {
        event.terms.call_graph = Some(CallGraphTerm::Fp);
    }
    Some(event)
}

//! `--off-cpu`: where and how long threads wait.
//!
//! perf measures it in the kernel, by a BPF program. perfdata loads none. It records when threads are switched, and
//! `perfdata report --off-cpu` computes the times.

use perf_open::abi::sample_type::SampleType;
use perf_open::event::{CallGraph, parse};
use perf_open::{Builder, EventSpec, Target};

use crate::args::live::record::RecordArgs;
use crate::output::say;

/// Returns the event that records the call chains of threads that stop running, if the command line asks for it and the
/// event can be opened here.
pub(super) fn event(args: &RecordArgs) -> Option<EventSpec> {
    if !args.off_cpu {
        return None;
    }
    let event = switches(args);
    if !args.quiet {
        match &event {
            Some(_) => {
                say!("perfdata: off-CPU times are recorded by sched:sched_switch and context switches")
            }
            None => say!(
                "perfdata: off-CPU times are recorded by context switches, at the samples before them, because \
                 sched:sched_switch cannot be used (tracefs, perf_event_paranoid)"
            ),
        }
    }
    event
}

fn switches(args: &RecordArgs) -> Option<EventSpec> {
    let mut event = parse("sched:sched_switch").ok()?.pop()?.events.pop()?;
    let open = Builder::new(event.clone()).sample_period(1).sample_type(SampleType::RAW).disabled(true);
    open.open(&Target::this_thread()).ok()?;
    if args.call_graph.is_none() {
        event.terms.call_graph = Some(CallGraph::Fp);
    }
    Some(event)
}

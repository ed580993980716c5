//! What a person at a terminal is told before the recording: what is not recorded, and how it ends.

use std::io::IsTerminal;

use perf_open::EventGroup;
use perf_record::has_aux_events;

use crate::args::live::record::RecordArgs;
use crate::output::say;
use crate::streams;

/// Prints the hints, if standard error is a terminal and they are wanted.
pub(super) fn print(args: &RecordArgs, groups: &[EventGroup]) {
    if args.quiet || !streams::are_of_process() || !std::io::stderr().is_terminal() {
        return;
    }
    if observes_all(args) {
        say!("perfdata: recording the whole machine until Ctrl-C; name a command to record only that");
    }
    if lacks_stacks(args, groups) {
        say!("perfdata: recording without call stacks; -g adds them");
    }
}

/// Returns whether the whole machine is recorded because nothing was named.
fn observes_all(args: &RecordArgs) -> bool {
    let observed = &args.observed;
    let is_named = observed.all_cpus || observed.cpu.is_some() || args.uid.is_some();
    args.command.is_empty() && !is_named && observed.pid.is_empty() && observed.tid.is_empty()
}

/// Returns whether samples could have stacks, and none has.
fn lacks_stacks(args: &RecordArgs, groups: &[EventGroup]) -> bool {
    let by_option = args.frame_pointers || args.call_graph.is_some();
    let mut events = groups.iter().flat_map(|group| &group.events);
    let by_event = events.any(|event| event.terms.call_graph.is_some());
    let is_for_others = args.off_cpu || args.sched || args.samples.no_samples || has_aux_events(groups);
    !(by_option || by_event || is_for_others)
}

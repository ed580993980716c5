//! The events that a live verb is asked for.

use perf_open::EventGroup;
use perf_open::event::parse;

use crate::Failure;

/// The events of `lists`, in groups. `no_bpf` is why none can be counted by BPF.
pub(super) fn asked_for(lists: &[String], no_bpf: &str) -> Result<Vec<EventGroup>, Failure> {
    let mut groups = Vec::new();
    for list in lists {
        groups.extend(parse(list).map_err(|error| format!("{error:#}"))?);
    }
    match groups.iter().flat_map(|group| &group.events).find(|event| event.bpf_counter) {
        Some(event) => Err(Failure(format!("{}: the modifier b is {no_bpf}", event.name))),
        None => Ok(groups),
    }
}

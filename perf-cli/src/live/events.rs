//! The events that the command line of a live verb selects.

use perf_open::EventGroup;
use perf_open::event::parse;

use crate::Failure;

/// Parses `lists` into groups. `no_bpf` is the reason why an event cannot be counted by BPF.
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

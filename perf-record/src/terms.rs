//! The terms of events about sampling: what they mean together with the options, and which contradict these.

use perf_open::{EventGroup, EventSpec};

use crate::call_graph::call_graph;
use crate::{CallGraphMode, Error, RecordOptions, Targets};

/// Returns whether an event also records the tasks that the recorded tasks start.
pub(crate) fn inherits(event: &EventSpec, options: &RecordOptions) -> bool {
    event.terms.inherit.unwrap_or(options.inherit) && !options.per_thread
}

/// Returns whether the newest records of an event overwrite older ones.
pub(crate) fn overwrites(event: &EventSpec, options: &RecordOptions) -> bool {
    event.terms.overwrite.unwrap_or(options.overwrite)
}

/// Returns whether each thread has a ring, rather than each cpu. Inherited events must be bound to a cpu.
pub(crate) fn has_rings_of_threads(
    groups: &[EventGroup],
    targets: &Targets,
    options: &RecordOptions,
) -> bool {
    let inherits = || groups.iter().flat_map(|group| &group.events).any(|event| inherits(event, options));
    !matches!(targets, Targets::Cpus(_)) && (options.per_thread || options.cpus.is_none() && !inherits())
}

/// Returns an error if the options do not let a term have its effect.
pub(crate) fn check(groups: &[EventGroup], options: &RecordOptions) -> Result<(), Error> {
    let events = || groups.iter().flat_map(|group| &group.events);
    let Some(first) = events().next() else { return Ok(()) };
    for event in events() {
        let (terms, call_graph) = (&event.terms, call_graph(options, &event.terms));
        let why = if terms.inherit == Some(true) && options.per_thread {
            "the term inherit has no effect on rings of threads; leave it out, or per_thread"
        } else if terms.stack_size.is_some() && !matches!(call_graph, Some(CallGraphMode::Dwarf(_))) {
            "the term stack-size is for copies of the stack; add call-graph=dwarf"
        } else if terms.max_stack.is_some() && call_graph.is_none() {
            "the term max-stack is for call chains; leave out call-graph=no"
        } else if options.no_samples && terms.has_rate() {
            "the terms period and freq are for samples; leave them out, or no_samples"
        } else if overwrites(event, options) != overwrites(first, options) {
            "all events of a recording overwrite, or none does; give all the term overwrite, or all no-overwrite"
        } else {
            continue;
        };
        return Err(Error::Request(format!("{}: {why}", event.name)));
    }
    Ok(())
}

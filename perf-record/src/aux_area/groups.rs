//! Groups whose leader writes to an AUX area: the members that write to it, sample it, or pause it.

use perf_abi::attr::AuxAction;
use perf_open::EventGroup;

use super::Tracer;
use crate::Error;

/// The largest sample of an AUX area. A record has at most 64 KiB, and the other fields need some of them.
///
/// perf: `MAX_AUX_SAMPLE_SIZE`.
const MAX_SAMPLE: u32 = 60 << 10;

/// Returns the place of the event that writes to an AUX area: its group, and its place in the group.
pub(super) type AuxEventIndex = (usize, usize);

/// Makes the events with terms about AUX areas members of the group of the event at `tracer`, if they follow it. With
/// `sample`, members sample this many bytes of the area. The order of the events remains. Returns the size of the largest
/// sample, if there are any.
///
/// perf: `auxtrace_parse_sample_options`, `auxtrace_parse_aux_action`.
pub(super) fn join(
    groups: &mut Vec<EventGroup>,
    tracer: AuxEventIndex,
    sample: Option<u32>,
) -> Result<Option<u32>, Error> {
    if let (Some(bytes), (group, 0)) = (sample, tracer) {
        for event in &mut groups[group].events[1..] {
            let own = &mut event.terms.aux_sample_size;
            *own = Some(own.unwrap_or(bytes));
        }
    }
    if tracer.1 == 0 {
        let is_joined = |group: &EventGroup| {
            let [event] = group.events.as_slice() else { return false };
            let terms = &event.terms;
            terms.aux_sample_size.is_some_and(|bytes| bytes > 0)
                || terms.aux_output.is_some()
                || terms.aux_action.is_some()
        };
        let after = tracer.0 + 1;
        // The events between are joined with the last one, because the order of events must remain.
        while let Some(last) = (after..groups.len()).find(|&at| is_joined(&groups[at])) {
            if groups[after..last].iter().any(|group| group.events.len() > 1) {
                break;
            }
            let joined: Vec<_> = groups.drain(after..=last).flat_map(|group| group.events).collect();
            groups[tracer.0].events.extend(joined);
        }
    }
    check(groups, tracer)?;
    let sizes = groups.iter().flat_map(|group| &group.events).filter_map(|event| event.terms.aux_sample_size);
    let largest = sizes.filter(|&bytes| bytes > 0).max();
    if sample.is_some() && largest.is_none() {
        return Err(Error::Request(
            "samples of an AUX area need a group whose leader writes to it, and whose other members sample it, such as \
             {intel_pt//,cycles}"
                .to_owned(),
        ));
    }
    Ok(largest)
}

/// Returns an error if an event cannot have one of its terms.
fn check(groups: &[EventGroup], tracer: AuxEventIndex) -> Result<(), Error> {
    let mut outputs = 0;
    for (number, group) in groups.iter().enumerate() {
        for (place, event) in group.events.iter().enumerate() {
            let terms = &event.terms;
            let bytes = terms.aux_sample_size.unwrap_or(0);
            let is_tracer = (number, place) == tracer;
            let is_member = number == tracer.0 && tracer.1 == 0 && place > 0;
            let starts = terms.aux_action == Some(AuxAction::START_PAUSED);
            let needs_leader = bytes > 0
                || terms.aux_output == Some(true)
                || terms.aux_action.is_some_and(|action| action != AuxAction::START_PAUSED);
            outputs += usize::from(terms.aux_output == Some(true));
            let why = if starts && !is_tracer {
                "aux-action=start-paused is for the event that writes to the AUX area"
            } else if needs_leader && is_tracer {
                "it writes to the AUX area; the terms aux-sample-size, aux-output, aux-action=pause and resume are for \
                 other members of its group"
            } else if needs_leader && !is_member {
                "its terms about AUX areas need a group whose leader writes to an AUX area, such as {intel_pt//,cycles}"
            } else if bytes > MAX_SAMPLE {
                "a sample can have at most 61440 bytes of an AUX area"
            } else if outputs > 1 {
                "only one event can have the term aux-output, because the trace does not say which event wrote a record"
            } else {
                continue;
            };
            return Err(Error::Request(format!("{}: {why}", event.name)));
        }
    }
    Ok(())
}

/// Returns an error if options or terms need an AUX area, and no event writes to one.
pub(super) fn check_without(groups: &[EventGroup], needs: Option<&str>) -> Result<(), Error> {
    let events = || groups.iter().flat_map(|group| &group.events);
    let with_terms = events().find(|event| {
        let terms = &event.terms;
        terms.aux_output == Some(true)
            || terms.aux_sample_size.is_some_and(|bytes| bytes > 0)
            || terms.aux_action.is_some()
    });
    let what = needs.map(str::to_owned).or_else(|| with_terms.map(|event| event.name.clone()));
    what.map_or(Ok(()), |what| {
        Err(Error::Request(format!(
            "{what}: needs an event that writes to an AUX area, such as intel_pt// or arm_spe_0//; no event does"
        )))
    })
}

/// Returns whether an event writes a hardware trace to an AUX area, such as `intel_pt//`, or is one that cannot be recorded.
#[must_use]
pub fn has_aux_events(groups: &[EventGroup]) -> bool {
    let mut events = groups.iter().flat_map(|group| &group.events);
    events.any(|event| event.pmu.as_deref().is_some_and(|pmu| Tracer::of(pmu).is_some()))
}

/// Returns the only event that writes to an AUX area, and its tracer; `None` if there is none.
pub(super) fn tracer(groups: &[EventGroup]) -> Result<Option<(AuxEventIndex, Tracer)>, Error> {
    let mut found: Option<(AuxEventIndex, Tracer)> = None;
    for (number, group) in groups.iter().enumerate() {
        for (place, event) in group.events.iter().enumerate() {
            let Some(tracer) = event.pmu.as_deref().and_then(Tracer::of) else { continue };
            let refused = |why: &str| Error::Request(format!("{}: {why}", event.name));
            let tracer = tracer.map_err(refused)?;
            if found.is_some() {
                return Err(refused("only one event of a recording can write to AUX areas"));
            }
            found = Some(((number, place), tracer));
        }
    }
    Ok(found)
}

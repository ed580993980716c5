//! The events to count, and their targets.

use alloc::ffi::CString;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::{EventType, HwId, SwId};
use perf_open::event::{Parser, Tool};
use perf_open::pmu::Pmus;
use perf_open::{EventGroup, EventSpec};

use super::named::{Named, clock};
use super::topdown;
use super::topology::Part;
use crate::Failure;
use crate::args::live::StatArgs;
use crate::live::cgroup;
use crate::live::observed::{self, Observed, all_threads};

/// Events that are opened together.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) group: EventGroup,
    /// The filter of each event.
    pub(crate) filters: Vec<Option<CString>>,
    /// The number of the cgroup whose tasks are counted.
    pub(crate) cgroup: Option<usize>,
    /// The metric that is computed from the first event, and the event it is divided by.
    pub(crate) metric: Option<(Named, Option<EventSpec>)>,
}

impl From<EventGroup> for Planned {
    fn from(group: EventGroup) -> Self {
        let filters = vec![None; group.events.len()];
        Self { group, filters, cgroup: None, metric: None }
    }
}

/// Returns the targets of the command line.
pub(crate) fn observed(args: &StatArgs) -> Result<Observed, Failure> {
    if let Some(verb) = args.command.first().and_then(|word| word.to_str())
        && matches!(verb, "record" | "report")
    {
        return Err(Failure(format!(
            "stat {verb}: options follow {verb}. To count a program of this name give its path: ./{verb}"
        )));
    }
    if args.per_thread && args.observed.all_cpus {
        return Ok(Observed::Threads(all_threads()?));
    }
    let observed = observed::of(&args.observed, !args.command.is_empty())?;
    let cgroups = if args.cgroup.is_empty() { "--for-each-cgroup" } else { "--cgroup" };
    let has_cgroup = !args.cgroup.is_empty() || !args.for_each_cgroup.is_empty();
    match &observed {
        Observed::Cpus(_) | Observed::Command if args.per_thread => {
            Err(Failure("--per-thread needs -p, -t or -a".to_owned()))
        }
        Observed::Command | Observed::Threads(_) if args.no_aggr => {
            Err(Failure("--no-aggr needs -a or -C".to_owned()))
        }
        Observed::Command | Observed::Threads(_) if has_cgroup => {
            Err(Failure(format!("{cgroups} needs -a or -C")))
        }
        Observed::Command | Observed::Threads(_) if Part::of(args).is_some() => {
            Err(Failure("--per-socket and the like need -a or -C".to_owned()))
        }
        _ => Ok(observed),
    }
}

/// Returns the events of the command line, in groups; the defaults if it has none. Events of cgroups are those of
/// [`StatArgs::cgroup`] or [`StatArgs::for_each_cgroup`], by number.
pub(crate) fn events(args: &StatArgs, observed: &Observed) -> Result<Vec<Planned>, Failure> {
    if args.null {
        return Ok(Vec::new());
    }
    let parser = Parser::new().with_tools();
    let mut planned = asked_for(args, &parser)?;
    if args.topdown {
        planned.push(Planned::from(EventGroup::from(topdown::events(args, &parser)?)));
    }
    if planned.is_empty() && args.metrics.is_empty() {
        planned = defaults(observed).into_iter().map(Planned::from).collect();
    }
    let mut further: Vec<EventSpec> = Vec::new();
    for name in &args.metrics {
        let named = Named::of(name)?;
        let (events, divisors) = named.events(observed, &parser)?;
        for event in events {
            let divisor = divisors.iter().find(|divisor| divisor.pmu == event.pmu).or(divisors.first());
            let metric = Some((named, divisor.cloned()));
            planned.push(Planned { metric, ..Planned::from(EventGroup::from(event)) });
        }
        further.extend(divisors);
    }
    for event in further {
        let mut known = planned.iter().flat_map(|planned| &planned.group.events);
        if !known.any(|known| is_same(known, &event)) {
            planned.push(Planned::from(EventGroup::from(event)));
        }
    }
    for names in DETAILED.iter().take(args.detailed.into()) {
        let groups = parser.parse(names).map_err(|error| error.to_string())?;
        planned.extend(groups.into_iter().map(Planned::from));
    }
    if args.group {
        let events: Vec<EventSpec> =
            planned.iter().flat_map(|planned| planned.group.events.clone()).collect();
        let filters = planned.iter().flat_map(|planned| planned.filters.clone()).collect();
        planned = vec![Planned { filters, ..Planned::from(EventGroup::from(events)) }];
    }
    for event in planned.iter_mut().flat_map(|planned| &mut planned.group.events) {
        let unused = event.terms.names().find(|name| *name != "inherit");
        if let Some(term) = unused {
            let name = &event.name;
            return Err(Failure(format!(
                "{name}: the term {term} is about samples, which stat does not take"
            )));
        }
        if event.bpf_counter {
            return Err(Failure(format!("{}: the modifier b is not supported", event.name)));
        }
        let flags = &mut event.attr.flags;
        if args.all_user {
            *flags = flags.without(AttrFlags::EXCLUDE_USER) | AttrFlags::EXCLUDE_KERNEL;
        }
        if args.all_kernel {
            *flags = flags.without(AttrFlags::EXCLUDE_KERNEL) | AttrFlags::EXCLUDE_USER;
        }
        if event.tool.is_some_and(Tool::is_time) {
            event.unit = Some("ns".to_owned());
        }
    }
    in_cgroups(args, planned)
}

/// Returns the groups of the options `-e`, with the filters that follow them.
fn asked_for(args: &StatArgs, parser: &Parser) -> Result<Vec<Planned>, Failure> {
    let mut planned: Vec<Planned> = Vec::new();
    let mut filters = args.filter.iter().peekable();
    let mut lists = args.events.iter().peekable();
    while let Some(list) = lists.next() {
        let groups = parser.parse(&list.text).map_err(|error| format!("{error:#}"))?;
        planned.extend(groups.into_iter().map(Planned::from));
        // A pattern selects several tracepoints.
        let last = list.text.rsplit(',').next().unwrap_or_default();
        let last = parser.parse(last).map_or(1, |groups| groups.len()).max(1);
        let next = lists.peek().map_or(usize::MAX, |next| next.place);
        while let Some(filter) = filters.next_if(|filter| filter.place < next && filter.place > list.place) {
            apply(&filter.text, planned.iter_mut().rev().take(last))?;
        }
    }
    match filters.next() {
        Some(filter) => Err(Failure(format!("--filter {}: must follow the -e of a tracepoint", filter.text))),
        None => Ok(planned),
    }
}

/// Sets a filter for the last event of each group. A second filter is added to the first.
fn apply<'a>(filter: &str, groups: impl Iterator<Item = &'a mut Planned>) -> Result<(), Failure> {
    for Planned { group, filters, .. } in groups {
        let (Some(event), Some(place)) = (group.events.last(), filters.last_mut()) else { continue };
        if event.attr.kind != EventType::TRACEPOINT {
            return Err(Failure(format!("--filter {filter}: {} is not a tracepoint", event.name)));
        }
        let both = place.take().and_then(|first| first.into_string().ok());
        let text = both.map_or(filter.to_owned(), |first| format!("({first}) && ({filter})"));
        *place = Some(CString::new(text).map_err(|error| format!("--filter {filter}: {error}"))?);
    }
    Ok(())
}

/// Returns the events with the numbers of their cgroups.
fn in_cgroups(args: &StatArgs, planned: Vec<Planned>) -> Result<Vec<Planned>, Failure> {
    if !args.for_each_cgroup.is_empty() {
        let of = |cgroup| planned.iter().map(move |group| Planned { cgroup: Some(cgroup), ..group.clone() });
        return Ok((0..args.for_each_cgroup.len()).flat_map(of).collect());
    }
    let numbers = cgroup::of_events(&args.cgroup, planned.iter().map(|planned| planned.group.events.len()))?;
    let mut first = 0_usize;
    let of = |mut planned: Planned| {
        planned.cgroup = numbers.get(first).copied().flatten();
        first = first.saturating_add(planned.group.events.len());
        planned
    };
    Ok(planned.into_iter().map(of).collect())
}

/// Returns whether two events count the same, apart from cpu modes.
pub(crate) fn is_same(event: &EventSpec, other: &EventSpec) -> bool {
    (event.attr.kind, event.attr.config) == (other.attr.kind, other.attr.config)
        && (&event.pmu, event.tool) == (&other.pmu, other.tool)
}

/// The events that each `-d` adds.
///
/// perf: `add_default_attributes`, `tools/perf/builtin-stat.c`.
const DETAILED: &[&str] = &[
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
];

/// Returns the default events, those of `perf stat`.
fn defaults(observed: &Observed) -> Vec<EventGroup> {
    let software = [SwId::CONTEXT_SWITCHES, SwId::CPU_MIGRATIONS, SwId::PAGE_FAULTS];
    let software = core::iter::once(clock(observed)).chain(software.map(EventSpec::software));
    // Not every cpu counts stalls; those that do list them.
    let listed = Pmus::new().get("cpu").map(|pmu| pmu.events).unwrap_or_default();
    let stalled = [
        ("stalled-cycles-frontend", HwId::STALLED_CYCLES_FRONTEND),
        ("stalled-cycles-backend", HwId::STALLED_CYCLES_BACKEND),
    ];
    let stalled = stalled.into_iter().filter(|(name, _)| listed.iter().any(|event| event.name == *name));
    let hardware = [
        ("instructions", HwId::INSTRUCTIONS),
        ("branches", HwId::BRANCH_INSTRUCTIONS),
        ("branch-misses", HwId::BRANCH_MISSES),
    ];
    let hardware = [("cycles", HwId::CPU_CYCLES)].into_iter().chain(stalled).chain(hardware);
    let hardware = hardware.map(|(name, id)| EventSpec::hardware(id).with_name(name));
    software.chain(hardware).map(EventGroup::from).collect()
}

/// Returns whether the user asked for the times that this program measures.
pub(crate) fn has_cpu_times(planned: &[Planned]) -> bool {
    let mut events = planned.iter().flat_map(|planned| &planned.group.events);
    events.any(|event| matches!(event.tool, Some(Tool::UserTime | Tool::SystemTime)))
}

//! The events that are counted, in groups.

use alloc::ffi::CString;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::{EventType, HwId, SwId};
use perf_open::event::{EventParser, ToolEvent};
use perf_open::pmu::Pmus;
use perf_open::{EventGroup, EventSpec};

use super::error::StatError;
use super::named_metric::{NamedMetric, clock};
use super::options::{StatCgroups, StatOptions};
use super::topdown;
use crate::{Targets, cgroups, online};

/// Events that are opened together, each with its filter.
///
/// # Examples
///
/// ```
/// use perf_record::open::EventSpec;
/// use perf_record::open::abi::event::SwId;
/// use perf_record::stat::StatGroup;
///
/// let mut faults = StatGroup::from(EventSpec::software(SwId::PAGE_FAULTS));
/// // Only tracepoints have filters.
/// assert!(faults.add_filter("prev_pid != 0").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct StatGroup {
    pub(super) group: EventGroup,
    /// The filter of each event.
    pub(super) filters: Vec<Option<CString>>,
    /// The index of the cgroup whose tasks are counted.
    pub(super) cgroup: Option<usize>,
    /// The metric that is computed from the first event, and the event it is divided by.
    pub(super) metric: Option<(NamedMetric, Option<EventSpec>)>,
}

impl From<EventGroup> for StatGroup {
    fn from(group: EventGroup) -> Self {
        let filters = vec![None; group.events.len()];
        Self { group, filters, cgroup: None, metric: None }
    }
}

impl From<EventSpec> for StatGroup {
    fn from(event: EventSpec) -> Self {
        EventGroup::from(event).into()
    }
}

impl StatGroup {
    /// Counts only those hits of the last event, a tracepoint, whose fields fulfil the filter, and its earlier filters.
    /// The kernel checks the syntax, which is in `Documentation/trace/events.rst`, when the event is opened.
    ///
    /// # Errors
    ///
    /// If the event is not a tracepoint, or the filter contains a NUL.
    pub fn add_filter(&mut self, filter: &str) -> Result<(), StatError> {
        let (Some(event), Some(of_event)) = (self.group.events.last(), self.filters.last_mut()) else {
            return Ok(());
        };
        if event.attr.kind != EventType::TRACEPOINT {
            let event = event.name.clone();
            return Err(StatError::NotTracepoint { filter: filter.to_owned(), event });
        }
        let earlier = of_event.take().and_then(|earlier| earlier.into_string().ok());
        let text = earlier.map_or(filter.to_owned(), |earlier| format!("({earlier}) && ({filter})"));
        let failed = |error| StatError::FilterText { filter: filter.to_owned(), error };
        *of_event = Some(CString::new(text).map_err(failed)?);
        Ok(())
    }

    /// Returns the events.
    #[must_use]
    pub fn events(&self) -> &[EventSpec] {
        &self.group.events
    }
}

/// Returns all groups that are counted: `groups`, or the defaults, and those that the options add, for each cgroup.
pub(super) fn all(
    groups: Vec<StatGroup>,
    targets: &Targets,
    options: &StatOptions,
) -> Result<Vec<StatGroup>, StatError> {
    if options.null {
        return Ok(Vec::new());
    }
    let parser = EventParser::new().with_tools();
    let mut all = groups;
    if options.topdown {
        let has_cgroups = options.cgroups != StatCgroups::All;
        let by_core = options.aggregation.is_by_core() && is_whole_machine(targets) && !has_cgroups;
        let events = topdown::events(options.topdown_level, by_core, &parser)?;
        all.push(EventGroup::from(events).into());
    }
    if all.is_empty() && options.metrics.is_empty() {
        all = defaults(targets).into_iter().map(StatGroup::from).collect();
    }
    add_metrics(&mut all, targets, &options.metrics, &parser)?;
    for names in DETAILED.iter().take(options.detailed.into()) {
        all.extend(parser.parse(names)?.into_iter().map(StatGroup::from));
    }
    if options.one_group {
        let events: Vec<EventSpec> = all.iter().flat_map(|group| group.events().to_vec()).collect();
        let filters = all.iter().flat_map(|group| group.filters.clone()).collect();
        all = vec![StatGroup { filters, ..StatGroup::from(EventGroup::from(events)) }];
    }
    for event in all.iter_mut().flat_map(|group| &mut group.group.events) {
        check(event)?;
        let flags = &mut event.attr.flags;
        if options.all_user {
            *flags = flags.without(AttrFlags::EXCLUDE_USER) | AttrFlags::EXCLUDE_KERNEL;
        }
        if options.all_kernel {
            *flags = flags.without(AttrFlags::EXCLUDE_KERNEL) | AttrFlags::EXCLUDE_USER;
        }
        if event.tool.is_some_and(ToolEvent::is_time) {
            event.unit = Some("ns".to_owned());
        }
    }
    in_cgroups(&options.cgroups, all)
}

/// Adds the events that metrics need. The events that others are divided by follow, unless they are counted anyway.
fn add_metrics(
    groups: &mut Vec<StatGroup>,
    targets: &Targets,
    metrics: &[NamedMetric],
    parser: &EventParser,
) -> Result<(), StatError> {
    let mut all_divisors: Vec<EventSpec> = Vec::new();
    for &named in metrics {
        let (events, divisors) = named.events(targets, parser)?;
        for event in events {
            let divisor = divisors.iter().find(|divisor| divisor.pmu == event.pmu).or(divisors.first());
            let metric = Some((named, divisor.cloned()));
            groups.push(StatGroup { metric, ..StatGroup::from(event) });
        }
        all_divisors.extend(divisors);
    }
    for divisor in all_divisors {
        if !groups.iter().flat_map(StatGroup::events).any(|event| is_same(event, &divisor)) {
            groups.push(divisor.into());
        }
    }
    Ok(())
}

/// Returns an error for an event that can only be sampled, or that a BPF program counts.
fn check(event: &EventSpec) -> Result<(), StatError> {
    let name = || event.name.clone();
    if let Some(term) = event.terms.names().find(|term| *term != "inherit") {
        return Err(StatError::SampleTerm { event: name(), term });
    }
    if event.bpf_counter {
        return Err(StatError::BpfCounter { event: name() });
    }
    Ok(())
}

/// Returns whether all cpus that are online are counted.
fn is_whole_machine(targets: &Targets) -> bool {
    matches!(targets, Targets::Cpus(cpus) if online().is_ok_and(|online| *cpus == online))
}

/// Returns the groups with the indices of their cgroups.
fn in_cgroups(of: &StatCgroups, groups: Vec<StatGroup>) -> Result<Vec<StatGroup>, StatError> {
    let names = match of {
        StatCgroups::All => return Ok(groups),
        StatCgroups::ForEach(names) => {
            let of =
                |cgroup| groups.iter().map(move |group| StatGroup { cgroup: Some(cgroup), ..group.clone() });
            return Ok((0..names.len()).flat_map(of).collect());
        }
        StatCgroups::PerEvent(names) => names,
    };
    let numbers = cgroups::assign(names, groups.iter().map(|group| group.events().len()))?;
    let mut first = 0_usize;
    let of = |mut group: StatGroup| {
        group.cgroup = numbers.get(first).copied().flatten();
        first = first.saturating_add(group.events().len());
        group
    };
    Ok(groups.into_iter().map(of).collect())
}

/// Returns whether two events count the same, apart from cpu modes.
pub(super) fn is_same(event: &EventSpec, other: &EventSpec) -> bool {
    (event.attr.kind, event.attr.config) == (other.attr.kind, other.attr.config)
        && (&event.pmu, event.tool) == (&other.pmu, other.tool)
}

/// The events of caches, in the order in which [`StatOptions::detailed`] adds them.
///
/// perf: `add_default_attributes`, `tools/perf/builtin-stat.c`.
const DETAILED: &[&str] = &[
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
];

/// Returns the default events, those of `perf stat`.
fn defaults(targets: &Targets) -> Vec<EventGroup> {
    let software = [SwId::CONTEXT_SWITCHES, SwId::CPU_MIGRATIONS, SwId::PAGE_FAULTS];
    let software = core::iter::once(clock(targets)).chain(software.map(EventSpec::software));
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

/// Returns whether the events include cpu times, which the tool itself measures.
pub(super) fn has_cpu_times(groups: &[StatGroup]) -> bool {
    let mut events = groups.iter().flat_map(StatGroup::events);
    events.any(|event| matches!(event.tool, Some(ToolEvent::UserTime | ToolEvent::SystemTime)))
}

#[cfg(test)]
mod tests {
    use perf_open::event::parse;

    use super::*;

    fn groups(list: &str) -> Vec<StatGroup> {
        EventParser::new().with_tools().parse(list).unwrap().into_iter().map(StatGroup::from).collect()
    }

    fn names(groups: &[StatGroup]) -> Vec<&str> {
        groups.iter().flat_map(StatGroup::events).map(|event| &*event.name).collect()
    }

    fn counted(list: &str, options: &StatOptions) -> Result<Vec<StatGroup>, String> {
        all(groups(list), &Targets::Command, options).map_err(|error| error.to_string())
    }

    #[test]
    fn options_add_events() {
        let options = StatOptions::default();
        assert_eq!(
            names(&counted("faults,{cs,migrations}", &options).unwrap()),
            ["faults", "cs", "migrations"]
        );
        let null = StatOptions { null: true, ..StatOptions::default() };
        assert_eq!(names(&counted("faults", &null).unwrap()), [""; 0]);
        let detailed = StatOptions { detailed: 1, ..StatOptions::default() };
        assert_eq!(names(&counted("faults", &detailed).unwrap()).len(), 5);
        let metrics = vec!["page_faults_per_second".parse().unwrap(), "cs_per_second".parse().unwrap()];
        let metrics = StatOptions { metrics, ..StatOptions::default() };
        let with_metrics = all(Vec::new(), &Targets::Command, &metrics).unwrap();
        // The clock, which both are divided by, is counted once.
        assert_eq!(names(&with_metrics), ["page-faults", "context-switches", "task-clock"]);
        let one = StatOptions { one_group: true, ..StatOptions::default() };
        let one = counted("faults,cs", &one).unwrap();
        assert_eq!((one.len(), one[0].events().len(), one[0].filters.len()), (1, 2, 2));
    }

    #[test]
    fn without_events_the_defaults_are_counted() {
        let of = |targets| names(&all(Vec::new(), &targets, &StatOptions::default()).unwrap())[0].to_owned();
        assert_eq!(of(Targets::Command), "task-clock");
        assert_eq!(of(Targets::Cpus(vec![0])), "cpu-clock");
    }

    #[test]
    fn modes_of_all_events() {
        let flags = |options| counted("faults:u", &options).unwrap()[0].events()[0].attr.flags;
        let kernel = flags(StatOptions { all_kernel: true, ..StatOptions::default() });
        assert!(kernel.contains(AttrFlags::EXCLUDE_USER) && !kernel.contains(AttrFlags::EXCLUDE_KERNEL));
        let user = flags(StatOptions { all_user: true, ..StatOptions::default() });
        assert!(user.contains(AttrFlags::EXCLUDE_KERNEL) && !user.contains(AttrFlags::EXCLUDE_USER));
    }

    #[test]
    fn events_that_cannot_be_counted() {
        let error = |list| counted(list, &StatOptions::default()).unwrap_err();
        assert!(error("faults/period=5/").starts_with("faults/period=5/: the term period is about samples"));
        assert_eq!(error("cycles:b"), "cycles:b: the modifier b is not supported");
        let topdown = StatOptions { topdown_level: Some(9), topdown: true, ..StatOptions::default() };
        assert!(counted("faults", &topdown).unwrap_err().contains("levels up to"));
    }

    #[test]
    fn filters_of_a_tracepoint_must_all_hold() {
        let mut event = EventSpec::numeric("a:b", EventType::TRACEPOINT, 1);
        event.attr.config = 1;
        let mut group = StatGroup::from(event);
        group.add_filter("x > 1").unwrap();
        assert_eq!(group.filters[0].as_deref(), Some(c"x > 1"));
        group.add_filter("y < 2").unwrap();
        assert_eq!(group.filters[0].as_deref(), Some(c"(x > 1) && (y < 2)"));
        let error = group.add_filter("a\0b").unwrap_err();
        assert!(error.to_string().contains("nul byte"), "{error}");
        let mut faults = StatGroup::from(parse("faults").unwrap().remove(0));
        assert_eq!(faults.add_filter("x").unwrap_err().to_string(), "x: faults is not a tracepoint");
    }

    #[test]
    fn cgroups_of_events() {
        let of = |cgroups, list: &str| {
            let groups = in_cgroups(&cgroups, groups(list)).map_err(|error| error.to_string())?;
            Ok::<_, String>(groups.iter().map(|group| group.cgroup).collect::<Vec<_>>())
        };
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(StatCgroups::All, "faults"), Ok(vec![None]));
        assert_eq!(
            of(StatCgroups::PerEvent(words("a,,b")), "faults,cs,cs"),
            Ok(vec![Some(0), None, Some(2)])
        );
        assert_eq!(of(StatCgroups::ForEach(words("a,b")), "faults,cs").map(|it| it.len()), Ok(4));
        assert!(of(StatCgroups::PerEvent(words("a,b")), "{faults,cs}").is_err());
    }
}

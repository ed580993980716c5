//! The events, opened on all their targets.

use alloc::collections::BTreeMap;
use core::ffi::CStr;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::EventType;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::pmu::Pmus;
use perf_open::{Builder, Count, Counter, Error, EventSpec, Group, Target, limits};

use super::plan::Planned;
use super::tally::{Place, Reading, Tally};
use super::times::Passed;
use crate::Failure;
use crate::live::cgroup::Cgroup;
use crate::live::observed::Observed;
use crate::output::say;

/// The targets of the events, and how the events are opened.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) observed: &'a Observed,
    /// The process id of the command, if there is one.
    pub(crate) command: Option<u32>,
    /// The cpus on which threads are counted; `None` for all.
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) inherit: bool,
    /// Whether the events start at the exec of the command.
    pub(crate) on_exec: bool,
    /// Whether the count of each cpu or thread is shown separately.
    pub(crate) apart: bool,
    /// The place of each cpu whose count is added to that of others. Empty if cpus are not grouped.
    pub(crate) parts: BTreeMap<u32, Place>,
    pub(crate) cgroups: &'a [Cgroup],
    /// Whether events of the same name on several PMUs are added up.
    pub(crate) merge: bool,
}

/// Open events.
#[derive(Debug)]
pub(crate) struct Counters {
    groups: Vec<Open>,
    /// The events as they were opened, in the order of the groups.
    pub(crate) events: Vec<EventSpec>,
    /// The number of the cgroup of each event.
    pub(crate) cgroups: Vec<Option<usize>>,
    /// For each event the one to which its counts are added; itself for most.
    pub(crate) merged_into: Vec<usize>,
    /// Whether any PMU of this machine counts the event.
    is_supported: Vec<bool>,
    /// Whether the events wait for the exec of the command.
    on_exec: bool,
}

/// The counters of an event alone, or of a group.
#[derive(Debug)]
enum Counting {
    Alone(Counter),
    Group(Group),
}

impl Counting {
    fn enable(&self) -> Result<(), Error> {
        match self {
            Self::Alone(counter) => counter.enable(),
            Self::Group(group) => group.enable(),
        }
    }

    fn disable(&self) -> Result<(), Error> {
        match self {
            Self::Alone(counter) => counter.disable(),
            Self::Group(group) => group.disable(),
        }
    }

    fn read(&self) -> Result<Vec<Count>, Error> {
        match self {
            Self::Alone(counter) => counter.read().map(|count| vec![count]),
            Self::Group(group) => group.read(),
        }
    }

    /// Returns the counters, in the order in which they were opened.
    fn counters(&self) -> &[Counter] {
        match self {
            Self::Alone(counter) => core::slice::from_ref(counter),
            Self::Group(group) => group.counters(),
        }
    }
}

/// A group on one target.
#[derive(Debug)]
struct Open {
    group: Counting,
    place: Place,
    /// The index of the event of each counter.
    events: Vec<usize>,
}

/// The result of opening a group on a target.
enum Opened {
    /// The group, without events that nothing counts.
    Group(Option<Box<Open>>),
    /// The group is weak, and its events do not fit on the PMU together.
    Apart,
    /// The thread has ended.
    Gone,
}

impl Counters {
    /// Opens the events. They do not count yet.
    ///
    /// Leaves out an event that the kernel or the hardware does not have; the report shows it as not supported. Any
    /// other failure is an error.
    pub(crate) fn open(planned: &[Planned], scope: &Scope<'_>) -> Result<Self, Failure> {
        if !limits::is_supported() {
            return Err(Failure("this kernel was built without CONFIG_PERF_EVENTS".to_owned()));
        }
        let events: Vec<EventSpec> =
            planned.iter().flat_map(|planned| planned.group.events.clone()).collect();
        let cgroups: Vec<Option<usize>> =
            planned.iter().flat_map(|planned| planned.group.events.iter().map(|_| planned.cgroup)).collect();
        let mut counters = Self {
            groups: Vec::new(),
            is_supported: events.iter().map(|event| event.tool.is_some()).collect(),
            merged_into: (0..events.len()).collect(),
            events,
            cgroups,
            on_exec: scope.on_exec,
        };
        if scope.merge {
            counters.merge();
        }
        let filters: Vec<Option<&CStr>> =
            planned.iter().flat_map(|planned| planned.filters.iter().map(Option::as_deref)).collect();
        let mut first = 0_usize;
        for Planned { group, cgroup, .. } in planned {
            let cgroup = cgroup.and_then(|number| scope.cgroups.get(number));
            let targets = targets(scope, cgroup);
            let indices: Vec<usize> = (first..first.saturating_add(group.events.len())).collect();
            if !counters.open_everywhere(&indices, group.weak, &targets, &filters, scope)? {
                for index in &indices {
                    counters.open_everywhere(&[*index], false, &targets, &filters, scope)?;
                }
            }
            first = first.saturating_add(group.events.len());
        }
        Ok(counters)
    }

    /// Adds the counts of events of the same name on several PMUs. The kinds of cpus of a machine are not added up.
    fn merge(&mut self) {
        let pmus = Pmus::new();
        let is_core = |name: &String| pmus.get(name).is_ok_and(|pmu| pmu.core);
        let is_merged = |index: usize, earlier: usize| {
            let [event, first] = [index, earlier].map(|index| self.events.get(index));
            let (Some(event), Some(first)) = (event, first) else { return false };
            event.pmu.is_some()
                && event.pmu != first.pmu
                && first.pmu.is_some()
                && event.name == first.name
                && self.cgroups.get(index) == self.cgroups.get(earlier)
                && !event.pmu.as_ref().is_some_and(is_core)
        };
        let into = |index| (0..index).find(|&earlier| is_merged(index, earlier)).unwrap_or(index);
        self.merged_into = (0..self.events.len()).map(into).collect();
    }

    /// Opens a group on every target. Returns `false` if it is weak and its events must be opened separately.
    fn open_everywhere(
        &mut self,
        indices: &[usize],
        weak: bool,
        targets: &[(Target<'_>, Place)],
        filters: &[Option<&CStr>],
        scope: &Scope<'_>,
    ) -> Result<bool, Failure> {
        let is_tool = |index: &usize| self.events.get(*index).is_some_and(|event| event.tool.is_some());
        let indices: Vec<usize> = indices.iter().copied().filter(|index| !is_tool(index)).collect();
        if indices.is_empty() {
            return Ok(true);
        }
        let open_before = self.groups.len();
        let mut gone = 0_usize;
        for (target, place) in targets {
            match self.open_group(&indices, weak, target, *place, filters, scope)? {
                Opened::Group(open) => self.groups.extend(open.map(|open| *open)),
                Opened::Gone => gone = gone.saturating_add(1),
                Opened::Apart => {
                    self.groups.truncate(open_before);
                    return Ok(false);
                }
            }
        }
        if gone == targets.len() {
            return Err(Failure("there is no such thread; it may have ended".to_owned()));
        }
        for open in self.groups.iter().skip(open_before) {
            for index in &open.events {
                let into = self.merged_into.get(*index).copied().unwrap_or(*index);
                self.is_supported.get_mut(into).into_iter().for_each(|supported| *supported = true);
            }
        }
        Ok(true)
    }

    fn open_group(
        &mut self,
        indices: &[usize],
        weak: bool,
        target: &Target<'_>,
        place: Place,
        filters: &[Option<&CStr>],
        scope: &Scope<'_>,
    ) -> Result<Opened, Failure> {
        let mut open: Option<Open> = None;
        for &index in indices {
            let Some(event) = self.events.get_mut(index) else { continue };
            // An event with a `cpumask` is opened only on the cpus that the PMU lists.
            let elsewhere = |cpu| !event.cpus.is_empty() && !event.cpus.contains(&cpu);
            if target.cpu_number().is_some_and(elsewhere) {
                continue;
            }
            let membership = match (&mut open, indices) {
                (_, [_]) => Membership::Alone,
                (Some(Open { group: Counting::Group(group), .. }), _) => Membership::Member(group),
                _ => Membership::Leader,
            };
            match open_event(event, membership, target, scope) {
                Ok(None) => open.iter_mut().for_each(|open| open.events.push(index)),
                Ok(Some(group)) => open = Some(Open { group, place, events: vec![index] }),
                // Some of the listed threads may have ended since.
                Err(error)
                    if error.errno_name() == Some("ESRCH")
                        && matches!(scope.observed, Observed::Threads(_)) =>
                {
                    return Ok(Opened::Gone);
                }
                Err(error) if is_lacking(&error) && weak => return Ok(Opened::Apart),
                // Without its leader, a group cannot be opened.
                Err(error) if is_lacking(&error) && open.is_none() => break,
                Err(error) if is_lacking(&error) => {}
                Err(error) => return Err(Failure(format!("{}: {error}", event.name))),
            }
            let opened = open.as_ref().filter(|open| open.events.last() == Some(&index));
            let counter = opened.and_then(|open| open.group.counters().last());
            if let (Some(Some(filter)), Some(counter)) = (filters.get(index), counter) {
                counter.set_filter(filter).map_err(|error| {
                    format!("--filter {}: {}: {error}", filter.to_string_lossy(), event.name)
                })?;
            }
        }
        Ok(Opened::Group(open.map(Box::new)))
    }

    /// Starts counting. Events that wait for the command's exec are not started here.
    pub(crate) fn enable(&self) -> Result<(), Failure> {
        if self.on_exec {
            return Ok(());
        }
        self.enable_now()
    }

    /// Starts counting, also of events that wait for an exec.
    pub(crate) fn enable_now(&self) -> Result<(), Failure> {
        Ok(self.groups.iter().try_for_each(|open| open.group.enable())?)
    }

    /// Stops counting.
    pub(crate) fn disable(&self) -> Result<(), Failure> {
        Ok(self.groups.iter().try_for_each(|open| open.group.disable())?)
    }

    /// Starts or stops counting the events of this name.
    pub(crate) fn switch(&self, name: &str, on: bool) -> Result<(), Failure> {
        let mut is_known = false;
        for open in &self.groups {
            for (index, counter) in open.events.iter().zip(open.group.counters()) {
                if self.events.get(*index).is_some_and(|event| event.name == name) {
                    is_known = true;
                    if on { counter.enable() } else { counter.disable() }?;
                }
            }
        }
        if !is_known {
            say!("perfdata: --control: {name} is not counted");
        }
        Ok(())
    }

    /// Reads what was counted up to now. `passed` are the times that this program has measured.
    pub(crate) fn read(&self, passed: &Passed) -> Result<Reading, Failure> {
        let mut reading: Reading =
            self.is_supported.iter().map(|supported| supported.then(BTreeMap::new)).collect();
        for open in &self.groups {
            let counts = match open.group.read() {
                Ok(counts) => counts,
                // A pinned group that could not be kept on the PMU: the kernel has no count.
                Err(error) if error.errno().is_none() => continue,
                Err(error) => return Err(error.into()),
            };
            for (index, count) in open.events.iter().zip(counts) {
                let index = self.merged_into.get(*index).unwrap_or(index);
                if let Some(Some(tallies)) = reading.get_mut(*index) {
                    let tally = tallies.entry(open.place).or_default();
                    *tally = tally.plus(Tally::from(count));
                }
            }
        }
        let time = u64::try_from(passed.elapsed.as_nanos()).unwrap_or(u64::MAX);
        for (event, tallies) in self.events.iter().zip(&mut reading) {
            if let (Some(value), Some(tallies)) = (event.tool.and_then(|tool| passed.of(tool)), tallies) {
                tallies.insert(Place::Everywhere, Tally { value, enabled: time, running: time });
            }
        }
        Ok(reading)
    }
}

/// Returns the targets, each with the place to which its counts are added. On cpus, tasks of `cgroup` alone are counted.
fn targets<'a>(scope: &Scope<'_>, cgroup: Option<&'a Cgroup>) -> Vec<(Target<'a>, Place)> {
    let place = |own| if scope.apart { own } else { Place::Everywhere };
    match scope.observed {
        Observed::Command => scope.command.iter().map(|&pid| (Target::pid(pid), Place::Everywhere)).collect(),
        Observed::Threads(tids) => match &scope.cpus {
            None => tids.iter().map(|&tid| (Target::pid(tid), place(Place::Thread(tid)))).collect(),
            Some(cpus) => {
                let on = |&cpu: &u32| {
                    tids.iter().map(move |&tid| (Target::pid_on(tid, cpu), place(Place::Thread(tid))))
                };
                cpus.iter().flat_map(on).collect()
            }
        },
        Observed::Cpus(cpus) => {
            let target = |cpu| match cgroup {
                Some(cgroup) => Target::cgroup(&cgroup.directory, cpu),
                None => Target::cpu(cpu),
            };
            let place = |cpu| scope.parts.get(&cpu).copied().unwrap_or(place(Place::Cpu(cpu)));
            cpus.iter().map(|&cpu| (target(cpu), place(cpu))).collect()
        }
    }
}

/// How an event is opened.
enum Membership<'a> {
    /// Without a group, so that a read has one count.
    Alone,
    /// As the leader of a new group.
    Leader,
    Member(&'a mut Group),
}

/// Opens an event as a member of a group, or alone or as the leader of a new group, which are returned.
///
/// If the kernel may not be counted, counts user space alone and adds that to the event's name, as `perf stat` does.
fn open_event(
    event: &mut EventSpec,
    mut membership: Membership<'_>,
    target: &Target<'_>,
    scope: &Scope<'_>,
) -> Result<Option<Counting>, Error> {
    let is_leader = !matches!(membership, Membership::Member(_));
    let is_alone = matches!(membership, Membership::Alone);
    let on_exec = is_leader && scope.on_exec;
    let mut open = |event: &EventSpec| {
        // It has no effect on cpus, where perf sets it too. Kernels before 4.13 refuse it for groups.
        let may_inherit = target.thread().is_some() || is_alone;
        let inherit = event.terms.inherit.unwrap_or(scope.inherit) && may_inherit;
        let builder = Builder::new(event.clone())
            .sample_period(0)
            .inherit(inherit)
            .disabled(is_leader)
            .enable_on_exec(on_exec)
            // It has no effect on counts; perf sets it too, for `perf stat record`.
            .sample_type(SampleType::IDENTIFIER)
            .or_drop(SampleType::IDENTIFIER);
        match &mut membership {
            Membership::Alone => {
                let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
                builder.read_format(times).open(target).map(Counting::Alone).map(Some)
            }
            Membership::Leader => Group::open(builder, target).map(Counting::Group).map(Some),
            Membership::Member(group) => group.add(builder, target).map(|()| None),
        }
    };
    match open(event) {
        Err(error)
            if matches!(error.errno_name(), Some("EACCES" | "EPERM"))
                && !event.attr.flags.intersects(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_USER)
                && limits::paranoid().is_ok_and(|level| level > 1) =>
        {
            let mut user = event.clone();
            user.attr.flags |= AttrFlags::EXCLUDE_KERNEL;
            let has_modifiers = event.name.contains(':') && event.attr.kind != EventType::TRACEPOINT;
            user.name += if has_modifiers || event.name.ends_with('/') { "u" } else { ":u" };
            match open(&user) {
                Ok(opened) => {
                    *event = user;
                    Ok(opened)
                }
                Err(second) if is_lacking(&second) || second.errno_name() == Some("ESRCH") => Err(second),
                // Report why the event itself was not opened.
                Err(_) => Err(error),
            }
        }
        result => result,
    }
}

/// Returns whether an error means that the kernel or the hardware does not have the event.
fn is_lacking(error: &Error) -> bool {
    let lacking = ["EINVAL", "ENOSYS", "ENOENT", "EOPNOTSUPP", "ENXIO", "ENODEV"];
    error.errno_name().is_some_and(|name| lacking.contains(&name))
}

//! The events, opened on all their targets.

use alloc::collections::BTreeMap;
use core::ffi::CStr;
use std::path::Path;

use perf_open::event::Tool;
use perf_open::pmu::Pmus;
use perf_open::{Counter, EventSpec, Target, limits};

use super::machine;
use super::opening::{Counting, Membership, Scope, is_lacking, open_event};
use super::plan::Planned;
use super::tally::{Place, Reading, Tally};
use super::times::Passed;
use crate::Failure;
use crate::live::cgroup::Cgroup;
use crate::live::observed::Observed;
use crate::output::say;

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
    /// The value of each event that is a property of the machine.
    properties: Vec<Option<u64>>,
    /// Whether the events wait for the exec of the command.
    on_exec: bool,
}

/// A group on one target.
#[derive(Debug)]
struct Open {
    group: Counting,
    place: Place,
    cpu: Option<u32>,
    thread: Option<u32>,
    /// The index of the event of each counter.
    events: Vec<usize>,
}

/// A count of an event on a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// The index of the event.
    pub(crate) event: usize,
    /// The number of the counter among all counters.
    pub(crate) counter: usize,
    pub(crate) cpu: Option<u32>,
    pub(crate) thread: Option<u32>,
    place: Place,
    pub(crate) tally: Tally,
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
        let sysfs = Path::new("/sys");
        let property = |event: &EventSpec| machine::property(event.tool?, scope.observed, sysfs);
        let properties: Vec<_> = events.iter().map(property).collect();
        let is_time = |event: &EventSpec| event.tool.is_some_and(Tool::is_time);
        let known = properties.iter().map(Option::is_some);
        let mut counters = Self {
            groups: Vec::new(),
            is_supported: events.iter().map(is_time).zip(known).map(|(time, known)| time || known).collect(),
            properties,
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
                Ok(Some(group)) => {
                    let (cpu, thread) = (target.cpu_number(), target.thread());
                    open = Some(Open { group, place, cpu, thread, events: vec![index] });
                }
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

    /// Returns each counter with the index of its event.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &Counter)> {
        self.groups.iter().flat_map(|open| open.events.iter().copied().zip(open.group.counters()))
    }

    /// Returns the cpu of each group that is open.
    pub(crate) fn cpus(&self) -> Vec<Option<u32>> {
        self.groups.iter().map(|open| open.cpu).collect()
    }

    /// Reads each counter.
    pub(crate) fn counts(&self) -> Result<Vec<Counted>, Failure> {
        let mut all = Vec::new();
        let mut first = 0_usize;
        for open in &self.groups {
            let counters = first..first.saturating_add(open.events.len());
            first = counters.end;
            let counts = match open.group.read() {
                Ok(counts) => counts,
                // A pinned group that could not be kept on the PMU: the kernel has no count.
                Err(error) if error.errno().is_none() => continue,
                Err(error) => return Err(error.into()),
            };
            let Open { place, cpu, thread, .. } = *open;
            all.extend(open.events.iter().zip(counters).zip(counts).map(|((&event, counter), count)| {
                Counted { event, counter, cpu, thread, place, tally: Tally::from(count) }
            }));
        }
        Ok(all)
    }

    /// Returns the counts by event and place. `passed` are the times that this program has measured.
    pub(crate) fn reading(&self, counts: &[Counted], passed: &Passed) -> Reading {
        let mut reading: Reading =
            self.is_supported.iter().map(|supported| supported.then(BTreeMap::new)).collect();
        for Counted { event, place, tally, .. } in counts {
            let event = self.merged_into.get(*event).unwrap_or(event);
            if let Some(Some(tallies)) = reading.get_mut(*event) {
                let sum = tallies.entry(*place).or_default();
                *sum = sum.plus(*tally);
            }
        }
        let time = u64::try_from(passed.elapsed.as_nanos()).unwrap_or(u64::MAX);
        for ((event, property), tallies) in self.events.iter().zip(&self.properties).zip(&mut reading) {
            let value = property.or_else(|| event.tool.and_then(|tool| passed.of(tool)));
            if let (Some(value), Some(tallies)) = (value, tallies) {
                let is_constant = property.is_some();
                tallies.insert(Place::Everywhere, Tally { value, enabled: time, running: time, is_constant });
            }
        }
        reading
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

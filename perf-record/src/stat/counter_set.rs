//! The events of one run, opened on all their targets.

use core::ffi::CStr;
use std::path::Path;

use perf_open::event::ToolEvent;
use perf_open::pmu::Pmus;
use perf_open::{Counter, EventSpec, Target, limits};

use super::aggregation::Aggregate;
use super::error::StatError;
use super::group::StatGroup;
use super::opening::{CounterUnit, GroupMembership, OpeningScope, is_lacking, open_event};
use super::property::property;
use super::readout::{Readout, TimedCount};
use super::targets::targets;
use super::times::{PassedTime, nanoseconds};
use crate::Targets;

/// Open events.
#[derive(Debug)]
pub(super) struct CounterSet {
    units: Vec<TargetUnit>,
    /// The events as they were opened, in the order of the groups.
    pub(super) events: Vec<EventSpec>,
    /// The index of the cgroup of each event.
    pub(super) cgroups: Vec<Option<usize>>,
    /// For each event the one to which its counts are added; itself for most.
    pub(super) merged_into: Vec<usize>,
    /// Whether any PMU of this machine counts the event.
    is_supported: Vec<bool>,
    /// The value of each event that is a property of the machine.
    properties: Vec<Option<u64>>,
    /// Whether the events wait for the exec of the command.
    on_exec: bool,
}

/// An event or a group on one target.
#[derive(Debug)]
struct TargetUnit {
    counters: CounterUnit,
    aggregate: Aggregate,
    cpu: Option<u32>,
    thread: Option<u32>,
    /// The index of the event of each counter.
    events: Vec<usize>,
}

/// The count of one counter: of an event on a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterCount {
    /// The index of the event.
    event: usize,
    /// The index of the counter among all counters.
    pub(super) counter: usize,
    pub(super) cpu: Option<u32>,
    pub(super) thread: Option<u32>,
    aggregate: Aggregate,
    pub(super) count: TimedCount,
}

/// The result of opening a group on a target.
enum OpeningResult {
    /// The group, without events that nothing counts; `None` if nothing counts any.
    Group(Option<Box<TargetUnit>>),
    /// The group is weak, and its events do not fit on the PMU together.
    TooLarge,
    /// The thread has ended.
    NoThread,
}

impl CounterSet {
    /// Opens the events. They do not count yet.
    ///
    /// Leaves out an event that the kernel or the hardware does not have; its readouts are `None`. Any other failure is an
    /// error.
    pub(super) fn open(groups: &[StatGroup], scope: &OpeningScope<'_>) -> Result<Self, StatError> {
        if !limits::is_supported() {
            return Err(StatError::NoPerfEvents);
        }
        let events: Vec<EventSpec> = groups.iter().flat_map(|group| group.events().to_vec()).collect();
        let cgroups = groups.iter().flat_map(|group| group.events().iter().map(|_| group.cgroup)).collect();
        let sysfs = Path::new("/sys");
        let of_event = |event: &EventSpec| property(event.tool?, scope.targets, sysfs);
        let properties: Vec<_> = events.iter().map(of_event).collect();
        let is_time = |event: &EventSpec| event.tool.is_some_and(ToolEvent::is_time);
        let has_value = properties.iter().map(Option::is_some);
        let mut counters = Self {
            units: Vec::new(),
            is_supported: events.iter().map(is_time).zip(has_value).map(|(time, has)| time || has).collect(),
            properties,
            merged_into: (0..events.len()).collect(),
            events,
            cgroups,
            on_exec: scope.on_exec(),
        };
        if scope.options.merge_pmus {
            counters.merge();
        }
        let filters: Vec<Option<&CStr>> =
            groups.iter().flat_map(|group| group.filters.iter().map(Option::as_deref)).collect();
        let mut first = 0_usize;
        for StatGroup { group, cgroup, .. } in groups {
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
        targets: &[(Target<'_>, Aggregate)],
        filters: &[Option<&CStr>],
        scope: &OpeningScope<'_>,
    ) -> Result<bool, StatError> {
        let is_tool = |index: &usize| self.events.get(*index).is_some_and(|event| event.tool.is_some());
        let indices: Vec<usize> = indices.iter().copied().filter(|index| !is_tool(index)).collect();
        if indices.is_empty() {
            return Ok(true);
        }
        let open_before = self.units.len();
        let mut ended = 0_usize;
        for (target, aggregate) in targets {
            match self.open_group(&indices, weak, target, *aggregate, filters, scope)? {
                OpeningResult::Group(unit) => self.units.extend(unit.map(|unit| *unit)),
                OpeningResult::NoThread => ended = ended.saturating_add(1),
                OpeningResult::TooLarge => {
                    self.units.truncate(open_before);
                    return Ok(false);
                }
            }
        }
        if ended == targets.len() {
            return Err(StatError::NoThread);
        }
        for unit in self.units.iter().skip(open_before) {
            for index in &unit.events {
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
        aggregate: Aggregate,
        filters: &[Option<&CStr>],
        scope: &OpeningScope<'_>,
    ) -> Result<OpeningResult, StatError> {
        let mut unit: Option<TargetUnit> = None;
        for &index in indices {
            let Some(event) = self.events.get_mut(index) else { continue };
            // An event with a `cpumask` is opened only on the cpus that the PMU lists.
            let elsewhere = |cpu| !event.cpus.is_empty() && !event.cpus.contains(&cpu);
            if target.cpu_number().is_some_and(elsewhere) {
                continue;
            }
            let membership = match (&mut unit, indices) {
                (_, [_]) => GroupMembership::Alone,
                (Some(TargetUnit { counters: CounterUnit::Group(group), .. }), _) => {
                    GroupMembership::Member(group)
                }
                _ => GroupMembership::Leader,
            };
            match open_event(event, membership, target, scope) {
                Ok(None) => unit.iter_mut().for_each(|unit| unit.events.push(index)),
                Ok(Some(counters)) => {
                    let (cpu, thread) = (target.cpu_number(), target.thread());
                    unit = Some(TargetUnit { counters, aggregate, cpu, thread, events: vec![index] });
                }
                // Some of the listed threads may have ended since.
                Err(error)
                    if error.errno_name() == Some("ESRCH")
                        && matches!(scope.targets, Targets::Threads(_)) =>
                {
                    return Ok(OpeningResult::NoThread);
                }
                Err(error) if is_lacking(&error) && weak => return Ok(OpeningResult::TooLarge),
                // Without its leader, a group cannot be opened.
                Err(error) if is_lacking(&error) && unit.is_none() => break,
                Err(error) if is_lacking(&error) => {}
                Err(error) => return Err(StatError::Open { event: event.name.clone(), error }),
            }
            let opened = unit.as_ref().filter(|unit| unit.events.last() == Some(&index));
            let counter = opened.and_then(|unit| unit.counters.counters().last());
            if let (Some(Some(filter)), Some(counter)) = (filters.get(index), counter) {
                counter.set_filter(filter).map_err(|error| StatError::Filter {
                    filter: filter.to_string_lossy().into_owned(),
                    event: event.name.clone(),
                    error,
                })?;
            }
        }
        Ok(OpeningResult::Group(unit.map(Box::new)))
    }

    /// Starts counting. Events that wait for the command's exec are not started here.
    pub(super) fn enable(&self) -> Result<(), StatError> {
        if self.on_exec {
            return Ok(());
        }
        self.enable_now()
    }

    /// Starts counting, also of events that wait for an exec.
    pub(super) fn enable_now(&self) -> Result<(), StatError> {
        Ok(self.units.iter().try_for_each(|unit| unit.counters.enable())?)
    }

    /// Stops counting.
    pub(super) fn disable(&self) -> Result<(), StatError> {
        Ok(self.units.iter().try_for_each(|unit| unit.counters.disable())?)
    }

    /// Starts or stops counting the events of this name. Returns whether any is open.
    pub(super) fn switch(&self, name: &str, on: bool) -> Result<bool, StatError> {
        let mut is_open = false;
        for (index, counter) in self.counters() {
            if self.events.get(index).is_some_and(|event| event.name == name) {
                is_open = true;
                if on { counter.enable() } else { counter.disable() }?;
            }
        }
        Ok(is_open)
    }

    /// Returns each counter with the index of its event.
    pub(super) fn counters(&self) -> impl Iterator<Item = (usize, &Counter)> {
        self.units.iter().flat_map(|unit| unit.events.iter().copied().zip(unit.counters.counters()))
    }

    /// Returns the cpu of each event or group that is open; `None` for any.
    pub(super) fn cpus(&self) -> Vec<Option<u32>> {
        self.units.iter().map(|unit| unit.cpu).collect()
    }

    /// Reads each counter.
    pub(super) fn read(&self) -> Result<Vec<CounterCount>, StatError> {
        let mut all = Vec::new();
        let mut first = 0_usize;
        for unit in &self.units {
            let numbers = first..first.saturating_add(unit.events.len());
            first = numbers.end;
            let counts = match unit.counters.read() {
                Ok(counts) => counts,
                // A pinned group that could not be kept on the PMU: the kernel has no count.
                Err(error) if error.errno().is_none() => continue,
                Err(error) => return Err(error.into()),
            };
            let TargetUnit { aggregate, cpu, thread, .. } = *unit;
            all.extend(unit.events.iter().zip(numbers).zip(counts).map(|((&event, counter), count)| {
                CounterCount { event, counter, cpu, thread, aggregate, count: TimedCount::from(count) }
            }));
        }
        Ok(all)
    }

    /// Adds up counts by event and aggregate. `passed` are the times of the tool's own events.
    pub(super) fn readout(&self, counts: &[CounterCount], passed: &PassedTime) -> Readout {
        let mut readout = Readout::unsupported(self.events.len());
        let supported = self.is_supported.iter().enumerate().filter(|(_, supported)| **supported);
        supported.for_each(|(event, _)| readout.support(event));
        for CounterCount { event, aggregate, count, .. } in counts {
            let event = self.merged_into.get(*event).unwrap_or(event);
            readout.add(*event, *aggregate, *count);
        }
        let time = nanoseconds(passed.elapsed);
        for (index, (event, property)) in self.events.iter().zip(&self.properties).enumerate() {
            if let Some(value) = property.or_else(|| passed.of(event.tool?)) {
                let is_constant = property.is_some();
                readout.set_total(index, TimedCount { is_constant, ..TimedCount::new(value, time, time) });
            }
        }
        readout
    }
}

//! The open events of a recording, and their rings.

use alloc::ffi::CString;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::Path;

use perf_abi::attr::AttrFlags;
use perf_abi::read_format::ReadFormat;
use perf_open::pmu::Pmus;
use perf_open::{Counter, EventGroup, EventSpec, Overwrite, Ring, Target, limits};
use perf_parse::file::write::EventFields;

use crate::aux_area::{Abilities, AuxPlan, AuxTarget, TracedArea};
use crate::fallback::{self, EventChoices, FallbackStep, OpenRefusal};
use crate::host::ROOT;
use crate::pace::Pace;
use crate::ring_plan::{self, RingPlan};
use crate::shared_settings::{self, OwnEvent, SharedSettings};
use crate::{Error, FallbackNote, RecordOptions, Targets, online, ring_size, terms};

/// An open event on one target.
#[derive(Debug)]
pub(crate) struct OpenEvent {
    /// The index of the event.
    pub(crate) event: usize,
    pub(crate) counter: Counter,
    pub(crate) id: u64,
    /// The index of its ring.
    pub(crate) ring: usize,
    /// The cpu; `None` for any.
    pub(crate) cpu: Option<u32>,
    /// The thread; `None` for any.
    pub(crate) tid: Option<u32>,
}

/// The open events of a recording. They do not count yet.
#[derive(Debug, Default)]
pub(crate) struct EventSession {
    pub(crate) opened: Vec<OpenEvent>,
    /// The rings that are read while they are written.
    pub(crate) rings: Vec<Ring>,
    /// Whether the tasks of each of `rings` have ended.
    pub(crate) ended: Vec<bool>,
    /// The rate at which `rings` fill.
    pub(crate) pace: Pace,
    /// The rings that keep the newest records.
    pub(crate) overwrites: Vec<Overwrite>,
    /// The AUX areas, in the order of their rings.
    pub(crate) areas: Vec<TracedArea>,
    /// The hardware trace; `None` if no event writes one.
    pub(crate) plan: Option<AuxPlan>,
    /// Whether the events were started, and not stopped since.
    pub(crate) is_on: AtomicBool,
    /// The events as the capture lists them.
    pub(crate) events: Vec<EventFields>,
    /// The index of the event that records mappings, names and tasks.
    pub(crate) tracker: usize,
    /// Whether that event takes no samples.
    has_tracker: bool,
    /// The number of events that were not asked for, which precede the others.
    pub(crate) own: usize,
}

impl EventSession {
    /// Opens the groups of `choices` on all targets.
    pub(crate) fn open(
        choices: &mut EventChoices,
        targets: &Targets,
        command: Option<u32>,
        options: &RecordOptions,
    ) -> Result<(Self, Vec<FallbackNote>), Error> {
        if !limits::is_supported() {
            return Err(Error::Request("this kernel was built without CONFIG_PERF_EVENTS".to_owned()));
        }
        terms::check(&choices.groups, options)?;
        contradictions(targets, options)?;
        let abilities = || {
            Abilities::of_machine(
                Path::new(ROOT),
                online().ok().map_or(0, |cpus| cpus.first().copied().unwrap_or(0)),
            )
        };
        choices.aux = AuxPlan::of(&mut choices.groups, targets, options, &Pmus::new(), abilities)?;
        let mut notes = Vec::new();
        loop {
            let settings = shared_settings::of(choices, targets, options)?;
            let ring_plans = ring_plan::of(targets, command, options, &settings)?;
            let mut session = Self { plan: choices.aux.clone(), ..Self::default() };
            let mut dropped = Vec::new();
            let refusal = match session.open_all(&choices.groups, &settings, &ring_plans, &mut dropped)? {
                None => {
                    if !dropped.is_empty() {
                        dropped.sort_unstable();
                        dropped.dedup();
                        notes.push(FallbackNote::LeftOut(dropped));
                    }
                    return Ok((session, notes));
                }
                Some(refusal) => refusal,
            };
            let own = session.own;
            // Closed before the limit of open files is raised, and before the next try.
            drop(session);
            let errno = refusal.error.errno_name().unwrap_or_default();
            match fallback::after(errno, refusal.place, choices, targets, options) {
                FallbackStep::Retry(note) => notes.extend(note),
                FallbackStep::GiveUp if errno == "EMFILE" => {
                    let events: usize = choices.groups.iter().map(|group| group.events.len()).sum();
                    let targets: usize = ring_plans.iter().map(|ring| ring.targets.len()).sum();
                    let needed = (events + own) * targets + ring_plans.len();
                    return Err(Error::Request(format!(
                        "too many open files: {events} events on {targets} targets need about {needed} file \
                         descriptors; raise the hard limit (ulimit -Hn)"
                    )));
                }
                FallbackStep::GiveUp => {
                    let asked = choices.groups.iter().flat_map(|group| &group.events).next();
                    // What forbids the own events on a target forbids all events there.
                    let is_own = refusal.place.is_none() && matches!(errno, "EACCES" | "EPERM");
                    let event = match asked.filter(|_| is_own) {
                        Some(asked) => asked.name.clone(),
                        None => refusal.event,
                    };
                    return Err(Error::Open { event, error: refusal.error });
                }
            }
        }
    }

    /// Starts all events that do not wait for the exec of the command.
    pub(crate) fn enable(&self) -> Result<(), Error> {
        self.is_on.store(true, Ordering::Relaxed);
        // Enabling a leader also starts its members.
        let waits = |counter: &&Counter| counter.attr().flags.contains(AttrFlags::ENABLE_ON_EXEC);
        Ok(self.leaders().filter(|counter| !waits(counter)).try_for_each(Counter::enable)?)
    }

    /// Starts the event that takes no samples, if there is one.
    pub(crate) fn enable_tracker(&self) -> Result<(), Error> {
        let tracks = |opened: &&OpenEvent| self.has_tracker && opened.event == self.tracker;
        Ok(self.opened.iter().filter(tracks).try_for_each(|opened| opened.counter.enable())?)
    }

    /// Stops all events that take samples. The event that takes none goes on.
    pub(crate) fn pause(&self) -> Result<(), Error> {
        self.is_on.store(false, Ordering::Relaxed);
        let samples = |opened: &&OpenEvent| !(self.has_tracker && opened.event == self.tracker);
        let leads = |opened: &&OpenEvent| opened.counter.attr().flags.contains(AttrFlags::DISABLED);
        let leaders = self.opened.iter().filter(samples).filter(leads);
        Ok(leaders.map(|opened| &opened.counter).try_for_each(Counter::disable)?)
    }

    /// Starts or stops one event.
    pub(crate) fn switch(&self, event: usize, on: bool) -> Result<(), Error> {
        let counters =
            self.opened.iter().filter(|opened| opened.event == event).map(|opened| &opened.counter);
        Ok(counters
            .into_iter()
            .try_for_each(|counter| if on { counter.enable() } else { counter.disable() })?)
    }

    /// Starts all events that take samples, whether they have started before or not.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        self.is_on.store(true, Ordering::Relaxed);
        Ok(self.leaders().try_for_each(Counter::enable)?)
    }

    /// Stops all events.
    pub(crate) fn disable(&self) -> Result<(), Error> {
        self.is_on.store(false, Ordering::Relaxed);
        Ok(self.leaders().try_for_each(Counter::disable)?)
    }

    /// Returns the number of samples that each event lost because its ring was full, with the id of the event. Since
    /// Linux 6.0; empty before.
    pub(crate) fn lost(&self) -> Result<Vec<(u64, u64)>, Error> {
        let mut all = Vec::new();
        for OpenEvent { counter, id, .. } in &self.opened {
            let format = counter.attr().read_format;
            if format.contains(ReadFormat::LOST) && !format.contains(ReadFormat::GROUP) {
                let lost = counter.read()?.lost.unwrap_or(0);
                all.extend((lost > 0).then_some((*id, lost)));
            }
        }
        Ok(all)
    }

    fn leaders(&self) -> impl Iterator<Item = &Counter> {
        let counters = self.opened.iter().map(|opened| &opened.counter);
        counters.filter(|counter| counter.attr().flags.contains(AttrFlags::DISABLED))
    }

    fn open_all(
        &mut self,
        groups: &[EventGroup],
        settings: &SharedSettings<'_>,
        ring_plans: &[RingPlan],
        dropped: &mut Vec<&'static str>,
    ) -> Result<Option<OpenRefusal>, Error> {
        let own = settings.own_events();
        (self.has_tracker, self.own) = (settings.tracker, own.len());
        self.events.extend(own.iter().map(|own| {
            let name = Some(own.name.as_bytes().to_vec());
            EventFields { name, ..EventFields::default() }
        }));
        self.events.extend(groups.iter().flat_map(|group| &group.events).map(fields));
        let mut gone = 0_usize;
        for ring_plan in ring_plans {
            let first = self.opened.len();
            for target in &ring_plan.targets {
                match self.open_on(ring_plan, target, groups, settings, (&own, dropped))? {
                    Some(refusal) if refusal.error.errno_name() == Some("ESRCH") => gone += 1,
                    Some(refusal) => return Ok(Some(refusal)),
                    None => {}
                }
            }
            if let Some(cpu) = ring_plan.cpu {
                let refusal = self.open_own(ring_plan, &Target::cpu(cpu), true, settings, (&own, dropped))?;
                if refusal.is_some() {
                    return Ok(refusal);
                }
            }
            match self.map(first, settings.options) {
                Ok(()) => {}
                Err(error) if error.errno_name() == Some("EMFILE") => {
                    return Ok(Some(OpenRefusal { event: "ring".to_owned(), place: None, error }));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if gone > 0 && gone == ring_plans.iter().map(|ring| ring.targets.len()).sum::<usize>() {
            return Err(Error::Request("there is no such thread; it may have ended".to_owned()));
        }
        Ok(None)
    }

    /// Opens all events on one target.
    fn open_on(
        &mut self,
        ring_plan: &RingPlan,
        target: &Target<'static>,
        groups: &[EventGroup],
        settings: &SharedSettings<'_>,
        (own, dropped): (&[OwnEvent], &mut Vec<&'static str>),
    ) -> Result<Option<OpenRefusal>, Error> {
        let refusal = self.open_own(ring_plan, target, false, settings, (own, dropped))?;
        if refusal.is_some() || ring_plan.only_tracker {
            return Ok(refusal);
        }
        let mut index = own.len();
        for (number, group) in groups.iter().enumerate() {
            let leader = self.opened.len();
            for (at, event) in group.events.iter().enumerate() {
                let target = &settings.options.on(index - own.len(), target);
                let is_tracking = index == 0 && settings.options.tracking;
                let builder = settings.builder(group, at, is_tracking)?;
                // An event with a `cpumask` is opened only on the cpus that the PMU lists.
                let elsewhere = |cpu| !event.cpus.is_empty() && !event.cpus.contains(&cpu);
                if target.cpu_number().is_none_or(|cpu| !elsewhere(cpu)) {
                    let opened = match self.opened.get(leader) {
                        Some(leader) => builder.open_in(&leader.counter, target),
                        None => builder.open(target),
                    };
                    match opened {
                        Ok(counter) => {
                            self.take(index, counter, (ring_plan, target.thread()), settings, dropped)?
                        }
                        Err(error) => {
                            let event = event.name.clone();
                            return Ok(Some(OpenRefusal { event, place: Some((number, at)), error }));
                        }
                    }
                }
                index += 1;
            }
        }
        Ok(None)
    }

    /// Opens the own events on a target: those of all tasks, or the others.
    fn open_own(
        &mut self,
        ring_plan: &RingPlan,
        target: &Target<'static>,
        of_all_tasks: bool,
        settings: &SharedSettings<'_>,
        (own, dropped): (&[OwnEvent], &mut Vec<&'static str>),
    ) -> Result<Option<OpenRefusal>, Error> {
        for (index, event) in own.iter().enumerate().filter(|(_, event)| event.of_all_tasks == of_all_tasks) {
            match event.builder.open(target) {
                Ok(counter) => self.take(index, counter, (ring_plan, target.thread()), settings, dropped)?,
                Err(error) => {
                    return Ok(Some(OpenRefusal { event: event.name.to_owned(), place: None, error }));
                }
            }
        }
        Ok(None)
    }

    fn take(
        &mut self,
        event: usize,
        counter: Counter,
        (ring_plan, tid): (&RingPlan, Option<u32>),
        settings: &SharedSettings<'_>,
        dropped: &mut Vec<&'static str>,
    ) -> Result<(), Error> {
        let number = event.checked_sub(self.own);
        let is_traced = Some(event) == self.traced();
        let fields = &mut self.events[event];
        if let Some(filter) = number.and_then(|number| filter_of(settings.options, number, is_traced)) {
            let text = CString::new(filter.clone()).map_err(|error| Error::Request(error.to_string()))?;
            counter.set_filter(&text).map_err(|error| {
                let name = fields.name.as_deref().unwrap_or_default();
                Error::Open { event: format!("{}: filter '{filter}'", String::from_utf8_lossy(name)), error }
            })?;
        }
        let id = counter.id()?;
        fields.attr = *counter.attr();
        fields.ids.push(id);
        dropped.extend(counter.dropped());
        let ring = self.rings.len();
        self.opened.push(OpenEvent { event, counter, id, ring, cpu: ring_plan.cpu, tid });
        Ok(())
    }

    /// Maps a ring for the counters starting at `first`: one for those that overwrite, and one for the others.
    fn map(&mut self, first: usize, options: &RecordOptions) -> Result<(), perf_open::Error> {
        let of_trace = self.plan.as_ref().and_then(|plan| plan.sizes.ring);
        let mut pages = options.mmap_pages.or(of_trace).unwrap_or_else(ring_size::default_pages).max(1);
        let (mut ring, mut overwrite): (Option<Ring>, Option<Overwrite>) = (None, None);
        // The area belongs to the event of the ring.
        let (traced, others): (Vec<_>, Vec<_>) =
            self.opened[first..].iter().partition(|opened| Some(opened.event) == self.traced());
        let tid = self.opened.get(first).and_then(|opened| opened.tid);
        for OpenEvent { counter, .. } in traced.iter().chain(&others) {
            let is_backward = counter.attr().flags.contains(AttrFlags::WRITE_BACKWARD);
            match (is_backward, &mut ring, &mut overwrite) {
                (false, Some(ring), _) => drop(ring.add(counter)?),
                (true, _, Some(overwrite)) => drop(overwrite.add(counter)?),
                (false, None, _) => {
                    ring = Some(fitting(options, &mut pages, |pages| Ring::map(counter, pages))?);
                }
                (true, _, None) => {
                    overwrite = Some(fitting(options, &mut pages, |pages| Overwrite::map(counter, pages))?);
                }
            }
        }
        if let (Some(plan), Some(traced), Some(ring)) = (&self.plan, traced.first(), &ring) {
            let target = AuxTarget { ring: traced.ring, cpu: traced.cpu, tid };
            self.areas.push(TracedArea::map(plan, ring, target)?);
        }
        self.ended.extend(ring.iter().map(|_| false));
        self.rings.extend(ring);
        self.overwrites.extend(overwrite);
        Ok(())
    }
}

impl RecordOptions {
    /// Returns the target of an event: the tasks of its cgroup alone, if it has one.
    fn on<'a>(&'a self, event: usize, target: &Target<'a>) -> Target<'a> {
        let cgroup = self.in_cgroups.iter().find(|(of, _)| *of == event);
        match (cgroup, target.cpu_number()) {
            (Some((_, directory)), Some(cpu)) => Target::cgroup(directory, cpu),
            _ => *target,
        }
    }
}

/// Returns the filter of an event: all of its filters must hold. Those of a trace are ranges of addresses, and one of them must
/// hold.
///
/// perf: `evsel__append_tp_filter`, `evsel__append_addr_filter`.
pub(crate) fn filter_of(options: &RecordOptions, event: usize, is_traced: bool) -> Option<String> {
    let mut filters =
        options.filters.iter().filter(|(of, _)| *of == event).map(|(_, filter)| filter.as_str());
    let first = filters.next()?.to_owned();
    Some(filters.fold(first, |all, filter| match is_traced {
        true => format!("{all},{filter}"),
        false => format!("({all}) && ({filter})"),
    }))
}

/// Returns an error if an option has no effect on the targets.
fn contradictions(targets: &Targets, options: &RecordOptions) -> Result<(), Error> {
    let why = if options.cpus.is_some() && options.per_thread {
        "per_thread has rings for threads on any cpu, and cannot be limited to some cpus"
    } else if !options.in_cgroups.is_empty() && !matches!(targets, Targets::Cpus(_)) {
        "the tasks of cgroups are recorded on cpus; observe these, or all cpus"
    } else {
        return Ok(());
    };
    Err(Error::Request(why.to_owned()))
}

/// Maps a ring. If the limit of locked memory forbids it and no size was chosen, tries smaller sizes.
fn fitting<R>(
    options: &RecordOptions,
    pages: &mut usize,
    map: impl Fn(usize) -> Result<R, perf_open::Error>,
) -> Result<R, perf_open::Error> {
    loop {
        match map(*pages) {
            Err(error)
                if error.errno_name() == Some("EPERM") && *pages > 1 && options.mmap_pages.is_none() =>
            {
                *pages /= 2;
            }
            result => return result,
        }
    }
}

/// Returns an event as a capture lists it, without its attr and ids.
fn fields(event: &EventSpec) -> EventFields {
    EventFields {
        name: Some(event.name.clone().into_bytes()),
        unit: event.unit.clone().map(String::into_bytes),
        scale: event.scale,
        cpus: (!event.cpus.is_empty()).then(|| event.cpus.clone()),
        ..EventFields::default()
    }
}

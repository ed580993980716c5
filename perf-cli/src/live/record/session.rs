//! The open events of a recording, and their rings.

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::EventType;
use perf_open::{Counter, Error, EventGroup, EventSpec, Overwrite, Ring, Target, limits, ring};
use perf_parse::file::write::EventFields;

use super::TICK;
use super::attrs::{self, Manner};
use crate::Failure;
use crate::live::observed::{self, Observed};
use crate::output::say;

/// The default size of a ring in bytes: what an unprivileged user may lock per cpu by default.
const DEFAULT_BYTES: usize = 512 << 10;

/// Where the events are opened: for each ring, the targets that write to it.
pub(super) type RingTargets = Vec<Vec<Target<'static>>>;

/// Returns the targets of each ring. There is one ring per cpu, because inherited events must be bound to a cpu;
/// without inheritance, one ring per thread.
pub(super) fn ring_targets(
    observed: &Observed,
    command: Option<u32>,
    inherit: bool,
) -> Result<RingTargets, Failure> {
    let threads = match observed {
        Observed::Cpus(cpus) => return Ok(cpus.iter().map(|&cpu| vec![Target::cpu(cpu)]).collect()),
        Observed::Threads(tids) => tids.clone(),
        Observed::Command => command.into_iter().collect(),
    };
    if !inherit {
        return Ok(threads.into_iter().map(|tid| vec![Target::pid(tid)]).collect());
    }
    let on = |cpu| threads.iter().map(|&tid| Target::pid_on(tid, cpu)).collect();
    Ok(observed::online()?.into_iter().map(on).collect())
}

/// The open events of a recording. They do not count yet.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The counters, each with the index of its event.
    pub(super) counters: Vec<(usize, Counter)>,
    /// The rings that are read while they are written.
    pub(super) rings: Vec<Ring>,
    /// The rings that keep the newest records.
    pub(super) overwrites: Vec<Overwrite>,
    /// The events as the capture lists them.
    pub(super) events: Vec<EventFields>,
    /// The kernel's names of the parts that it is too old for, and that were left out.
    pub(super) dropped: Vec<&'static str>,
}

/// Why an event could not be opened.
struct Refusal {
    event: String,
    error: Error,
}

impl Session {
    /// Opens `groups` on all targets.
    ///
    /// If no event was named and nothing counts cycles, opens a clock. If the kernel may not be sampled, samples user
    /// space alone.
    pub(super) fn open(
        groups: &mut [EventGroup],
        manner: Manner<'_>,
        rings: &RingTargets,
    ) -> Result<Self, Failure> {
        if !limits::is_supported() {
            return Err(Failure("this kernel was built without CONFIG_PERF_EVENTS".to_owned()));
        }
        loop {
            let mut session = Self::default();
            let refusal = match session.open_all(groups, manner, rings)? {
                None => return Ok(session),
                Some(refusal) => refusal,
            };
            let is_default = manner.args.events.is_empty()
                && groups.iter().all(|group| group.events[0].attr.kind == EventType::HARDWARE);
            if is_default && is_lacking(&refusal.error) {
                say!("perfdata: cycles cannot be counted on this machine; sampling cpu-clock instead");
                groups[0] = attrs::clock().into();
            } else if is_forbidden(&refusal.error) && exclude_kernel(groups) {
                say!(
                    "perfdata: no permission to sample the kernel (perf_event_paranoid); sampling user space only"
                );
            } else {
                return Err(Failure(format!("{}: {}", refusal.event, refusal.error)));
            }
        }
    }

    /// Starts all events that do not wait for the exec of the command.
    pub(super) fn enable(&self) -> Result<(), Failure> {
        // Enabling a leader also starts its members.
        let leaders = self.leaders();
        Ok(leaders.into_iter().try_for_each(Counter::enable)?)
    }

    /// Stops all events.
    pub(super) fn disable(&self) -> Result<(), Failure> {
        Ok(self.leaders().into_iter().try_for_each(Counter::disable)?)
    }

    /// Waits until there are records to read, at most for a tick.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        let waited = ring::wait(&mut self.rings, Some(TICK))?;
        if waited.hangup && !waited.records {
            // A wait that includes a task that has ended returns at once.
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    fn leaders(&self) -> Vec<&Counter> {
        let counters = self.counters.iter().map(|(_, counter)| counter);
        counters.filter(|counter| counter.attr().flags.contains(AttrFlags::DISABLED)).collect()
    }

    fn open_all(
        &mut self,
        groups: &[EventGroup],
        manner: Manner<'_>,
        rings: &RingTargets,
    ) -> Result<Option<Refusal>, Failure> {
        if manner.overwrite {
            let name = Some(b"dummy".to_vec());
            self.events.push(EventFields { name, ..EventFields::default() });
        }
        for event in groups.iter().flat_map(|group| &group.events) {
            self.events.push(fields(event));
        }
        let mut gone = 0_usize;
        for targets in rings {
            let first = self.counters.len();
            for target in targets {
                match self.open_on(target, groups, manner)? {
                    Some(refusal) if refusal.error.errno_name() == Some("ESRCH") => gone += 1,
                    Some(refusal) => return Ok(Some(refusal)),
                    None => {}
                }
            }
            self.map(first, manner)?;
        }
        if gone > 0 && gone == rings.iter().map(Vec::len).sum::<usize>() {
            return Err(Failure("there is no such thread; it may have ended".to_owned()));
        }
        Ok(None)
    }

    /// Opens all events on one target.
    fn open_on(
        &mut self,
        target: &Target<'static>,
        groups: &[EventGroup],
        manner: Manner<'_>,
    ) -> Result<Option<Refusal>, Failure> {
        let mut index = 0_usize;
        if manner.overwrite {
            match manner.tracker().open(target) {
                Ok(counter) => self.take(index, counter)?,
                Err(error) => return Ok(Some(Refusal { event: "dummy".to_owned(), error })),
            }
            index += 1;
        }
        for group in groups {
            let leader = self.counters.len();
            for (place, event) in group.events.iter().enumerate() {
                let is_tracking = index == 0;
                let builder = manner.builder(group, place, event, is_tracking)?;
                // An event with a `cpumask` is opened only on the cpus that the PMU lists.
                let elsewhere = |cpu| !event.cpus.is_empty() && !event.cpus.contains(&cpu);
                if target.cpu_number().is_none_or(|cpu| !elsewhere(cpu)) {
                    let opened = match self.counters.get(leader) {
                        Some((_, leader)) => builder.open_in(leader, target),
                        None => builder.open(target),
                    };
                    match opened {
                        Ok(counter) => self.take(index, counter)?,
                        Err(error) => return Ok(Some(Refusal { event: event.name.clone(), error })),
                    }
                }
                index += 1;
            }
        }
        Ok(None)
    }

    fn take(&mut self, index: usize, counter: Counter) -> Result<(), Failure> {
        let event = &mut self.events[index];
        event.attr = *counter.attr();
        event.ids.push(counter.id()?);
        self.dropped.extend(counter.dropped());
        self.counters.push((index, counter));
        Ok(())
    }

    /// Maps a ring for the counters starting at `first`: one for those that overwrite, and one for the others.
    fn map(&mut self, first: usize, manner: Manner<'_>) -> Result<(), Failure> {
        let page = ring::page_bytes();
        let mut pages = manner.args.mmap_pages.unwrap_or(DEFAULT_BYTES / page).max(1);
        let (mut ring, mut overwrite): (Option<Ring>, Option<Overwrite>) = (None, None);
        for (_, counter) in &self.counters[first..] {
            let is_backward = counter.attr().flags.contains(AttrFlags::WRITE_BACKWARD);
            match (is_backward, &mut ring, &mut overwrite) {
                (false, Some(ring), _) => drop(ring.add(counter)?),
                (true, _, Some(overwrite)) => drop(overwrite.add(counter)?),
                (false, None, _) => {
                    ring = Some(fitting(manner, &mut pages, |pages| Ring::map(counter, pages))?);
                }
                (true, _, None) => {
                    overwrite = Some(fitting(manner, &mut pages, |pages| Overwrite::map(counter, pages))?);
                }
            }
        }
        self.rings.extend(ring);
        self.overwrites.extend(overwrite);
        Ok(())
    }
}

/// Maps a ring. If the limit of locked memory forbids it and the user did not choose a size, tries smaller sizes.
fn fitting<R>(
    manner: Manner<'_>,
    pages: &mut usize,
    map: impl Fn(usize) -> Result<R, Error>,
) -> Result<R, Error> {
    loop {
        match map(*pages) {
            Err(error)
                if error.errno_name() == Some("EPERM") && *pages > 1 && manner.args.mmap_pages.is_none() =>
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

/// Returns whether an error means that the kernel or the hardware does not have the event.
fn is_lacking(error: &Error) -> bool {
    error
        .errno_name()
        .is_some_and(|name| ["ENOENT", "ENODEV", "ENXIO", "EOPNOTSUPP", "ENOSYS"].contains(&name))
}

fn is_forbidden(error: &Error) -> bool {
    matches!(error.errno_name(), Some("EACCES" | "EPERM")) && limits::paranoid().is_ok_and(|level| level > 1)
}

/// Excludes the kernel from every event that would still count something then. Returns whether there was one.
fn exclude_kernel(groups: &mut [EventGroup]) -> bool {
    let mut any = false;
    for event in groups.iter_mut().flat_map(|group| &mut group.events) {
        let without = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL;
        let is_left = event.attr.kind != EventType::TRACEPOINT && !event.attr.flags.intersects(without);
        if is_left {
            event.attr.flags |= AttrFlags::EXCLUDE_KERNEL;
            event.name += if event.name.contains(':') || event.name.ends_with('/') { "u" } else { ":u" };
            any = true;
        }
    }
    any
}

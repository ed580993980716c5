//! Opening one event on one target.

use alloc::collections::BTreeMap;

use perf_open::abi::attr::AttrFlags;
use perf_open::abi::event::EventType;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::{Builder, Count, Counter, CounterGroup, Error, EventSpec, Target, limits};

use super::aggregation::Aggregate;
use super::options::StatOptions;
use crate::{CgroupDirectory, Targets};

/// The targets of the events of one run, and how the events are opened.
#[derive(Debug)]
pub(super) struct OpeningScope<'a> {
    pub(super) targets: &'a Targets,
    /// The process id of the command, if there is one.
    pub(super) command: Option<u32>,
    pub(super) options: &'a StatOptions,
    /// The aggregate of each cpu whose count is added to that of others. Empty if counts are not added up by parts of the
    /// machine.
    pub(super) domains: &'a BTreeMap<u32, Aggregate>,
    pub(super) cgroups: &'a [CgroupDirectory],
}

impl OpeningScope<'_> {
    /// Returns whether the events start at the exec of the command.
    pub(super) fn on_exec(&self) -> bool {
        *self.targets == Targets::Command && !self.options.delayed
    }
}

/// The counters of an event alone, or of a group.
#[derive(Debug)]
pub(super) enum CounterUnit {
    Alone(Counter),
    Group(CounterGroup),
}

impl CounterUnit {
    pub(super) fn enable(&self) -> Result<(), Error> {
        match self {
            Self::Alone(counter) => counter.enable(),
            Self::Group(group) => group.enable(),
        }
    }

    pub(super) fn disable(&self) -> Result<(), Error> {
        match self {
            Self::Alone(counter) => counter.disable(),
            Self::Group(group) => group.disable(),
        }
    }

    pub(super) fn read(&self) -> Result<Vec<Count>, Error> {
        match self {
            Self::Alone(counter) => counter.read().map(|count| vec![count]),
            Self::Group(group) => group.read(),
        }
    }

    /// Returns the counters, in the order in which they were opened.
    pub(super) fn counters(&self) -> &[Counter] {
        match self {
            Self::Alone(counter) => core::slice::from_ref(counter),
            Self::Group(group) => group.counters(),
        }
    }
}

/// The place of an event in a group.
pub(super) enum GroupMembership<'a> {
    /// Without a group, so that a read has one count.
    Alone,
    /// As the leader of a new group.
    Leader,
    Member(&'a mut CounterGroup),
}

/// Opens an event as a member of a group, or alone or as the leader of a new group, which are returned.
///
/// If the kernel may not be counted, counts user space alone and adds that to the event's name, as `perf stat` does.
pub(super) fn open_event(
    event: &mut EventSpec,
    mut membership: GroupMembership<'_>,
    target: &Target<'_>,
    scope: &OpeningScope<'_>,
) -> Result<Option<CounterUnit>, Error> {
    let is_leader = !matches!(membership, GroupMembership::Member(_));
    let is_alone = matches!(membership, GroupMembership::Alone);
    let on_exec = is_leader && scope.on_exec();
    let mut open = |event: &EventSpec| {
        // It has no effect on cpus, where perf sets it too. Kernels before 4.13 refuse it for groups.
        let may_inherit = target.thread().is_some() || is_alone;
        let inherit = event.terms.inherit.unwrap_or(scope.options.inherit) && may_inherit;
        let builder = Builder::new(event.clone())
            .sample_period(0)
            .inherit(inherit)
            .disabled(is_leader)
            .enable_on_exec(on_exec)
            // It has no effect on counts; perf sets it too, for `perf stat record`.
            .sample_type(SampleType::IDENTIFIER)
            .or_drop(SampleType::IDENTIFIER);
        match &mut membership {
            GroupMembership::Alone => {
                let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
                builder.read_format(times).open(target).map(CounterUnit::Alone).map(Some)
            }
            GroupMembership::Leader => CounterGroup::open(builder, target).map(CounterUnit::Group).map(Some),
            GroupMembership::Member(group) => group.add(builder, target).map(|()| None),
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
pub(super) fn is_lacking(error: &Error) -> bool {
    let lacking = ["EINVAL", "ENOSYS", "ENOENT", "EOPNOTSUPP", "ENXIO", "ENODEV"];
    error.errno_name().is_some_and(|name| lacking.contains(&name))
}

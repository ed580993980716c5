//! Replacements of events that cannot be opened as requested.

use perf_abi::attr::AttrFlags;
use perf_abi::event::{EventType, HwId, SwId};
use perf_open::{Error, EventGroup, EventSpec, limits};

use crate::aux_area::AuxPlan;
use crate::open_files::raise_open_files;
use crate::{RecordOptions, Targets};

/// A deviation of a recording from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallbackNote {
    /// Nothing counts this cycles event: a clock samples in its place.
    Clock {
        /// The name of the event that was asked for.
        event: String,
    },
    /// The kernel may not be recorded: user space is recorded alone.
    UserOnly,
    /// Groups that are read with their leaders are not inherited, because the kernel is older than 6.12.
    NotInherited,
    /// The kernel does not know these parts of the attrs, by its own names. They are left out.
    LeftOut(Vec<&'static str>),
    /// The kernel hides its addresses, so that its symbols cannot be resolved.
    HiddenKernel,
    /// `/proc` is not mounted: what it tells of the kernel and of tasks that were there before is missing.
    NoProc,
    /// The BPF programs that were loaded before cannot be read, for this reason. Their functions have no names.
    HiddenPrograms(String),
    /// This many lines of `/proc/PID/maps` cannot be parsed. Their mappings are missing.
    UnreadableMaps(u64),
}

impl core::fmt::Display for FallbackNote {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Clock { event } => {
                let event = event.split(':').next().unwrap_or_default();
                write!(f, "{event} cannot be counted on this machine; sampling cpu-clock instead")
            }
            Self::UserOnly => {
                f.write_str("no permission to sample the kernel (perf_event_paranoid); sampling user space only")
            }
            Self::NotInherited => f.write_str(
                "this kernel cannot inherit groups that are read with their leaders (since Linux 6.12); tasks that the \
                 recorded tasks start are not recorded",
            ),
            Self::LeftOut(parts) => {
                write!(f, "left out, because this kernel does not support it: {}", parts.join(", "))
            }
            Self::HiddenKernel => f.write_str(
                "the kernel hides its addresses (kptr_restrict), so its symbols cannot be resolved",
            ),
            Self::NoProc => f.write_str(
                "/proc is not mounted, so the symbols of the kernel and the files of tasks that run already are not recorded",
            ),
            Self::HiddenPrograms(why) => write!(f, "the BPF programs that are loaded are not recorded: {why}"),
            Self::UnreadableMaps(lines) => write!(f, "cannot parse {lines} lines of /proc/PID/maps"),
        }
    }
}

impl FallbackNote {
    /// Returns whether this is as usual for an ordinary user, and perf prints it only with `-v`.
    #[must_use]
    pub fn is_detail(&self) -> bool {
        matches!(self, Self::HiddenPrograms(_))
    }
}

/// The refusal of an event by the kernel.
#[derive(Debug)]
pub(crate) struct OpenRefusal {
    /// The name of the event.
    pub(crate) event: String,
    /// The index of its group, and its index in the group; `None` for the event that takes no samples.
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) error: Error,
}

/// The next step after a refusal.
pub(crate) enum FallbackStep {
    /// Try again, after this change.
    Retry(Option<FallbackNote>),
    GiveUp,
}

/// The choices that a refusal can change.
#[derive(Debug)]
pub(crate) struct EventChoices {
    pub(crate) groups: Vec<EventGroup>,
    pub(crate) inherit_read: bool,
    /// The hardware trace; `None` if no event writes one.
    pub(crate) aux: Option<AuxPlan>,
}

/// Returns what to do after a refusal with an errno, of the event at `place`: its group, and its index in the group.
///
/// perf: `evsel__fallback`, `tools/perf/util/evsel.c`.
pub(crate) fn after(
    errno: &str,
    place: Option<(usize, usize)>,
    choices: &mut EventChoices,
    targets: &Targets,
    options: &RecordOptions,
) -> FallbackStep {
    if errno == "EMFILE" {
        return if raise_open_files().is_some() { FallbackStep::Retry(None) } else { FallbackStep::GiveUp };
    }
    let place = place.filter(|&(group, event)| {
        choices.groups.get(group).is_some_and(|group| group.events.get(event).is_some())
    });
    let Some((group, event)) = place else { return FallbackStep::GiveUp };
    let group = &mut choices.groups[group];
    if errno == "EINVAL" && choices.inherit_read && group.sample_leader_only && group.events.len() > 1 {
        choices.inherit_read = false;
        return FallbackStep::Retry(Some(FallbackNote::NotInherited));
    }
    if !options.fall_back {
        return FallbackStep::GiveUp;
    }
    let event = &mut group.events[event];
    if is_lacking(errno) && is_cycles(event) {
        let note = FallbackNote::Clock { event: event.name.clone() };
        *event = clock(event);
        return FallbackStep::Retry(Some(note));
    }
    // The kernel of a cpu may only be excluded by those who may record the cpu.
    let may_help = !matches!(targets, Targets::Cpus(_)) && limits::paranoid().is_ok_and(|level| level > 1);
    if matches!(errno, "EACCES" | "EPERM") && may_help && exclude_kernel(&mut choices.groups) {
        return FallbackStep::Retry(Some(FallbackNote::UserOnly));
    }
    FallbackStep::GiveUp
}

/// Returns whether an errno means that the kernel or the hardware does not have the event.
fn is_lacking(errno: &str) -> bool {
    ["ENOENT", "ENODEV", "ENXIO", "EOPNOTSUPP"].contains(&errno)
}

fn is_cycles(event: &EventSpec) -> bool {
    event.attr.kind == EventType::HARDWARE && event.attr.config == u64::from(HwId::CPU_CYCLES.0)
}

/// Returns the clock that replaces a cycles event, with its modifiers.
fn clock(cycles: &EventSpec) -> EventSpec {
    let mut clock = EventSpec::software(SwId::CPU_CLOCK);
    clock.attr.flags = cycles.attr.flags.with_precise_ip(0);
    clock.terms = cycles.terms;
    // A clock is never precise.
    let modifiers = cycles.name.split_once(':').map(|(_, it)| it.replace(['p', 'P'], ""));
    if let Some(modifiers) = modifiers.filter(|it| !it.is_empty()) {
        clock.name = format!("{}:{modifiers}", clock.name);
    }
    clock
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

//! Events to count, from constructors or from perf's event strings.
//!
//! An [`EventSpec`] holds the fields of an attr that select *which* event is counted. The caller chooses how the event
//! is sampled, read and inherited when it opens the event. [`parse()`] accepts the strings of the option `-e` of
//! `perf record` and `perf stat`:
//!
//! | string | event |
//! |---|---|
//! | `cycles`, `faults`, `task-clock` | a generalised hardware event, [`EventSpec::hardware`], or a software event, [`EventSpec::software`] |
//! | `L1-dcache-load-misses`, `LLC-loads` | a cache event, [`EventSpec::cache`] |
//! | `r1a8`, `4:0x1a8` | a raw event, [`EventSpec::raw`]; an event by type and config, [`EventSpec::numeric`] |
//! | `sched:sched_switch`, `sched:*` | a tracepoint, [`EventSpec::tracepoint`]; all tracepoints that match the pattern |
//! | `mem:0x1000/4:rw` | a breakpoint, [`EventSpec::breakpoint`] |
//! | `cpu/event=0x3c,umask=1/`, `msr/tsc/`, `tsc` | an event of a PMU in sysfs, by its terms or its name |
//! | `uprobe/path='/bin/ls',offset=0x1000/` | a probe; a value that contains `/`, `,` or `=` needs single quotes |
//! | `duration_time` | what a tool measures itself, [`EventSpec::tool`]; only with [`EventParser::with_tools`] |
//!
//! A `:` and [`Modifiers`] may follow each of them. `{a,b}:S` is a group. perf's terms about sampling (`period`,
//! `freq`, `inherit`, `max-stack`, `call-graph`, ...) are stored in [`EventSpec::terms`].
//!
//! # Guests
//!
//! [`parse()`] sets `exclude_guest` as perf before 6.13 does: for an event without modifiers, and for an event with `u`
//! or `p` but neither `G` nor `H`. `cycles:GH` counts the host and its guests. The constructors set no
//! `exclude_*` flag.

mod construct;
mod encode;
mod error;
mod glob;
mod grammar;
mod head;
mod list;
mod machine;
mod modifier;
mod names;
mod parser;
mod sampling;
mod terms;
mod tool;

use alloc::ffi::CString;

pub use crate::lookup::LookupError;
use error::ErrorOffset;
pub use error::{ParseError, ParseErrorKind};
pub use list::{EventList, ListedEvent, ListedEventKind};
pub use modifier::Modifiers;
pub use names::{CACHES, HARDWARE, NamedValue, OPERATIONS, OUTCOMES, SOFTWARE, cache_events};
pub use parser::{EventParser, parse};
pub use sampling::DefaultSampling;
pub use terms::{CallGraphTerm, SamplingTerms};
pub use tool::ToolEvent;

use perf_abi::attr::Attr;

/// An event to count: the fields of an attr that select the event, and none that select how it is recorded.
///
/// # Examples
///
/// ```
/// use perf_abi::event::{EventType, SwId};
/// use perf_open::event::EventSpec;
///
/// let event = EventSpec::software(SwId::PAGE_FAULTS);
/// assert_eq!(event.name, "page-faults");
/// assert_eq!((event.attr.kind, event.attr.config), (EventType::SOFTWARE, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EventSpec {
    /// The name as perf prints it: `cycles:u`, `sched:sched_switch`. The value of the `name=` term, if the string has
    /// one.
    pub name: String,
    /// The fields `kind`, `config` to `config4`, `bp_type`, `exclude_*`, `precise_ip`, `pinned` and `exclusive`. All
    /// others are zero.
    pub attr: Attr,
    /// The string that `config1` must point to when the event is opened: `kprobe_func` or `uprobe_path`. `None` for
    /// other events.
    pub string: Option<CString>,
    /// The unit of the count after multiplication by [`scale`](Self::scale), from sysfs: `Joules`, `MiB`.
    pub unit: Option<String>,
    /// The factor that converts a count to [`unit`](Self::unit).
    pub scale: Option<f64>,
    /// The cpus on which the event may be opened, from the PMU's `cpumask` or `cpus`. Empty: any cpu.
    pub cpus: Vec<u32>,
    /// The name of the PMU in sysfs, if the string selects one. Distinguishes the events that one string expands to.
    pub pmu: Option<String>,
    /// The bits of `config` that the string itself sets. The others have the value of the PMU's
    /// [default](crate::pmu::Pmu::default_config), or of a named event.
    pub config_set: u64,
    /// The terms about sampling; the caller applies them to the attr it opens.
    pub terms: SamplingTerms,
    /// Modifier `P`: try `precise_ip` 3, 2, 1 and 0, and use the first that opens.
    pub precise_max: bool,
    /// Modifier `b`: perf counts with a BPF program instead of an event of its own.
    pub bpf_counter: bool,
    /// The quantity that the caller must measure itself, because the kernel does not count it. `None` for events of the
    /// kernel, and always without [`EventParser::with_tools`].
    pub tool: Option<ToolEvent>,
}

/// Events that are scheduled together. The first one is the leader. A single event is a group of one.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EventGroup {
    /// The leader, then the other members.
    pub events: Vec<EventSpec>,
    /// The name before the opening brace: `memory{loads,stores}`.
    pub name: Option<String>,
    /// Modifier `S`: of the members only those sample that have the term `period` or `freq`, and each sample contains the
    /// counts of all events (`PERF_SAMPLE_READ` and `PERF_FORMAT_GROUP`).
    pub sample_leader_only: bool,
    /// Modifier `W`: if the kernel refuses the group, the events may be opened one by one.
    pub weak: bool,
}

impl EventSpec {
    /// Returns this event with another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }
}

impl From<Vec<EventSpec>> for EventGroup {
    /// Returns a group without name and modifiers. The first event is the leader.
    fn from(events: Vec<EventSpec>) -> Self {
        Self { events, ..Self::default() }
    }
}

impl From<EventSpec> for EventGroup {
    fn from(event: EventSpec) -> Self {
        vec![event].into()
    }
}

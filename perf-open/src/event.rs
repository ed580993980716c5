//! What to count: events made by constructors, or read from perf's event strings.
//!
//! An [`Event`] holds the fields of an attr that say *which* event it is; how it is sampled, read and inherited is for
//! whoever opens it. [`parse()`] reads what `perf record -e` and `perf stat -e` read:
//!
//! | string | event |
//! |---|---|
//! | `cycles`, `faults`, `task-clock` | a generalised hardware or software event, [`Event::hardware`], [`Event::software`] |
//! | `L1-dcache-load-misses`, `LLC-loads` | a cache event, [`Event::cache`] |
//! | `r1a8`, `4:0x1a8` | a raw event, [`Event::raw`]; any type and config |
//! | `sched:sched_switch`, `sched:*` | a tracepoint, [`Event::tracepoint`]; those that the pattern names |
//! | `mem:0x1000/4:rw` | a breakpoint, [`Event::breakpoint`] |
//! | `cpu/event=0x3c,umask=1/`, `msr/tsc/`, `tsc` | an event of a PMU of sysfs: its terms, or its name there |
//!
//! Behind any of them `:` and modifiers, [`Modifiers`]; `{a,b}:S` is a group. Terms of perf that say how to sample
//! (`period`, `freq`, `inherit`, `max-stack`, `call-graph`, ...) are kept in [`Event::terms`] for the caller.
//!
//! # Guests
//!
//! perf before 6.13 gives `exclude_guest` to an event that has no modifier, and to one with `u` or `p` unless `G` or `H`
//! says otherwise; [`parse()`] does as it does. `cycles:GH` counts everywhere. The constructors set no `exclude_*` flag.

mod close;
mod construct;
mod error;
mod glob;
mod grammar;
mod head;
mod list;
mod lookup;
mod modifier;
mod names;
mod parser;
pub(crate) mod terms;

use alloc::ffi::CString;

pub(crate) use close::closest;
pub(crate) use error::Place;
pub use error::{LookupError, ParseError, ParseErrorKind};
pub use list::{List, Listed, ListedKind};
pub use modifier::Modifiers;
pub use names::{CACHES, HARDWARE, Known, OPERATIONS, OUTCOMES, SOFTWARE, cache_events};
pub(crate) use names::{known_event, raw_config};
pub use parser::{Parser, parse};
pub use terms::{CallGraph, Terms};

use perf_abi::attr::Attr;

/// What to count: the fields of an attr that say which event, none that say how.
///
/// # Examples
///
/// ```
/// use perf_abi::event::{EventType, SwId};
/// use perf_open::event::Event;
///
/// let event = Event::software(SwId::PAGE_FAULTS);
/// assert_eq!(event.name, "page-faults");
/// assert_eq!((event.attr.kind, event.attr.config), (EventType::SOFTWARE, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// As perf prints it: `cycles:u`, `sched:sched_switch`; what `name=` says where the string has it.
    pub name: String,
    /// `kind`, `config` to `config4`, `bp_type`, `exclude_*`, `precise_ip`, `pinned`, `exclusive`; the rest is zero.
    pub attr: Attr,
    /// What `config1` has to point at when the event is opened: `kprobe_func`, `uprobe_path`.
    pub string: Option<CString>,
    /// The unit of the count times [`scale`](Self::scale), as sysfs says it: `Joules`, `MiB`.
    pub unit: Option<String>,
    /// What a count has to be multiplied by to be in [`unit`](Self::unit)s.
    pub scale: Option<f64>,
    /// The PMU's `cpumask` or `cpus`: where the event may be opened. Empty: anywhere.
    pub cpus: Vec<u32>,
    /// The PMU of sysfs that counts it, where the string led to one: tells apart the events that one string made.
    pub pmu: Option<String>,
    /// What the string asks for beyond which event it is; for the caller to set in the attr it opens.
    pub terms: Terms,
    /// Modifier `P`: the caller is to try `precise_ip` 3, 2, 1 and 0, and to take the first that opens.
    pub precise_max: bool,
    /// Modifier `b`: perf counts with a BPF program in place of an event of its own.
    pub bpf_counter: bool,
}

/// Events that are scheduled together: the first is the leader. A single event is a group of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventGroup {
    /// The leader, and its siblings.
    pub events: Vec<Event>,
    /// The name before the brace: `memory{loads,stores}`.
    pub name: Option<String>,
    /// Modifier `S`: only the leader samples; each sample reads the counts of all (`PERF_SAMPLE_READ` and
    /// `PERF_FORMAT_GROUP`).
    pub sample_leader_only: bool,
    /// Modifier `W`: where the kernel refuses the group, the events may be opened each by itself.
    pub weak: bool,
}

impl From<Event> for EventGroup {
    fn from(event: Event) -> Self {
        Self { events: vec![event], ..Self::default() }
    }
}

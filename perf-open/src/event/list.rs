//! The list of a machine's events.

use perf_abi::event::EventType;

use super::names::{HARDWARE, SOFTWARE};
use super::tool::ToolEvent;
use super::{EventParser, cache_events, glob};
use crate::lookup::LookupError;
use crate::pmu::Pmu;

/// The kind of a listed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ListedEventKind {
    /// A generalised hardware event.
    Hardware,
    /// A software event.
    Software,
    /// An event that the tool measures itself: [`ToolEvent`].
    Tool,
    /// A cache event.
    Cache,
    /// A named event of a PMU in sysfs.
    Pmu,
    /// An event by terms of a PMU: [`ListedEvent::name`] is the syntax.
    Terms,
    /// A raw event: [`ListedEvent::name`] is the syntax.
    Raw,
    /// A breakpoint: [`ListedEvent::name`] is the syntax.
    Breakpoint,
    /// A tracepoint.
    Tracepoint,
}

/// A named event, or the syntax of a kind of events.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEvent {
    /// Its kind.
    pub kind: ListedEventKind,
    /// The string for [`parse()`](super::parse()): `page-faults`, `msr/tsc/`, `sched:sched_switch`.
    pub name: String,
    /// Other names of the event.
    pub aliases: Vec<String>,
    /// The PMU in sysfs that has the event.
    pub pmu: Option<String>,
    /// The terms of a PMU's named event.
    pub terms: Option<String>,
    /// The unit of the scaled count.
    pub unit: Option<String>,
    /// The factor that converts a count to [`unit`](Self::unit).
    pub scale: Option<f64>,
}

/// The events of a machine, sorted by kind and then by name, and the errors of listing them.
#[derive(Debug, Default)]
pub struct EventList {
    /// The events.
    pub events: Vec<ListedEvent>,
    /// The errors, each with the kind of events that are missing from `events`.
    pub errors: Vec<(ListedEventKind, LookupError)>,
}

impl ListedEvent {
    fn new(kind: ListedEventKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), aliases: Vec::new(), pmu: None, terms: None, unit: None, scale: None }
    }

    /// Returns whether `pattern` matches one of the names, ignoring case. `*` stands for any number of characters, `?`
    /// for one.
    #[must_use]
    pub fn matches(&self, pattern: &str) -> bool {
        let pattern = pattern.to_lowercase();
        let mut names = [&self.name].into_iter().chain(&self.aliases);
        names.any(|name| glob::matches(&pattern, &name.to_lowercase()))
    }
}

impl EventParser {
    /// Lists every named event of the machine, and the syntax of those without names. With
    /// [`with_tools`](Self::with_tools), also the events of [`ToolEvent`].
    ///
    /// Reads all of sysfs and tracefs that is about events. Does not try to open the events: whether a hardware or
    /// cache event opens depends on the cpu.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::EventParser;
    ///
    /// let list = EventParser::new().list();
    /// assert!(list.events.iter().any(|event| event.name == "page-faults" && event.aliases == ["faults"]));
    /// ```
    #[must_use]
    pub fn list(&self) -> EventList {
        let mut list = EventList::default();
        for (kind, table) in [(ListedEventKind::Hardware, HARDWARE), (ListedEventKind::Software, SOFTWARE)] {
            list.events.extend(table.iter().filter_map(|known| {
                let (name, aliases) = known.names.split_first()?;
                let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
                Some(ListedEvent { aliases, ..ListedEvent::new(kind, *name) })
            }));
        }
        if self.tools {
            list.events
                .extend(ToolEvent::ALL.map(|tool| ListedEvent::new(ListedEventKind::Tool, tool.name())));
        }
        list.events.extend(cache_events().map(|(name, _)| ListedEvent::new(ListedEventKind::Cache, name)));
        match self.pmus().all() {
            Ok(pmus) => pmus.into_iter().for_each(|pmu| match pmu {
                Ok(pmu) => list.events.extend(of_pmu(&pmu)),
                Err(error) => list.errors.push((ListedEventKind::Pmu, error)),
            }),
            Err(error) => list.errors.push((ListedEventKind::Pmu, error)),
        }
        list.events.push(ListedEvent::new(ListedEventKind::Raw, "rHEX"));
        list.events.push(ListedEvent::new(ListedEventKind::Breakpoint, "mem:ADDRESS[/LENGTH][:rwx]"));
        self.list_tracepoints(&mut list);
        list.events.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        list
    }

    fn list_tracepoints(&self, list: &mut EventList) {
        let systems = self.tracefs().systems().unwrap_or_else(|error| {
            list.errors.push((ListedEventKind::Tracepoint, error));
            Vec::new()
        });
        for system in systems {
            match self.tracefs().names(&system) {
                Ok(names) => {
                    list.events.extend(names.iter().map(|name| {
                        ListedEvent::new(ListedEventKind::Tracepoint, format!("{system}:{name}"))
                    }))
                }
                Err(error) => list.errors.push((ListedEventKind::Tracepoint, error)),
            }
        }
    }
}

/// Returns the named events of a PMU, and the syntax of its terms.
fn of_pmu(pmu: &Pmu) -> Vec<ListedEvent> {
    let of_pmu = |kind, inside: &str| ListedEvent {
        pmu: Some(pmu.name.clone()),
        ..ListedEvent::new(kind, format!("{}/{inside}/", pmu.name))
    };
    let named = pmu.events.iter().map(|event| ListedEvent {
        terms: Some(event.text.clone()),
        unit: event.unit.clone(),
        scale: event.scale,
        ..of_pmu(ListedEventKind::Pmu, &event.name)
    });
    let mut listed: Vec<ListedEvent> = named.collect();
    if pmu.kind != EventType::SOFTWARE && !pmu.formats.is_empty() {
        // Probes have terms that are not in sysfs.
        let probed = match pmu.name.as_str() {
            "kprobe" => &["func=NAME", "offset=N"][..],
            "uprobe" => &["path='FILE'", "offset=N"][..],
            _ => &[],
        };
        let formats = pmu.formats.iter().map(|(name, format)| match format.max() {
            1 => name.clone(),
            max => format!("{name}=0..{max:#x}"),
        });
        let terms: Vec<String> = probed.iter().map(|&term| term.to_owned()).chain(formats).collect();
        listed.push(of_pmu(ListedEventKind::Terms, &terms.join(",")));
    }
    listed
}

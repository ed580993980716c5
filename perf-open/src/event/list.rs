//! The events that a machine has.

use perf_abi::event::EventType;

use super::names::{HARDWARE, SOFTWARE};
use super::{LookupError, Parser, cache_events};
use crate::pmu::Pmu;

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ListedKind {
    /// A generalised hardware event.
    Hardware,
    /// A software event.
    Software,
    /// A cache event.
    Cache,
    /// An event that a PMU of sysfs has a name for.
    Pmu,
    /// What the terms of a PMU make: [`Listed::name`] is the syntax.
    Terms,
    /// A raw event: [`Listed::name`] is the syntax.
    Raw,
    /// A breakpoint: [`Listed::name`] is the syntax.
    Breakpoint,
    /// A tracepoint.
    Tracepoint,
}

/// An event, or the syntax of a kind of events.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its kind.
    pub kind: ListedKind,
    /// What [`parse()`](super::parse()) takes: `page-faults`, `msr/tsc/`, `sched:sched_switch`.
    pub name: String,
    /// Other names of the same event.
    pub aliases: Vec<String>,
    /// The PMU of sysfs that has it.
    pub pmu: Option<String>,
    /// What the name stands for: the terms of a PMU's event.
    pub terms: Option<String>,
    /// The unit of its scaled count.
    pub unit: Option<String>,
}

/// The events that a machine has, by kind, then by name; and what could not be read of them.
#[derive(Debug, Default)]
pub struct List {
    /// The events.
    pub events: Vec<Listed>,
    /// What could not be read; its events are missing.
    pub errors: Vec<LookupError>,
}

impl Listed {
    fn new(kind: ListedKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), aliases: Vec::new(), pmu: None, terms: None, unit: None }
    }
}

impl Parser {
    /// Every event that has a name here, and the syntax of those that have none.
    ///
    /// Whether a hardware or cache event opens depends on the cpu, and is not tried.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::Parser;
    ///
    /// let list = Parser::new().list();
    /// assert!(list.events.iter().any(|event| event.name == "page-faults" && event.aliases == ["faults"]));
    /// ```
    #[must_use]
    pub fn list(&self) -> List {
        let mut list = List::default();
        for (kind, table) in [(ListedKind::Hardware, HARDWARE), (ListedKind::Software, SOFTWARE)] {
            list.events.extend(table.iter().filter_map(|known| {
                let (name, aliases) = known.names.split_first()?;
                let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
                Some(Listed { aliases, ..Listed::new(kind, *name) })
            }));
        }
        list.events.extend(cache_events().map(|(name, _)| Listed::new(ListedKind::Cache, name)));
        match self.pmus().all() {
            Ok(pmus) => pmus.into_iter().for_each(|pmu| match pmu {
                Ok(pmu) => list.events.extend(of_pmu(&pmu)),
                Err(error) => list.errors.push(error),
            }),
            Err(error) => list.errors.push(error),
        }
        list.events.push(Listed::new(ListedKind::Raw, "rHEX"));
        list.events.push(Listed::new(ListedKind::Breakpoint, "mem:ADDRESS[/LENGTH][:rwx]"));
        self.list_tracepoints(&mut list);
        list.events.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        list
    }

    fn list_tracepoints(&self, list: &mut List) {
        let systems = self.tracefs().systems().unwrap_or_else(|error| {
            list.errors.push(error);
            Vec::new()
        });
        for system in systems {
            match self.tracefs().names(&system) {
                Ok(names) => list.events.extend(
                    names.iter().map(|name| Listed::new(ListedKind::Tracepoint, format!("{system}:{name}"))),
                ),
                Err(error) => list.errors.push(error),
            }
        }
    }
}

/// The named events of a PMU, and the syntax of its terms.
fn of_pmu(pmu: &Pmu) -> Vec<Listed> {
    let of_pmu = |kind, inside: &str| Listed {
        pmu: Some(pmu.name.clone()),
        ..Listed::new(kind, format!("{}/{inside}/", pmu.name))
    };
    let named = pmu.events.iter().map(|event| Listed {
        terms: Some(event.text.clone()),
        unit: event.unit.clone(),
        ..of_pmu(ListedKind::Pmu, &event.name)
    });
    let mut listed: Vec<Listed> = named.collect();
    if pmu.kind != EventType::SOFTWARE && !pmu.formats.is_empty() {
        let terms: Vec<String> = pmu
            .formats
            .iter()
            .map(|(name, format)| match format.max() {
                1 => name.clone(),
                max => format!("{name}=0..{max:#x}"),
            })
            .collect();
        listed.push(of_pmu(ListedKind::Terms, &terms.join(",")));
    }
    listed
}

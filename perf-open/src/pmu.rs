//! The machine's PMUs in sysfs: their types, named events, and the terms that make up a `config`.
//!
//! [`Pmus`] lists them. A [`Pmu`] holds the contents of one folder. The functions that parse the texts of the files
//! need no sysfs: [`parse_format`], [`parse_terms`], [`parse_cpus`], [`parse_scale`].
//!
//! Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices` and the files next to it.

mod defaults;
mod format;
mod lex;
mod terms;
mod values;

use std::path::{Path, PathBuf};

use perf_abi::event::EventType;

pub use crate::lookup::TextError;
pub use format::{ConfigWord, PmuFormat, parse_format};
pub(crate) use lex::{LexFault, LexResult, expect, number, whole};
pub use terms::{Term, TermValue, parse_terms};
pub use values::{parse_cpus, parse_scale};

use crate::lookup::{LookupError, closest, sysfs};

/// The folder of PMUs: `/sys/bus/event_source/devices`, or one with the same layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pmus {
    root: PathBuf,
}

impl Default for Pmus {
    fn default() -> Self {
        Self::new()
    }
}

impl Pmus {
    /// Uses the PMUs of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/sys/bus/event_source/devices")
    }

    /// Uses a folder with the layout of `/sys/bus/event_source/devices`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the names of the PMUs, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, LookupError> {
        sysfs::names(&self.root)
    }

    /// Reads the PMU with that name, all files of its folder.
    ///
    /// The terms of its events are parsed when they are used.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is no such PMU. [`LookupError::Read`] if a file cannot be read,
    /// [`LookupError::Text`] if it does not have the documented contents.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::pmu::Pmus;
    ///
    /// # if !Pmus::new().root().exists() { return Ok(()); }
    /// let software = Pmus::new().get("software")?;
    /// assert_eq!(software.kind.0, 1);
    /// # Ok::<(), perf_open::event::LookupError>(())
    /// ```
    pub fn get(&self, name: &str) -> Result<Pmu, LookupError> {
        if !self.has(name) {
            let close = closest(name, self.names()?.iter().map(String::as_str));
            return Err(LookupError::Unknown { what: "PMU", name: name.to_owned(), close });
        }
        Pmu::read(name, &self.root.join(name))
    }

    /// Reads all PMUs, sorted by name. An error in one PMU's files does not affect the others.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if the folder cannot be read.
    pub fn all(&self) -> Result<Vec<Result<Pmu, LookupError>>, LookupError> {
        Ok(self.names()?.iter().map(|name| self.get(name)).collect())
    }

    /// Returns whether there is a PMU with that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        sysfs::is_file_name(name) && self.root.join(name).join("type").exists()
    }

    /// Returns the names of the PMUs that have an event with that name.
    pub(crate) fn with_event(&self, event: &str) -> Result<Vec<String>, LookupError> {
        if !is_event(event) || !sysfs::is_file_name(event) {
            return Ok(Vec::new());
        }
        let mut names = sysfs::names_optional(&self.root)?;
        names.retain(|name| self.root.join(name).join("events").join(event).is_file());
        Ok(names)
    }

    /// Returns the core PMUs of a machine with several kinds of cpus, such as `cpu_core` and `cpu_atom`; empty on a
    /// machine with one kind.
    pub(crate) fn hybrid(&self) -> Result<Vec<String>, LookupError> {
        let mut names = sysfs::names_optional(&self.root)?;
        names.retain(|name| name.starts_with("cpu_") && self.root.join(name).join("cpus").is_file());
        Ok(names)
    }
}

/// A PMU: the contents of its folder in sysfs.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmu {
    /// The name of the folder.
    pub name: String,
    /// The type of its events, `attr.kind`. Assigned at boot, so it differs between machines.
    pub kind: EventType,
    /// The formats of its terms, by name: `format/`.
    pub formats: Vec<(String, PmuFormat)>,
    /// Its named events, by name: `events/`.
    pub events: Vec<PmuEvent>,
    /// The cpus on which its events may be opened: `cpumask` (one cpu per package) or `cpus` (the cpus of one kind).
    /// Empty: any cpu.
    pub cpus: Vec<u32>,
    /// Whether it counts the execution of cpus: its name is `cpu`, or it has a file `cpus`.
    pub core: bool,
    /// Its capabilities, by name: `caps/`.
    pub caps: Vec<(String, String)>,
    pub(crate) path: PathBuf,
}

/// A named event of a PMU.
#[derive(Clone, Debug, PartialEq)]
pub struct PmuEvent {
    /// The name.
    pub name: String,
    /// The text of its terms, for [`parse_terms`].
    pub text: String,
    /// The factor that converts a count to [`unit`](Self::unit): `NAME.scale`.
    pub scale: Option<f64>,
    /// The unit of the scaled count: `NAME.unit`.
    pub unit: Option<String>,
    /// Whether the count is that of a whole package, on whichever of its cpus the event is opened: `NAME.per-pkg`.
    pub per_package: bool,
    /// Whether the value is a state, so that differences of values have no meaning: `NAME.snapshot`.
    pub snapshot: bool,
}

/// The suffixes of files in `events/` that describe the event whose name precedes the suffix.
const SUFFIXES: [&str; 4] = [".scale", ".unit", ".per-pkg", ".snapshot"];

/// Returns whether a file of `events/` is an event, rather than a property of one.
fn is_event(name: &str) -> bool {
    !SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

impl Pmu {
    /// Returns the format of a term.
    #[must_use]
    pub fn format(&self, name: &str) -> Option<PmuFormat> {
        self.formats.iter().find(|(known, _)| known == name).map(|&(_, format)| format)
    }

    /// Returns the event with that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&PmuEvent> {
        self.events.iter().find(|event| event.name == name)
    }

    fn read(name: &str, path: &Path) -> Result<Self, LookupError> {
        let kind = sysfs::parsed(&path.join("type"), |text| {
            let number = text.trim_end().parse();
            number.map(EventType).map_err(|_| TextError { offset: 0, expected: "a number of 32 bits" })
        })?;
        let folder = path.join("format");
        let formats = sysfs::names_optional(&folder)?.into_iter().map(|name| {
            let format = sysfs::parsed(&folder.join(&name), parse_format)?;
            Ok((name, format))
        });
        let folder = path.join("events");
        let events = sysfs::names_optional(&folder)?;
        let events = events.iter().filter(|name| is_event(name)).map(|name| PmuEvent::read(name, &folder));
        let folder = path.join("caps");
        let caps = sysfs::names_optional(&folder)?.into_iter().map(|name| {
            let value = sysfs::read(&folder.join(&name))?.trim_end().to_owned();
            Ok((name, value))
        });
        let cpumask = sysfs::parsed_optional(&path.join("cpumask"), parse_cpus)?;
        let cpus = sysfs::parsed_optional(&path.join("cpus"), parse_cpus)?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            formats: formats.collect::<Result<_, LookupError>>()?,
            events: events.collect::<Result<_, LookupError>>()?,
            caps: caps.collect::<Result<_, LookupError>>()?,
            core: name == "cpu" || cpus.is_some(),
            cpus: cpumask.or(cpus).unwrap_or_default(),
            path: path.to_owned(),
        })
    }
}

impl PmuEvent {
    fn read(name: &str, folder: &Path) -> Result<Self, LookupError> {
        let beside = |suffix: &str| folder.join(format!("{name}{suffix}"));
        let is_one =
            |suffix| Ok(sysfs::read_optional(&beside(suffix))?.is_some_and(|text| text.trim() == "1"));
        let unit = sysfs::read_optional(&beside(".unit"))?;
        Ok(Self {
            name: name.to_owned(),
            text: sysfs::read(&folder.join(name))?.trim().to_owned(),
            scale: sysfs::parsed_optional(&beside(".scale"), parse_scale)?,
            unit: unit.map(|unit| unit.trim().to_owned()).filter(|unit| !unit.is_empty()),
            per_package: is_one(".per-pkg")?,
            snapshot: is_one(".snapshot")?,
        })
    }

    /// Parses the terms.
    ///
    /// # Errors
    ///
    /// The same as [`parse_terms`].
    pub fn terms(&self) -> Result<Vec<Term>, TextError> {
        parse_terms(&self.text)
    }
}

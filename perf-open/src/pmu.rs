//! The PMUs of the machine, as sysfs tells of them: who counts, which events have names, how terms make a `config`.
//!
//! [`Pmus`] finds them, a [`Pmu`] is what its folder holds. The texts of the files are parsed by functions that need no
//! sysfs: [`parse_format`], [`parse_terms`], [`parse_cpus`], [`parse_scale`].
//!
//! Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices`, and the files beside it.

mod encode;
mod error;
mod format;
mod lex;
pub(crate) mod sysfs;
mod terms;
mod values;

use std::path::{Path, PathBuf};

use perf_abi::event::EventType;

pub(crate) use encode::encode;
pub use error::TextError;
pub use format::{ConfigWord, Format, parse_format};
pub(crate) use lex::{Parsed, expect, number, whole};
pub use terms::{Term, Value, parse_terms};
pub use values::{parse_cpus, parse_scale};

use crate::event::{Event, LookupError, ParseError};

/// The folder of PMUs: `/sys/bus/event_source/devices`, or one like it.
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
    /// This machine's.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/sys/bus/event_source/devices")
    }

    /// Those of a folder that looks like `/sys/bus/event_source/devices`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Their names, sorted.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, LookupError> {
        sysfs::names(&self.root)
    }

    /// The PMU of that name.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if there is none; [`LookupError::Read`] and [`LookupError::Text`] for a file that cannot
    /// be read or is not what the kernel documents. The terms of its events are parsed when they are used.
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
            let close = crate::event::closest(name, self.names()?.iter().map(String::as_str));
            return Err(LookupError::Unknown { what: "PMU", name: name.to_owned(), close });
        }
        Pmu::read(name, &self.root.join(name))
    }

    /// All of them, by name; a PMU whose files are not as they should be does not hide the others.
    ///
    /// # Errors
    ///
    /// [`LookupError::Read`] if the folder cannot be read.
    pub fn all(&self) -> Result<Vec<Result<Pmu, LookupError>>, LookupError> {
        Ok(self.names()?.iter().map(|name| self.get(name)).collect())
    }

    /// Whether there is a PMU of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        sysfs::is_file_name(name) && self.root.join(name).join("type").exists()
    }

    /// The names of the PMUs that have an event of that name.
    pub(crate) fn with_event(&self, event: &str) -> Result<Vec<String>, LookupError> {
        if !is_event(event) || !sysfs::is_file_name(event) {
            return Ok(Vec::new());
        }
        let mut names = sysfs::names_optional(&self.root)?;
        names.retain(|name| self.root.join(name).join("events").join(event).is_file());
        Ok(names)
    }

    /// The core PMUs of a machine whose cpus are of several kinds, such as `cpu_core` and `cpu_atom`; empty where the
    /// cpus are of one kind.
    pub(crate) fn hybrid(&self) -> Result<Vec<String>, LookupError> {
        let mut names = sysfs::names_optional(&self.root)?;
        names.retain(|name| name.starts_with("cpu_") && self.root.join(name).join("cpus").is_file());
        Ok(names)
    }
}

/// A PMU: what its folder in sysfs holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmu {
    /// Its folder's name.
    pub name: String,
    /// Its number, `attr.kind` of its events. Given out at boot: not the same on every machine.
    pub kind: EventType,
    /// The terms of its events, by name: `format/`.
    pub formats: Vec<(String, Format)>,
    /// The events that have names, by name: `events/`.
    pub events: Vec<PmuEvent>,
    /// Where an event may be opened, `cpumask` for one cpu a package, `cpus` for those of one kind. Empty: anywhere.
    pub cpus: Vec<u32>,
    /// Whether it counts what cpus execute: it is `cpu`, or has a file `cpus`.
    pub core: bool,
    /// What it is capable of, by name: `caps/`.
    pub caps: Vec<(String, String)>,
    path: PathBuf,
}

/// An event that a PMU has a name for.
#[derive(Clone, Debug, PartialEq)]
pub struct PmuEvent {
    /// Its name.
    pub name: String,
    /// Its terms as they are written, for [`parse_terms`].
    pub text: String,
    /// What a count has to be multiplied by to be in [`unit`](Self::unit)s: `NAME.scale`.
    pub scale: Option<f64>,
    /// The unit of the scaled count: `NAME.unit`.
    pub unit: Option<String>,
    /// Whether it counts for a whole package, whichever of its cpus it is opened on: `NAME.per-pkg`.
    pub per_package: bool,
    /// Whether its value is a state, of which differences have no meaning: `NAME.snapshot`.
    pub snapshot: bool,
}

/// The endings of the files that tell of an event whose name is before them.
const SUFFIXES: [&str; 4] = [".scale", ".unit", ".per-pkg", ".snapshot"];

/// Whether a file of `events/` is an event, and does not tell of another.
fn is_event(name: &str) -> bool {
    !SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

impl Pmu {
    /// The format of a term.
    #[must_use]
    pub fn format(&self, name: &str) -> Option<Format> {
        self.formats.iter().find(|(known, _)| known == name).map(|&(_, format)| format)
    }

    /// An event, by its name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&PmuEvent> {
        self.events.iter().find(|event| event.name == name)
    }

    /// The event of some terms: `event=0x3c,umask=1`, or a name and terms, `mem-loads,ldlat=30`.
    ///
    /// A term is, in this order: a word of perf's ([`Terms`](crate::event::Terms), `config=`, `name=`), a file of
    /// `format/`, a name of `events/`, on a core PMU a hardware or cache event (`cycles`), a raw `config` (`r1a8`). What is written wins over what a named
    /// event says. (perf joins the two by `or`.) Bits that no term sets are 0; defaults that perf adds for some AUX
    /// PMUs are not.
    ///
    /// `kprobe` takes `func=` and `offset=`, or `addr=`; `uprobe` takes `path=` and `offset=`. These are not perf's.
    ///
    /// # Errors
    ///
    /// A term that is unknown, has no or the wrong value, stands twice, or does not fit its bits.
    pub fn event(&self, terms: &str) -> Result<Event, ParseError> {
        let name = format!("{}/{terms}/", self.name);
        let parsed = parse_terms(terms).map_err(|error| ParseError::of_text(terms, 0, error))?;
        let event = encode(self, &parsed).map_err(|(offset, kind)| ParseError::new(terms, offset, kind))?;
        Ok(Event { name: if event.name.is_empty() { name } else { event.name }, ..event })
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

    /// The terms, parsed.
    ///
    /// # Errors
    ///
    /// As [`parse_terms`] has them.
    pub fn terms(&self) -> Result<Vec<Term>, TextError> {
        parse_terms(&self.text)
    }
}

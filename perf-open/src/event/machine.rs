//! Events that are looked up on the machine: those of PMUs, tracepoints, and those of each kind of cpus.

use core::cell::OnceCell;

use perf_abi::event::{EventType, PMU_TYPE_SHIFT};

use super::encode::encode;
use super::head::EventHead;
use super::names::all_names;
use super::terms::with_terms;
use super::{ErrorOffset, EventSpec, Modifiers, ParseErrorKind, glob};
use crate::lookup::{LookupError, closest};
use crate::pmu::{Pmu, Pmus, Term};
use crate::tracepoint::Tracefs;

/// The core PMUs of a machine with several kinds of cpus, read at most once per string.
pub(super) type CorePmus = OnceCell<Vec<Pmu>>;

/// The folders in which names are looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LookupFolders {
    pub(super) pmus: Pmus,
    pub(super) tracefs: Tracefs,
}

impl LookupFolders {
    /// Returns the error for a name that nothing has.
    pub(super) fn unknown(
        &self,
        head: EventHead<'_>,
        first: &str,
        rest: &str,
        has_terms: bool,
    ) -> ErrorOffset {
        if !rest.is_empty() && Modifiers::parse(rest).is_err() {
            let (name, _) = rest.split_once(':').unwrap_or((rest, ""));
            return match self.tracefs.id(first, name) {
                Err(error) => (head.at(first), ParseErrorKind::Lookup(error)),
                Ok(_) => (head.at(first), ParseErrorKind::Expected("an event")),
            };
        }
        let mut names = self.pmus.names().unwrap_or_default();
        let what = if has_terms { "PMU or event" } else { "event" };
        if !has_terms {
            let pmus = core::mem::take(&mut names);
            names = all_names();
            names.extend(
                pmus.iter()
                    .filter_map(|pmu| self.pmus.get(pmu).ok())
                    .flat_map(|pmu| pmu.events.into_iter().map(|event| event.name)),
            );
        }
        let close = closest(first, names.iter().map(String::as_str));
        (head.at(first), ParseErrorKind::Unknown { what, name: first.to_owned(), close })
    }

    /// Returns the tracepoints with a name. The system and the name may be patterns.
    pub(super) fn tracepoints(
        &self,
        head: EventHead<'_>,
        system: &str,
        name: &str,
        terms: &[Term],
    ) -> Result<Vec<EventSpec>, ErrorOffset> {
        let lookup = |error| (head.at(system), ParseErrorKind::Lookup(error));
        let one = |system: &str, name: &str| -> Result<EventSpec, ErrorOffset> {
            let event = EventSpec::tracepoint_of(&self.tracefs, system, name).map_err(lookup)?;
            with_terms(event, terms)
        };
        if !glob::is_pattern(system) && !glob::is_pattern(name) {
            return Ok(vec![one(system, name)?]);
        }
        let mut events = Vec::new();
        for known in
            self.tracefs.systems().map_err(lookup)?.iter().filter(|known| glob::matches(system, known))
        {
            let names = self.tracefs.names(known).map_err(lookup)?;
            for name in names.iter().filter(|known| glob::matches(name, known)) {
                events.push(one(known, name)?);
            }
        }
        if events.is_empty() {
            let name = format!("{system}:{name}");
            return Err((
                head.at(system),
                ParseErrorKind::Unknown { what: "tracepoint", name, close: Vec::new() },
            ));
        }
        Ok(events)
    }

    /// Returns the PMU with that name. If there is none, returns the PMUs whose names have it before a number, with or
    /// without `uncore_`, or that match it as a pattern.
    ///
    /// perf: `perf_pmu__match`, `tools/perf/util/pmu.c`.
    pub(super) fn pmus_like(&self, name: &str) -> Result<Vec<String>, LookupError> {
        if self.pmus.has(name) {
            return Ok(vec![name.to_owned()]);
        }
        let numbered = |known: &str| {
            let number = known.strip_prefix(name).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
            number
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let is_like = |known: &str| numbered(known) || (glob::is_pattern(name) && glob::matches(name, known));
        let mut names = self.pmus.names()?;
        names.retain(|known| {
            let bare = known.strip_prefix("uncore_").unwrap_or(known);
            is_like(known) || bare == name || is_like(bare)
        });
        Ok(names)
    }

    /// Returns the event of these terms on each PMU.
    pub(super) fn of_pmus(
        &self,
        head: EventHead<'_>,
        pmus: &[String],
        terms: &[Term],
    ) -> Result<Vec<EventSpec>, ErrorOffset> {
        let of_pmu = |name: &String| {
            let pmu = self.pmus.get(name);
            let pmu = pmu.map_err(|error| (head.at(head.text), ParseErrorKind::Lookup(error)))?;
            encode(&pmu, terms)
        };
        pmus.iter().map(of_pmu).collect()
    }

    /// Returns a hardware, cache or raw event on each kind of cpu; the event itself on a machine with one kind.
    ///
    /// Kernel: `PERF_PMU_CAP_EXTENDED_HW_TYPE`. Since Linux 5.13.
    pub(super) fn of_each_core(
        &self,
        event: EventSpec,
        cores: &CorePmus,
    ) -> Result<Vec<EventSpec>, ErrorOffset> {
        let generic = event.attr.kind == EventType::HARDWARE || event.attr.kind == EventType::HW_CACHE;
        let has_pmu = event.attr.config >> PMU_TYPE_SHIFT != 0;
        if !(event.attr.kind == EventType::RAW || (generic && !has_pmu)) {
            return Ok(vec![event]);
        }
        let cores = match cores.get() {
            Some(cores) => cores,
            None => {
                let read = self.cores().map_err(|error| (0, ParseErrorKind::Lookup(error)))?;
                cores.get_or_init(|| read)
            }
        };
        if cores.is_empty() {
            return Ok(vec![event]);
        }
        let of_core = |pmu: &Pmu| {
            let mut event =
                EventSpec { cpus: pmu.cpus.clone(), pmu: Some(pmu.name.clone()), ..event.clone() };
            if generic {
                event.attr.config |= u64::from(pmu.kind.0) << PMU_TYPE_SHIFT;
            } else {
                event.attr.kind = pmu.kind;
            }
            event
        };
        Ok(cores.iter().map(of_core).collect())
    }

    /// Returns the core PMUs of a machine with several kinds of cpus; empty on a machine with one kind.
    fn cores(&self) -> Result<Vec<Pmu>, LookupError> {
        self.pmus.hybrid()?.iter().map(|name| self.pmus.get(name)).collect()
    }
}

impl EventSpec {
    /// Returns a tracepoint of this machine. C: `PERF_TYPE_TRACEPOINT`.
    ///
    /// # Errors
    ///
    /// The errors of [`Tracefs::id`]: there is no such tracepoint, or tracefs is not mounted or not readable.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::EventSpec;
    ///
    /// match EventSpec::tracepoint("sched", "sched_switch") {
    ///     Ok(event) => assert_eq!(event.name, "sched:sched_switch"),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    pub fn tracepoint(system: &str, name: &str) -> Result<Self, LookupError> {
        Self::tracepoint_of(&Tracefs::find(), system, name)
    }

    /// Returns a tracepoint of `tracefs`.
    ///
    /// # Errors
    ///
    /// The same as [`Tracefs::id`].
    pub fn tracepoint_of(tracefs: &Tracefs, system: &str, name: &str) -> Result<Self, LookupError> {
        let id = tracefs.id(system, name)?;
        Ok(Self::numeric(format!("{system}:{name}"), EventType::TRACEPOINT, id))
    }
}

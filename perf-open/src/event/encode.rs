//! Encoding of the terms of a PMU into the words of an attr.

use alloc::ffi::CString;

use perf_abi::event::{EventType, HW_EVENT_MASK, PMU_TYPE_SHIFT};

use super::names::{known_event, raw_config};
use super::terms::{WORDS, apply, number, repeated, text};
use super::{ErrorOffset, EventSpec, ParseError, ParseErrorKind};
use crate::lookup::sysfs::invalid;
use crate::lookup::{LookupError, TextError, closest};
use crate::pmu::{ConfigWord, Pmu, PmuEvent, PmuFormat, Term, TermValue, parse_terms};

impl Pmu {
    /// Returns the event for a list of terms: `event=0x3c,umask=1`, or a name and terms, `mem-loads,ldlat=30`.
    ///
    /// The name of a term is looked up in this order: perf's terms ([`SamplingTerms`](crate::event::SamplingTerms), `config=`,
    /// `name=`), the files of `format/`, the names of `events/`, on a core PMU the hardware and cache events
    /// (`cycles`), and raw configs (`r1a8`). Terms in the list override those of a named event. (perf combines the two
    /// by `or`.) Bits that no term sets are those of
    /// [`default_config`](Self::default_config).
    ///
    /// `kprobe` accepts `func=` and `offset=`, or `addr=`. `uprobe` accepts `path=` and `offset=`. perf does not have
    /// these terms.
    ///
    /// # Errors
    ///
    /// If a term is unknown, has no value or the wrong kind of value, occurs twice, or does not fit its bits.
    pub fn event(&self, terms: &str) -> Result<EventSpec, ParseError> {
        let name = format!("{}/{terms}/", self.name);
        let parsed = parse_terms(terms).map_err(|error| ParseError::of_text(terms, 0, error))?;
        let event = encode(self, &parsed).map_err(|(offset, kind)| ParseError::new(terms, offset, kind))?;
        Ok(EventSpec { name: if event.name.is_empty() { name } else { event.name }, ..event })
    }
}

/// Returns the event for `terms` on `pmu`. Its name is empty unless a term sets it.
pub(super) fn encode(pmu: &Pmu, terms: &[Term]) -> Result<EventSpec, ErrorOffset> {
    repeated(terms)?;
    let mut event = EventSpec { cpus: pmu.cpus.clone(), pmu: Some(pmu.name.clone()), ..EventSpec::default() };
    event.attr.kind = pmu.kind;
    event.attr.config = pmu.default_config();
    let mut left = Vec::new();
    for term in terms {
        if !apply(&mut event, term)? {
            left.push(term);
        } else if term.name == "config" {
            event.config_set = u64::MAX;
        }
    }
    // Apply named events before the other fields, which override them.
    let mut fields = Vec::new();
    for term in left {
        match named(pmu, term) {
            Some(named) => add_named(pmu, named, terms, &mut event).map_err(|kind| (term.offset, kind))?,
            None => fields.push(term),
        }
    }
    for term in fields {
        match pmu.format(&term.name) {
            Some(format) => {
                set_field(term, format, &mut event)?;
                if format.word == ConfigWord::Config {
                    event.config_set |= format.mask;
                }
            }
            None => set_other(pmu, term, &mut event)?,
        }
    }
    Ok(event)
}

/// Returns the event that a term names, by itself or as `event=NAME`. A field of the same name takes precedence.
fn named<'a>(pmu: &'a Pmu, term: &Term) -> Option<&'a PmuEvent> {
    match &term.value {
        TermValue::Flag if pmu.format(&term.name).is_none() => pmu.named(&term.name),
        TermValue::Text(name) if term.name == "event" => pmu.named(name),
        _ => None,
    }
}

/// Adds the terms, unit and scale of a named event. `written` are the terms of the string.
fn add_named(
    pmu: &Pmu,
    named: &PmuEvent,
    written: &[Term],
    event: &mut EventSpec,
) -> Result<(), ParseErrorKind> {
    let fault = |offset, expected| {
        let path = pmu.path.join("events").join(&named.name);
        ParseErrorKind::Lookup(invalid(&path, TextError { offset, expected }))
    };
    for term in &named.terms().map_err(|error| fault(error.offset, error.expected))? {
        if term.value == TermValue::Required {
            if !written
                .iter()
                .any(|written| written.name == term.name && written.value != TermValue::Required)
            {
                return Err(ParseErrorKind::Missing(term.name.clone()));
            }
            continue;
        }
        let applied = match pmu.format(&term.name) {
            Some(format) => set_field(term, format, event).is_ok(),
            None => apply(event, term).unwrap_or(false),
        };
        if !applied {
            return Err(fault(term.offset, "a term of the PMU, with a value that fits"));
        }
    }
    if (event.unit.is_some() && named.unit.is_some()) || (event.scale.is_some() && named.scale.is_some()) {
        return Err(ParseErrorKind::Expected("one event that has a unit or scale"));
    }
    event.unit = event.unit.take().or_else(|| named.unit.clone());
    event.scale = event.scale.or(named.scale);
    Ok(())
}

/// Stores the value of a term in its bits. Without a value it is 1, which is allowed for a single bit only.
fn set_field(term: &Term, format: PmuFormat, event: &mut EventSpec) -> Result<(), ErrorOffset> {
    let value = match term.value {
        TermValue::Flag if format.max() == 1 => 1,
        _ => number(term, format.max())?,
    };
    if format.set(&mut event.attr, value) {
        return Ok(());
    }
    let name = term.name.clone();
    Err((term.value_offset, ParseErrorKind::TooLarge { name, value, max: format.max() }))
}

/// Applies a term that is neither one of perf's nor in the PMU's folder.
fn set_other(pmu: &Pmu, term: &Term, event: &mut EventSpec) -> Result<(), ErrorOffset> {
    if set_probe(pmu, term, event)? {
        return Ok(());
    }
    if term.value == TermValue::Flag {
        let generic = known_event(&term.name).filter(|&(kind, _)| pmu.core && kind != EventType::SOFTWARE);
        if let Some((kind, config)) = generic {
            event.attr.kind = kind;
            // The kernel uses the PMU `cpu` if the config names no PMU.
            let of_pmu = if pmu.kind == EventType::RAW { 0 } else { u64::from(pmu.kind.0) << PMU_TYPE_SHIFT };
            event.attr.config = config & HW_EVENT_MASK | of_pmu;
            return Ok(());
        }
        if let Some(config) = raw_config(&term.name) {
            event.attr.config |= config;
            return Ok(());
        }
    }
    let formats = pmu.formats.iter().map(|(name, _)| name.as_str());
    let events = pmu.events.iter().map(|event| event.name.as_str());
    let close = closest(&term.name, formats.chain(events).chain(WORDS.iter().copied()));
    Err((term.offset, ParseErrorKind::Unknown { what: "term", name: term.name.clone(), close }))
}

/// Applies a term of `kprobe` or `uprobe` that is not in sysfs. Returns `false` if it is not such a term.
fn set_probe(pmu: &Pmu, term: &Term, event: &mut EventSpec) -> Result<bool, ErrorOffset> {
    match (pmu.name.as_str(), term.name.as_str()) {
        ("kprobe", "func") | ("uprobe", "path") => {
            let string = CString::new(text(term, "a name")?).map_err(|_| {
                (term.value_offset, ParseErrorKind::Lookup(LookupError::Nul { what: "the name" }))
            })?;
            event.string = Some(string);
        }
        ("kprobe", "offset" | "addr") | ("uprobe", "offset") => event.attr.config2 = number(term, u64::MAX)?,
        _ => return Ok(false),
    }
    Ok(true)
}

//! The parser of event strings.

use perf_abi::attr::AttrFlags;
use perf_abi::event::EventType;

use super::grammar::{self, EventSyntax};
use super::head::{EventHead, place};
use super::machine::{CorePmus, LookupFolders};
use super::names::{known_event, raw_config};
use super::terms::{repeated, with_terms};
use super::tool::ToolEvent;
use super::{ErrorOffset, EventGroup, EventSpec, Modifiers, ParseError, ParseErrorKind, glob};
use crate::lookup::TextError;
use crate::pmu::{Pmus, Term, TermValue, parse_terms};
use crate::tracepoint::Tracefs;

/// The maximum number of events that one string may expand to. Patterns such as `*:*` expand to many.
const MOST: usize = 1 << 16;

/// A parser of perf's event strings, for the PMUs and tracepoints of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventParser {
    machine: LookupFolders,
    /// Whether events that a tool measures itself are accepted.
    pub(super) tools: bool,
}

/// Parses a list of events and groups in the syntax of `perf record -e`, with the PMUs and tracepoints of this machine.
///
/// # Errors
///
/// [`ParseError`]: what was not understood, and at which offset.
///
/// # Examples
///
/// ```
/// use perf_abi::attr::AttrFlags;
/// use perf_open::event::parse;
///
/// let groups = parse("task-clock:u,{page-faults,context-switches}:S")?;
/// assert!(groups[0].events[0].attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
/// assert_eq!((groups[1].events.len(), groups[1].sample_leader_only), (2, true));
/// # Ok::<(), perf_open::event::ParseError>(())
/// ```
pub fn parse(list: &str) -> Result<Vec<EventGroup>, ParseError> {
    EventParser::new().parse(list)
}

impl EventParser {
    /// Uses the PMUs and tracepoints of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses the PMUs and tracepoints of these folders.
    #[must_use]
    pub fn at(pmus: Pmus, tracefs: Tracefs) -> Self {
        Self { machine: LookupFolders { pmus, tracefs }, tools: false }
    }

    /// Also accepts the names of [`ToolEvent`]: `duration_time`. Only for callers that measure what
    /// [`EventSpec::tool`] names; without this, such a name is an error.
    #[must_use]
    pub fn with_tools(self) -> Self {
        Self { tools: true, ..self }
    }

    /// Returns where PMUs are looked up.
    #[must_use]
    pub fn pmus(&self) -> &Pmus {
        &self.machine.pmus
    }

    /// Returns where tracepoints are looked up.
    #[must_use]
    pub fn tracefs(&self) -> &Tracefs {
        &self.machine.tracefs
    }

    /// Parses a list of events and groups, like [`parse()`].
    ///
    /// An event of several PMUs expands to one event for each: `uncore_imc/.../` for `uncore_imc_0` and `uncore_imc_1`,
    /// `cycles` for `cpu_core` and `cpu_atom`. A pattern of tracepoints expands in the same way. Without braces, each
    /// of these events is a group of its own.
    ///
    /// # Errors
    ///
    /// [`ParseError`]: what was not understood, and at which offset.
    pub fn parse(&self, list: &str) -> Result<Vec<EventGroup>, ParseError> {
        self.groups(list).map_err(|(offset, kind)| ParseError::new(list, offset, kind))
    }

    fn groups(&self, list: &str) -> Result<Vec<EventGroup>, ErrorOffset> {
        let parsed =
            grammar::list(list).map_err(|error| (error.offset, ParseErrorKind::Expected(error.expected)))?;
        let (mut groups, mut count, cores) = (Vec::new(), 0_usize, CorePmus::new());
        for group in parsed {
            let mut events = Vec::new();
            for item in &group.items {
                let made = self.item(list, item, &cores)?;
                count = count.saturating_add(made.len());
                events.extend(made);
                if count > MOST {
                    let (value, max) = (count as u64, MOST as u64);
                    let kind = ParseErrorKind::TooLarge { name: "number of events".to_owned(), value, max };
                    return Err((place(list, item.text), kind));
                }
            }
            if !group.braces {
                groups.extend(events.into_iter().map(|(event, modifiers)| alone(event, modifiers)));
                continue;
            }
            let at = place(list, group.modifiers);
            groups.push(together(group.name, events, modifiers(group.modifiers, at)?, at)?);
        }
        Ok(groups)
    }

    /// Returns the events of one item, each with the modifiers that were applied to it.
    fn item(
        &self,
        list: &str,
        item: &EventSyntax<'_>,
        cores: &CorePmus,
    ) -> Result<Vec<(EventSpec, Modifiers)>, ErrorOffset> {
        let head = EventHead { list, text: item.head };
        let terms = match item.terms {
            Some(text) => shifted_terms(text, place(list, text))?,
            None => Vec::new(),
        };
        repeated(&terms)?;
        let (events, in_head) = self.events(head, item.terms.is_some(), &terms, cores)?;
        if item.terms.is_some() && !in_head.is_empty() {
            return Err((place(list, in_head), ParseErrorKind::Expected("modifiers after the terms")));
        }
        let written = if item.terms.is_some() { item.modifiers } else { in_head };
        let at = place(list, written);
        let modifiers = modifiers(written, at)?;
        let finish = |mut event: EventSpec| {
            if event.name.is_empty() {
                event.name = item.text.to_owned();
            }
            // The modifiers of an event replace the default; those of a group are added.
            if written.is_empty() {
                event.attr.flags |= AttrFlags::EXCLUDE_GUEST;
            }
            modify(&mut event, modifiers, false, at)?;
            Ok((event, modifiers))
        };
        events.into_iter().map(finish).collect()
    }

    /// Returns the events of a head and its terms, and the modifiers in the head. The names of events that the string
    /// itself names are empty.
    fn events<'a>(
        &self,
        head: EventHead<'a>,
        has_terms: bool,
        terms: &[Term],
        cores: &CorePmus,
    ) -> Result<(Vec<EventSpec>, &'a str), ErrorOffset> {
        if head.text.starts_with("mem:") {
            let (event, modifiers) = head.breakpoint()?;
            return Ok((vec![with_terms(event, terms)?], modifiers));
        }
        let (first, rest) = head.text.split_once(':').unwrap_or((head.text, head.end()));
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            let (event, modifiers) = head.numeric(first, rest)?;
            return Ok((self.machine.of_each_core(with_terms(event, terms)?, cores)?, modifiers));
        }
        let known = known_event(first).or_else(|| Some((EventType::RAW, raw_config(first)?)));
        if let Some((kind, config)) = known {
            let event = with_terms(EventSpec::numeric("", kind, config), terms)?;
            return Ok((self.machine.of_each_core(event, cores)?, rest));
        }
        if let Some(tool) = ToolEvent::named(first).filter(|_| self.tools) {
            let event = EventSpec { name: String::new(), ..EventSpec::tool(tool) };
            return Ok((vec![with_terms(event, terms)?], rest));
        }
        if ToolEvent::named(first).is_some() {
            let reason = "perf itself measures it; it is not an event of the kernel";
            return Err((head.at(first), ParseErrorKind::Unsupported { name: first.to_owned(), reason }));
        }
        let is_tracepoint =
            self.machine.tracefs.root().join("events").join(first).is_dir() || glob::is_pattern(first);
        if !rest.is_empty() && is_tracepoint {
            let (name, modifiers) = rest.split_once(':').unwrap_or((rest, head.end()));
            return Ok((self.machine.tracepoints(head, first, name, terms)?, modifiers));
        }
        let lookup = |error| (head.at(first), ParseErrorKind::Lookup(error));
        if has_terms && rest.is_empty() {
            let pmus = self.machine.pmus_like(first).map_err(lookup)?;
            if !pmus.is_empty() {
                return Ok((self.machine.of_pmus(head, &pmus, terms)?, rest));
            }
        }
        let pmus = self.machine.pmus.with_event(first).map_err(lookup)?;
        if !pmus.is_empty() {
            let offset = head.at(first);
            let name = Term { name: first.to_owned(), value: TermValue::Flag, offset, value_offset: offset };
            let terms: Vec<Term> = core::iter::once(name).chain(terms.iter().cloned()).collect();
            return Ok((self.machine.of_pmus(head, &pmus, &terms)?, rest));
        }
        Err(self.machine.unknown(head, first, rest, has_terms))
    }
}

/// Parses terms. Their offsets are those in the list, in which `text` begins at `at`.
fn shifted_terms(text: &str, at: usize) -> Result<Vec<Term>, ErrorOffset> {
    let fault =
        |error: TextError| (at.saturating_add(error.offset), ParseErrorKind::Expected(error.expected));
    let mut terms = parse_terms(text).map_err(fault)?;
    for term in &mut terms {
        term.offset = term.offset.saturating_add(at);
        term.value_offset = term.value_offset.saturating_add(at);
    }
    Ok(terms)
}

/// Parses modifiers that begin at `at`.
fn modifiers(text: &str, at: usize) -> Result<Modifiers, ErrorOffset> {
    Modifiers::parse(text).map_err(|(offset, letter)| {
        let kind = if Modifiers::is_letter(letter) {
            ParseErrorKind::Repeated(letter.to_string())
        } else {
            ParseErrorKind::Unknown { what: "modifier", name: letter.to_string(), close: Vec::new() }
        };
        (at.saturating_add(offset), kind)
    })
}

/// Applies modifiers that begin at `at`.
fn modify(
    event: &mut EventSpec,
    modifiers: Modifiers,
    machine_is_set: bool,
    at: usize,
) -> Result<(), ErrorOffset> {
    let flags = modifiers.apply(event.attr.flags, machine_is_set);
    event.attr.flags = flags.ok_or((at, ParseErrorKind::Repeated("p".to_owned())))?;
    event.precise_max |= modifiers.contains('P');
    event.bpf_counter |= modifiers.contains('b');
    Ok(())
}

/// Returns a group of one event.
fn alone(event: EventSpec, modifiers: Modifiers) -> EventGroup {
    EventGroup {
        sample_leader_only: modifiers.contains('S'),
        weak: modifiers.contains('W'),
        ..EventGroup::from(event)
    }
}

/// Returns a group of the events in braces. The modifiers `D` and `e` of the group apply to the leader alone, as the
/// kernel requires.
fn together(
    name: Option<&str>,
    events: Vec<(EventSpec, Modifiers)>,
    modifiers: Modifiers,
    at: usize,
) -> Result<EventGroup, ErrorOffset> {
    let mut group = EventGroup {
        name: name.map(str::to_owned),
        sample_leader_only: modifiers.contains('S'),
        weak: modifiers.contains('W'),
        events: Vec::new(),
    };
    for (mut event, own) in events {
        let is_leader = group.events.is_empty();
        group.sample_leader_only |= is_leader && own.contains('S');
        group.weak |= is_leader && own.contains('W');
        let machine_is_set = own.contains('G') || own.contains('H');
        modify(&mut event, if is_leader { modifiers } else { modifiers.of_sibling() }, machine_is_set, at)?;
        group.events.push(event);
    }
    Ok(group)
}

//! From event strings to events.

use perf_abi::attr::AttrFlags;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::{EventType, PMU_TYPE_SHIFT};

use super::grammar::{self, Item};
use super::names::{TOOL, all_names};
use super::terms::{WORDS, apply, repeated};
use super::{Event, EventGroup, LookupError, Modifiers, ParseError, ParseErrorKind, Place, closest, glob};
use super::{known_event, raw_config};
use crate::pmu::{Pmus, Term, Value, encode, number, parse_terms, whole};
use crate::tracepoint::Tracefs;

/// The most events that one string may make; patterns such as `*:*` make many.
const MOST: usize = 1 << 16;

/// Reads perf's event strings, with the names that a machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parser {
    pmus: Pmus,
    tracefs: Tracefs,
}

/// Reads a list of events and groups, as `perf record -e` takes them, with the names that this machine has.
///
/// # Errors
///
/// What is not understood, and where: [`ParseError`].
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
    Parser::new().parse(list)
}

impl Parser {
    /// With the PMUs and tracepoints of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the PMUs and tracepoints of these folders.
    #[must_use]
    pub fn at(pmus: Pmus, tracefs: Tracefs) -> Self {
        Self { pmus, tracefs }
    }

    /// Where PMUs are looked up.
    #[must_use]
    pub fn pmus(&self) -> &Pmus {
        &self.pmus
    }

    /// Where tracepoints are looked up.
    #[must_use]
    pub fn tracefs(&self) -> &Tracefs {
        &self.tracefs
    }

    /// Reads a list of events and groups, as [`parse()`] does.
    ///
    /// An event of several PMUs becomes an event for each: `uncore_imc/.../` for `uncore_imc_0` and `uncore_imc_1`,
    /// `cycles` for `cpu_core` and `cpu_atom`; so does a pattern of tracepoints. Outside braces each is a group.
    ///
    /// # Errors
    ///
    /// What is not understood, and where.
    pub fn parse(&self, list: &str) -> Result<Vec<EventGroup>, ParseError> {
        self.groups(list).map_err(|(offset, kind)| ParseError::new(list, offset, kind))
    }

    fn groups(&self, list: &str) -> Result<Vec<EventGroup>, Place> {
        let parsed =
            grammar::list(list).map_err(|error| (error.offset, ParseErrorKind::Expected(error.expected)))?;
        let (mut groups, mut count) = (Vec::new(), 0_usize);
        for group in parsed {
            let mut events = Vec::new();
            for item in &group.items {
                events.extend(self.item(list, item)?);
                count = count.saturating_add(events.len());
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

    /// The events that one item makes, with the modifiers that were applied to them.
    fn item(&self, list: &str, item: &Item<'_>) -> Result<Vec<(Event, Modifiers)>, Place> {
        let head = Head { list, text: item.head };
        let terms = match item.terms {
            Some(text) => shifted_terms(text, place(list, text))?,
            None => Vec::new(),
        };
        repeated(&terms)?;
        let (events, in_head) = self.events(head, item.terms.is_some(), &terms)?;
        if item.terms.is_some() && !in_head.is_empty() {
            return Err((place(list, in_head), ParseErrorKind::Expected("modifiers behind the terms")));
        }
        let written = if item.terms.is_some() { item.modifiers } else { in_head };
        let at = place(list, written);
        let modifiers = modifiers(written, at)?;
        let finish = |mut event: Event| {
            if event.name.is_empty() {
                event.name = item.text.to_owned();
            }
            // Modifiers of an event say all of it; those of a group are added.
            if written.is_empty() {
                event.attr.flags |= AttrFlags::EXCLUDE_GUEST;
            }
            modify(&mut event, modifiers, false, at)?;
            Ok((event, modifiers))
        };
        events.into_iter().map(finish).collect()
    }

    /// The events of a head and terms, named only where the string does not name them; and the modifiers in the head.
    fn events<'a>(
        &self,
        head: Head<'a>,
        has_terms: bool,
        terms: &[Term],
    ) -> Result<(Vec<Event>, &'a str), Place> {
        if head.text.starts_with("mem:") {
            let (event, modifiers) = head.breakpoint()?;
            return Ok((vec![with_terms(event, terms)?], modifiers));
        }
        let (first, rest) = head.text.split_once(':').unwrap_or((head.text, head.end()));
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            let (event, modifiers) = head.numeric(first, rest)?;
            return Ok((self.of_each_core(with_terms(event, terms)?)?, modifiers));
        }
        let known = known_event(first).or_else(|| Some((EventType::RAW, raw_config(first)?)));
        if let Some((kind, config)) = known {
            let event = with_terms(Event::numeric("", kind, config), terms)?;
            return Ok((self.of_each_core(event)?, rest));
        }
        if TOOL.contains(&first) {
            let reason = "perf measures it itself, it is no event of the kernel";
            return Err((head.at(first), ParseErrorKind::Unsupported { name: first.to_owned(), reason }));
        }
        let is_tracepoint =
            self.tracefs.root().join("events").join(first).is_dir() || glob::is_pattern(first);
        if !rest.is_empty() && is_tracepoint {
            let (name, modifiers) = rest.split_once(':').unwrap_or((rest, head.end()));
            return Ok((self.tracepoints(head, first, name, terms)?, modifiers));
        }
        let lookup = |error| (head.at(first), ParseErrorKind::Lookup(error));
        if has_terms && rest.is_empty() {
            let pmus = self.pmus_like(first).map_err(lookup)?;
            if !pmus.is_empty() {
                return Ok((self.of_pmus(head, &pmus, terms)?, rest));
            }
        }
        let pmus = self.pmus.with_event(first).map_err(lookup)?;
        if !pmus.is_empty() {
            let offset = head.at(first);
            let name = Term { name: first.to_owned(), value: Value::Flag, offset, value_offset: offset };
            let terms: Vec<Term> = core::iter::once(name).chain(terms.iter().cloned()).collect();
            return Ok((self.of_pmus(head, &pmus, &terms)?, rest));
        }
        Err(self.unknown(head, first, rest, has_terms))
    }

    /// Why nothing is of that name.
    fn unknown(&self, head: Head<'_>, first: &str, rest: &str, has_terms: bool) -> Place {
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

    /// The tracepoints of a name, either part of which may be a pattern.
    fn tracepoints(
        &self,
        head: Head<'_>,
        system: &str,
        name: &str,
        terms: &[Term],
    ) -> Result<Vec<Event>, Place> {
        let lookup = |error| (head.at(system), ParseErrorKind::Lookup(error));
        let one = |system: &str, name: &str| -> Result<Event, Place> {
            let event = Event::tracepoint_of(&self.tracefs, system, name).map_err(lookup)?;
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

    /// The PMU of that name; else those that have it before a number, with or without `uncore_`, or that match it as
    /// a pattern.
    ///
    /// perf: `perf_pmu__match`, `tools/perf/util/pmu.c`.
    fn pmus_like(&self, name: &str) -> Result<Vec<String>, LookupError> {
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

    /// The event of these terms on each PMU.
    fn of_pmus(&self, head: Head<'_>, pmus: &[String], terms: &[Term]) -> Result<Vec<Event>, Place> {
        let of_pmu = |name: &String| {
            let pmu = self.pmus.get(name);
            let pmu = pmu.map_err(|error| (head.at(head.text), ParseErrorKind::Lookup(error)))?;
            encode(&pmu, terms)
        };
        pmus.iter().map(of_pmu).collect()
    }

    /// A hardware, cache or raw event on each kind of cpu, where the machine has several.
    ///
    /// Kernel: `PERF_PMU_CAP_EXTENDED_HW_TYPE`. Since Linux 5.13.
    fn of_each_core(&self, event: Event) -> Result<Vec<Event>, Place> {
        let generic = event.attr.kind == EventType::HARDWARE || event.attr.kind == EventType::HW_CACHE;
        let told = event.attr.config >> PMU_TYPE_SHIFT != 0;
        if !(event.attr.kind == EventType::RAW || (generic && !told)) {
            return Ok(vec![event]);
        }
        let lookup = |error| (0, ParseErrorKind::Lookup(error));
        let names = self.pmus.hybrid().map_err(lookup)?;
        if names.is_empty() {
            return Ok(vec![event]);
        }
        let of_core = |name: &String| {
            let pmu = self.pmus.get(name).map_err(lookup)?;
            let mut event = Event { cpus: pmu.cpus, pmu: Some(pmu.name), ..event.clone() };
            if generic {
                event.attr.config |= u64::from(pmu.kind.0) << PMU_TYPE_SHIFT;
            } else {
                event.attr.kind = pmu.kind;
            }
            Ok(event)
        };
        names.iter().map(of_core).collect()
    }
}

/// What is before the terms of an event, and the list it stands in.
#[derive(Clone, Copy)]
struct Head<'a> {
    list: &'a str,
    text: &'a str,
}

impl<'a> Head<'a> {
    /// Where a part of the head stands in the list.
    fn at(self, part: &str) -> usize {
        place(self.list, part)
    }

    /// The end of the head.
    fn end(self) -> &'a str {
        self.text.get(self.text.len()..).unwrap_or_default()
    }

    /// `all` of a part as a number.
    fn number(self, part: &str) -> Result<u64, Place> {
        let fault = |error: crate::pmu::TextError| {
            (self.at(part).saturating_add(error.offset), ParseErrorKind::Expected(error.expected))
        };
        whole(part, "a number", number).map_err(fault)
    }

    /// `TYPE:CONFIG[:MODIFIERS]`.
    fn numeric(self, kind: &str, rest: &'a str) -> Result<(Event, &'a str), Place> {
        let (config, modifiers) = rest.split_once(':').unwrap_or((rest, self.end()));
        let value = self.number(kind)?;
        let kind = u32::try_from(value).map_err(|_| {
            let (name, max) = ("type".to_owned(), u32::MAX.into());
            (self.at(kind), ParseErrorKind::TooLarge { name, value, max })
        })?;
        Ok((Event::numeric("", EventType(kind), self.number(config)?), modifiers))
    }

    /// `mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]`.
    ///
    /// perf: `parse_events_add_breakpoint`, `tools/perf/util/parse-events.c`.
    fn breakpoint(self) -> Result<(Event, &'a str), Place> {
        let text = self.text.strip_prefix("mem:").unwrap_or_default();
        let (place, rest) = text.split_once(':').unwrap_or((text, self.end()));
        let (address_text, len_text) = match place.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (place, None),
        };
        // Letters that are not all of an access are modifiers of a breakpoint that names none.
        let (first, behind) = rest.split_once(':').unwrap_or((rest, self.end()));
        let is_access = !first.is_empty() && first.bytes().all(|byte| b"rwx".contains(&byte));
        let (access, modifiers) = match is_access {
            true => (
                access(first).map_err(|(offset, kind)| (self.at(first).saturating_add(offset), kind))?,
                behind,
            ),
            false => (BreakpointType::RW, rest),
        };
        let address = self.number(address_text)?;
        let len = match len_text {
            Some(len) => self.number(len)?,
            None => Event::breakpoint_len(access),
        };
        let event = Event::breakpoint(address, len, access).map_err(|error| {
            let part = match error {
                LookupError::Value { what: "breakpoint length", .. } => len_text.unwrap_or(address_text),
                LookupError::Value { what: "breakpoint access", .. } => first,
                _ => address_text,
            };
            (self.at(part), ParseErrorKind::Lookup(error))
        })?;
        Ok((Event { name: String::new(), ..event }, modifiers))
    }
}

/// Where in `list` its part begins.
fn place(list: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(list.as_ptr().addr()).min(list.len())
}

/// Letters of accesses, each once.
fn access(letters: &str) -> Result<BreakpointType, Place> {
    let mut access = BreakpointType::EMPTY;
    for (offset, letter) in letters.char_indices() {
        let bit = match letter {
            'r' => BreakpointType::R,
            'w' => BreakpointType::W,
            _ => BreakpointType::X,
        };
        if access.intersects(bit) {
            return Err((offset, ParseErrorKind::Repeated(letter.to_string())));
        }
        access |= bit;
    }
    Ok(access)
}

/// Terms, placed by their offsets in the whole list, in which `text` begins at `at`.
fn shifted_terms(text: &str, at: usize) -> Result<Vec<Term>, Place> {
    let fault = |error: crate::pmu::TextError| {
        (at.saturating_add(error.offset), ParseErrorKind::Expected(error.expected))
    };
    let mut terms = parse_terms(text).map_err(fault)?;
    for term in &mut terms {
        term.offset = term.offset.saturating_add(at);
        term.value_offset = term.value_offset.saturating_add(at);
    }
    Ok(terms)
}

/// An event that is of no PMU's folder, with the terms that perf knows for every event.
fn with_terms(mut event: Event, terms: &[Term]) -> Result<Event, Place> {
    for term in terms {
        if !apply(&mut event, term)? {
            let close = closest(&term.name, WORDS.iter().copied());
            return Err((
                term.offset,
                ParseErrorKind::Unknown { what: "term", name: term.name.clone(), close },
            ));
        }
    }
    Ok(event)
}

/// Modifiers that stand at `at`.
fn modifiers(text: &str, at: usize) -> Result<Modifiers, Place> {
    Modifiers::parse(text).map_err(|(offset, letter)| {
        let kind = if Modifiers::is_letter(letter) {
            ParseErrorKind::Repeated(letter.to_string())
        } else {
            ParseErrorKind::Unknown { what: "modifier", name: letter.to_string(), close: Vec::new() }
        };
        (at.saturating_add(offset), kind)
    })
}

/// Applies modifiers that stand at `at`.
fn modify(event: &mut Event, modifiers: Modifiers, guests_told: bool, at: usize) -> Result<(), Place> {
    let flags = modifiers.apply(event.attr.flags, guests_told);
    event.attr.flags = flags.ok_or((at, ParseErrorKind::Repeated("p".to_owned())))?;
    event.precise_max |= modifiers.contains('P');
    event.bpf_counter |= modifiers.contains('b');
    Ok(())
}

/// The group of one event.
fn alone(event: Event, modifiers: Modifiers) -> EventGroup {
    EventGroup {
        sample_leader_only: modifiers.contains('S'),
        weak: modifiers.contains('W'),
        ..EventGroup::from(event)
    }
}

/// The group of the events in braces. `D` and `e` of the group are the leader's, as the kernel wants them.
fn together(
    name: Option<&str>,
    events: Vec<(Event, Modifiers)>,
    modifiers: Modifiers,
    at: usize,
) -> Result<EventGroup, Place> {
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
        let guests_told = own.contains('G') || own.contains('H');
        modify(&mut event, if is_leader { modifiers } else { modifiers.of_sibling() }, guests_told, at)?;
        group.events.push(event);
    }
    Ok(group)
}

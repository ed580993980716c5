//! The head of an event: the text before its terms.

use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;

use super::{ErrorOffset, EventSpec, ParseErrorKind};
use crate::lookup::{LookupError, TextError};
use crate::pmu::{number, whole};

/// The head of an event, and the list that contains it.
#[derive(Clone, Copy)]
pub(super) struct EventHead<'a> {
    pub(super) list: &'a str,
    pub(super) text: &'a str,
}

impl<'a> EventHead<'a> {
    /// Returns the offset in the list of a part of the head.
    pub(super) fn at(self, part: &str) -> usize {
        place(self.list, part)
    }

    /// Returns the empty string at the end of the head.
    pub(super) fn end(self) -> &'a str {
        self.text.get(self.text.len()..).unwrap_or_default()
    }

    /// Parses a whole part as a number.
    fn number(self, part: &str) -> Result<u64, ErrorOffset> {
        let fault = |error: TextError| {
            (self.at(part).saturating_add(error.offset), ParseErrorKind::Expected(error.expected))
        };
        whole(part, "a number", number).map_err(fault)
    }

    /// Parses `TYPE:CONFIG[:MODIFIERS]`. Returns the event and its modifiers.
    pub(super) fn numeric(self, kind: &str, rest: &'a str) -> Result<(EventSpec, &'a str), ErrorOffset> {
        let (config, modifiers) = rest.split_once(':').unwrap_or((rest, self.end()));
        let value = self.number(kind)?;
        let kind = u32::try_from(value).map_err(|_| {
            let (name, max) = ("type".to_owned(), u32::MAX.into());
            (self.at(kind), ParseErrorKind::TooLarge { name, value, max })
        })?;
        Ok((EventSpec::numeric("", EventType(kind), self.number(config)?), modifiers))
    }

    /// Parses `mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]`. Returns the event and its modifiers.
    ///
    /// perf: `parse_events_add_breakpoint`, `tools/perf/util/parse-events.c`.
    pub(super) fn breakpoint(self) -> Result<(EventSpec, &'a str), ErrorOffset> {
        let text = self.text.strip_prefix("mem:").unwrap_or_default();
        let (place, rest) = text.split_once(':').unwrap_or((text, self.end()));
        let (address_text, len_text) = match place.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (place, None),
        };
        // If the letters are not all accesses, they are modifiers, and the accesses are the default, `rw`.
        let (first, after) = rest.split_once(':').unwrap_or((rest, self.end()));
        let is_access = !first.is_empty() && first.bytes().all(|byte| b"rwx".contains(&byte));
        let (access, modifiers) = match is_access {
            true => (
                access(first).map_err(|(offset, kind)| (self.at(first).saturating_add(offset), kind))?,
                after,
            ),
            false => (BreakpointType::RW, rest),
        };
        let address = self.number(address_text)?;
        let len = match len_text {
            Some(len) => self.number(len)?,
            None => EventSpec::breakpoint_len(access),
        };
        let event = EventSpec::breakpoint(address, len, access).map_err(|error| {
            let part = match error {
                LookupError::Value { what: "breakpoint length", .. } => len_text.unwrap_or(address_text),
                LookupError::Value { what: "breakpoint access", .. } => first,
                _ => address_text,
            };
            (self.at(part), ParseErrorKind::Lookup(error))
        })?;
        Ok((EventSpec { name: String::new(), ..event }, modifiers))
    }
}

/// Returns the offset in `list` of its substring `part`.
pub(super) fn place(list: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(list.as_ptr().addr()).min(list.len())
}

/// Parses the letters of accesses; each may occur once.
fn access(letters: &str) -> Result<BreakpointType, ErrorOffset> {
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

//! The part of the grammar of event strings that needs no names: lists, groups, and the parts of an event.
//!
//! ```text
//! list:  group { ',' group }
//! group: event  |  [ name ] '{' event { ',' event } '}' [ ':' modifiers ]
//! event: head [ '/' terms '/' [ ':' ] modifiers ]
//! head:  'mem:' address [ '/' length ] [ ':' access ] [ ':' modifiers ]  |  anything but , { } /
//! ```
//!
//! Events, names and braces may have spaces around them. Groups do not nest.
//!
//! perf: `tools/perf/util/parse-events.l` and `parse-events.y`.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till, take_while, take_while1};
use nom::character::complete::{char, digit1, space0};
use nom::combinator::{map, opt, recognize, verify};
use nom::multi::{many0_count, separated_list1};
use nom::sequence::{delimited, preceded, terminated};

use crate::lookup::TextError;
use crate::pmu::{LexFault, LexResult, expect, whole};

/// Events in braces, or one event without braces.
#[derive(Debug)]
pub(super) struct GroupSyntax<'a> {
    /// The name before the brace.
    pub(super) name: Option<&'a str>,
    pub(super) items: Vec<EventSyntax<'a>>,
    /// The text after the closing brace and its colon; empty if there is none.
    pub(super) modifiers: &'a str,
    pub(super) braces: bool,
}

/// One event.
#[derive(Debug)]
pub(super) struct EventSyntax<'a> {
    /// The whole event, without the spaces around it.
    pub(super) text: &'a str,
    /// The text before the terms. It includes the modifiers if there are no terms.
    pub(super) head: &'a str,
    /// The text between the slashes.
    pub(super) terms: Option<&'a str>,
    /// The text after the second slash; empty if there are no terms.
    pub(super) modifiers: &'a str,
}

/// Parses a list into groups.
pub(super) fn list(text: &str) -> Result<Vec<GroupSyntax<'_>>, TextError> {
    whole(text, "`,` or the end", separated_list1(char(','), group))
}

fn is_plain(c: char) -> bool {
    !",{}/".contains(c)
}

fn group(text: &str) -> LexResult<'_, GroupSyntax<'_>> {
    let opening = preceded(space0, (opt(map(take_while1(is_plain), str::trim)), char('{')));
    let (inside, Some((name, _))) = opt(opening).parse(text)? else {
        return map(item, |item| GroupSyntax { name: None, items: vec![item], modifiers: "", braces: false })
            .parse(text);
    };
    let closing = expect("`,` or `}`", char('}'));
    let (rest, items) = terminated(separated_list1(char(','), item), closing).parse(inside)?;
    let modifiers = alt((preceded(char(':'), take_while(is_plain)), take(0_usize)));
    let (rest, modifiers) = terminated(modifiers, space0).parse(rest)?;
    Ok((rest, GroupSyntax { name, items, modifiers: modifiers.trim_end(), braces: true }))
}

fn item(text: &str) -> LexResult<'_, EventSyntax<'_>> {
    let (start, _) = space0(text)?;
    let some = verify(take_while1(is_plain), |head: &str| !head.trim().is_empty());
    let (after, head) = expect("an event", alt((breakpoint, some)))(start)?;
    let closing = expect("a closing `/`", char('/'));
    let (rest, terms) = opt(delimited(char('/'), terms, closing)).parse(after)?;
    let (rest, modifiers) = match terms {
        Some(_) => preceded(opt(char(':')), take_while(is_plain)).parse(rest)?,
        None => (rest, ""),
    };
    // A path after `=` has ended the terms with its first slash.
    if terms.is_some_and(|terms| terms.trim_end().ends_with('=')) && rest.starts_with('/') {
        let expected = "`,` or the end; a value that contains `/` needs single quotes: path='/bin/ls'";
        return Err(nom::Err::Failure(LexFault { at: rest, expected }));
    }
    let len = start.len().saturating_sub(rest.len());
    let item = start.get(..len).unwrap_or(start).trim_end();
    Ok((rest, EventSyntax { text: item, head: head.trim_end(), terms, modifiers: modifiers.trim_end() }))
}

/// Parses a breakpoint up to its terms. It needs a rule of its own because its length follows a slash.
fn breakpoint(text: &str) -> LexResult<'_, &str> {
    let len = (char('/'), digit1, take_while(is_plain));
    recognize((tag("mem:"), take_while(is_plain), opt(len))).parse(text)
}

/// Parses the text between the slashes. Quoted text may contain slashes.
fn terms(text: &str) -> LexResult<'_, &str> {
    let quoted = recognize((char('\''), take_till(|c| c == '\''), char('\'')));
    recognize(many0_count(alt((take_while1(|c| c != '/' && c != '\''), quoted)))).parse(text)
}

//! The grammar of event strings, as far as it needs no names: lists, groups, and the parts of an event.
//!
//! ```text
//! list:  group { ',' group }
//! group: event  |  [ name ] '{' event { ',' event } '}' [ ':' modifiers ]
//! event: head [ '/' terms '/' [ ':' ] modifiers ]
//! head:  'mem:' address [ '/' length ] [ ':' access ] [ ':' modifiers ]  |  anything but , { } /
//! ```
//!
//! Spaces may stand around events, names and braces. Groups do not nest.
//!
//! perf: `tools/perf/util/parse-events.l` and `parse-events.y`.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till, take_while, take_while1};
use nom::character::complete::{char, digit1, space0};
use nom::combinator::{map, opt, recognize, verify};
use nom::multi::{many0_count, separated_list1};
use nom::sequence::{delimited, preceded, terminated};

use crate::pmu::{Parsed, TextError, expect, whole};

/// Events in braces, or one without.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// The name before the brace.
    pub(super) name: Option<&'a str>,
    pub(super) items: Vec<Item<'a>>,
    /// What is behind the closing brace's colon.
    pub(super) modifiers: &'a str,
    pub(super) braces: bool,
}

/// One event.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// All of it, without the spaces around it.
    pub(super) text: &'a str,
    /// What is before the terms, with modifiers if there are no terms.
    pub(super) head: &'a str,
    /// What is between the slashes.
    pub(super) terms: Option<&'a str>,
    /// What is behind the second slash.
    pub(super) modifiers: &'a str,
}

/// The groups of a list.
pub(super) fn list(text: &str) -> Result<Vec<Group<'_>>, TextError> {
    whole(text, "`,` or the end", separated_list1(char(','), group))
}

fn is_plain(c: char) -> bool {
    !",{}/".contains(c)
}

fn group(text: &str) -> Parsed<'_, Group<'_>> {
    let opening = preceded(space0, (opt(map(take_while1(is_plain), str::trim)), char('{')));
    let (inside, Some((name, _))) = opt(opening).parse(text)? else {
        return map(item, |item| Group { name: None, items: vec![item], modifiers: "", braces: false })
            .parse(text);
    };
    let closing = expect("`,` or `}`", char('}'));
    let (rest, items) = terminated(separated_list1(char(','), item), closing).parse(inside)?;
    let modifiers = alt((preceded(char(':'), take_while(is_plain)), take(0_usize)));
    let (rest, modifiers) = terminated(modifiers, space0).parse(rest)?;
    Ok((rest, Group { name, items, modifiers: modifiers.trim_end(), braces: true }))
}

fn item(text: &str) -> Parsed<'_, Item<'_>> {
    let (start, _) = space0(text)?;
    let some = verify(take_while1(is_plain), |head: &str| !head.trim().is_empty());
    let (behind, head) = expect("an event", alt((breakpoint, some)))(start)?;
    let closing = expect("a closing `/`", char('/'));
    let (rest, terms) = opt(delimited(char('/'), terms, closing)).parse(behind)?;
    let (rest, modifiers) = match terms {
        Some(_) => preceded(opt(char(':')), take_while(is_plain)).parse(rest)?,
        None => (rest, ""),
    };
    let len = start.len().saturating_sub(rest.len());
    let item = start.get(..len).unwrap_or(start).trim_end();
    Ok((rest, Item { text: item, head: head.trim_end(), terms, modifiers: modifiers.trim_end() }))
}

/// A breakpoint up to its terms: its length stands behind a slash, too.
fn breakpoint(text: &str) -> Parsed<'_, &str> {
    let len = (char('/'), digit1, take_while(is_plain));
    recognize((tag("mem:"), take_while(is_plain), opt(len))).parse(text)
}

/// What is between slashes: slashes may stand in quotes.
fn terms(text: &str) -> Parsed<'_, &str> {
    let quoted = recognize((char('\''), take_till(|c| c == '\''), char('\'')));
    recognize(many0_count(alt((take_while1(|c| c != '/' && c != '\''), quoted)))).parse(text)
}

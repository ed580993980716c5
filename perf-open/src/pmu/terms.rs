//! Terms: the parts of a PMU's event.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{take_till, take_while1};
use nom::character::complete::{char, space0};
use nom::combinator::{map, opt, verify};
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::lex::{LexResult, expect, number, whole};
use crate::lookup::TextError;

/// One term: `event=0x3c`, `inv`, `name='a b'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The name: a file of `format/`, a file of `events/`, or one of perf's terms.
    pub name: String,
    /// The value.
    pub value: TermValue,
    /// The offset of the name: bytes from the start of the text.
    pub offset: usize,
    /// The offset of the value; the end of the name if there is no value.
    pub value_offset: usize,
}

/// The value of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermValue {
    /// No value: a switch, or the name of an event.
    Flag,
    /// A number.
    Number(u64),
    /// `?`: the user of the event must supply the value.
    Required,
    /// Any other value, without the quotes around it.
    Text(String),
}

/// Parses the text of a file of `events/`, or the part of an event string between the slashes: `event=0x3c,umask=1`.
///
/// A text of spaces has no terms. Numbers are decimal, or hexadecimal with `0x`. A value in single quotes is text and
/// may contain any character except the quote.
///
/// perf: `tools/perf/util/parse-events.y`. Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices-events`.
///
/// # Errors
///
/// If a name or a value is missing, a quote is not closed, or a number exceeds 64 bits.
///
/// # Examples
///
/// ```
/// use perf_open::pmu::{TermValue, parse_terms};
///
/// let terms = parse_terms("event=0x3c,inv")?;
/// assert_eq!((terms[0].name.as_str(), &terms[0].value), ("event", &TermValue::Number(0x3c)));
/// assert_eq!((terms[1].offset, &terms[1].value), (11, &TermValue::Flag));
/// assert_eq!(parse_terms("event=,inv").unwrap_err().offset, 6);
/// # Ok::<(), perf_open::pmu::TextError>(())
/// ```
pub fn parse_terms(text: &str) -> Result<Vec<Term>, TextError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let text = text.trim_end();
    let at = |rest: &str| text.len().saturating_sub(rest.len());
    whole(text, "`,` or the end", separated_list1(char(','), |rest| term(rest, at)))
}

/// Parses one term and the spaces around it. `at` returns the offset at which a suffix of the text begins.
fn term<'a>(text: &'a str, at: impl Fn(&str) -> usize) -> LexResult<'a, Term> {
    let (name_on, _) = space0(text)?;
    let (after, name) = expect("the name of a term", name)(name_on)?;
    let (spaced, equals) = opt(delimited(space0, char('='), space0)).parse(after)?;
    let (rest, value) = match equals {
        Some(_) => value(spaced)?,
        None => (after, TermValue::Flag),
    };
    let (rest, _) = space0(rest)?;
    Ok((rest, Term { name: name.to_owned(), value, offset: at(name_on), value_offset: at(spaced) }))
}

/// Parses a name: letters, digits and some signs; the first is a letter or an underscore.
fn name(text: &str) -> LexResult<'_, &str> {
    let start = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    verify(take_while1(|c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c)), start).parse(text)
}

/// Parses a value: quoted text, a number, `?`, or bare text.
fn value(text: &str) -> LexResult<'_, TermValue> {
    let quoted = delimited(char('\''), take_till(|c| c == '\''), expect("a closing `'`", char('\'')));
    let bare = take_while1(|c: char| !c.is_control() && !",='".contains(c));
    let (rest, value) = expect("a value", alt((map(quoted, Ok), map(bare, Err))))(text)?;
    let value = match value.map_err(str::trim_end) {
        Ok(quoted) => TermValue::Text(quoted.to_owned()),
        Err("?") => TermValue::Required,
        Err(bare) if bare.starts_with(|c: char| c.is_ascii_digit()) => match number(text)? {
            (after, number) if text.len().saturating_sub(after.len()) == bare.len() => {
                TermValue::Number(number)
            }
            _ => TermValue::Text(bare.to_owned()),
        },
        Err(bare) => TermValue::Text(bare.to_owned()),
    };
    Ok((rest, value))
}

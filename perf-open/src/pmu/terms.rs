//! Terms: what an event of a PMU is made of.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{take_till, take_while1};
use nom::character::complete::{char, space0};
use nom::combinator::{map, opt, verify};
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::error::TextError;
use super::lex::{Parsed, expect, number, whole};

/// One term: `event=0x3c`, `inv`, `name='a b'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it says something of: a file of `format/`, a file of `events/`, or a word of perf's.
    pub name: String,
    /// What it says.
    pub value: Value,
    /// Where the name stands: bytes from the start of the text.
    pub offset: usize,
    /// Where the value stands; the end of the name where there is none.
    pub value_offset: usize,
}

/// The value of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// None is written: a switch, or the name of an event.
    Flag,
    /// A number.
    Number(u64),
    /// `?`: whoever uses the event has to give it.
    Required,
    /// Anything else, without the quotes around it.
    Text(String),
}

/// The text of a file of `events/`, or what is between the slashes of an event string: `event=0x3c,umask=1`.
///
/// Text of nothing but spaces has no terms. Numbers are decimal or with `0x` hexadecimal; a value in single quotes is
/// text and may hold any character but the quote.
///
/// perf: `tools/perf/util/parse-events.y`. Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices-events`.
///
/// # Errors
///
/// Where a name or a value is missing, a quote is not closed, or a number needs more than 64 bits.
///
/// # Examples
///
/// ```
/// use perf_open::pmu::{Value, parse_terms};
///
/// let terms = parse_terms("event=0x3c,inv")?;
/// assert_eq!((terms[0].name.as_str(), &terms[0].value), ("event", &Value::Number(0x3c)));
/// assert_eq!((terms[1].offset, &terms[1].value), (11, &Value::Flag));
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

/// One term and the spaces around it; `at` tells where in the text an end of it begins.
fn term<'a>(text: &'a str, at: impl Fn(&str) -> usize) -> Parsed<'a, Term> {
    let (name_on, _) = space0(text)?;
    let (behind, name) = expect("the name of a term", name)(name_on)?;
    let (spaced, equals) = opt(delimited(space0, char('='), space0)).parse(behind)?;
    let (rest, value) = match equals {
        Some(_) => value(spaced)?,
        None => (behind, Value::Flag),
    };
    let (rest, _) = space0(rest)?;
    Ok((rest, Term { name: name.to_owned(), value, offset: at(name_on), value_offset: at(spaced) }))
}

/// Letters, digits and some signs; the first is a letter or underscore.
fn name(text: &str) -> Parsed<'_, &str> {
    let start = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    verify(take_while1(|c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c)), start).parse(text)
}

/// A value: quoted text, a number, `?`, or bare text.
fn value(text: &str) -> Parsed<'_, Value> {
    let quoted = delimited(char('\''), take_till(|c| c == '\''), expect("a closing `'`", char('\'')));
    let bare = take_while1(|c: char| !c.is_control() && !",='".contains(c));
    let (rest, value) = expect("a value", alt((map(quoted, Ok), map(bare, Err))))(text)?;
    let value = match value.map_err(str::trim_end) {
        Ok(quoted) => Value::Text(quoted.to_owned()),
        Err("?") => Value::Required,
        Err(bare) if bare.starts_with(|c: char| c.is_ascii_digit()) => match number(text)? {
            (behind, number) if text.len().saturating_sub(behind.len()) == bare.len() => {
                Value::Number(number)
            }
            _ => Value::Text(bare.to_owned()),
        },
        Err(bare) => Value::Text(bare.to_owned()),
    };
    Ok((rest, value))
}

//! Parsers that the grammars of sysfs texts and event strings share.

use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{digit1, hex_digit1};
use nom::combinator::map;
use nom::error::{ErrorKind, ParseError};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::lookup::TextError;

/// An error of a grammar, before its offset is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LexFault<'a> {
    /// The rest of the text, from the error on.
    pub(crate) at: &'a str,
    pub(crate) expected: &'static str,
}

impl LexFault<'_> {
    /// Converts the rest of the text, a suffix of `text`, to an offset.
    pub(crate) fn of(error: &nom::Err<LexFault<'_>>, text: &str) -> TextError {
        match error {
            nom::Err::Error(fault) | nom::Err::Failure(fault) => {
                TextError { offset: text.len().saturating_sub(fault.at.len()), expected: fault.expected }
            }
            nom::Err::Incomplete(_) => TextError { offset: text.len(), expected: "more text" },
        }
    }
}

/// The error of an alternative that does not apply; `expect` replaces it.
impl<'a> ParseError<&'a str> for LexFault<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, expected: "something else" }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

pub(crate) type LexResult<'a, T> = IResult<&'a str, T, LexFault<'a>>;

/// Runs `parser`. If it does not apply, fails with what was expected and tries no other alternative.
pub(crate) fn expect<'a, T>(
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = LexFault<'a>>,
) -> impl FnMut(&'a str) -> LexResult<'a, T> {
    move |at| match parser.parse(at) {
        Err(nom::Err::Error(_)) => Err(nom::Err::Failure(LexFault { at, expected })),
        other => other,
    }
}

/// Parses a number of 64 bits, decimal or hexadecimal with `0x`.
pub(crate) fn number(text: &str) -> LexResult<'_, u64> {
    let digits = alt((
        map(preceded(tag("0x"), hex_digit1), |digits| (digits, 16)),
        map(digit1, |digits| (digits, 10)),
    ));
    let (rest, (digits, radix)) = expect("a number", digits)(text)?;
    match u64::from_str_radix(digits, radix) {
        Ok(number) => Ok((rest, number)),
        Err(_) => Err(nom::Err::Failure(LexFault { at: text, expected: "a number below 2^64" })),
    }
}

/// Parses all of `text`. `expected` is what may follow if `parser` leaves a rest.
pub(crate) fn whole<'a, T>(
    text: &'a str,
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = LexFault<'a>>,
) -> Result<T, TextError> {
    match parser.parse(text) {
        Ok(("", value)) => Ok(value),
        Ok((rest, _)) => Err(TextError { offset: text.len().saturating_sub(rest.len()), expected }),
        Err(error) => Err(LexFault::of(&error, text)),
    }
}

//! Parsers that the grammars of sysfs texts and event strings share.

use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{digit1, hex_digit1};
use nom::combinator::map;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::error::{Fault, TextError};

pub(crate) type Parsed<'a, T> = IResult<&'a str, T, Fault<'a>>;

/// Runs `parser`. If it does not apply, fails with what was expected and tries no other alternative.
pub(crate) fn expect<'a, T>(
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = Fault<'a>>,
) -> impl FnMut(&'a str) -> Parsed<'a, T> {
    move |at| match parser.parse(at) {
        Err(nom::Err::Error(_)) => Err(nom::Err::Failure(Fault { at, expected })),
        other => other,
    }
}

/// Parses a number of 64 bits, decimal or hexadecimal with `0x`.
pub(crate) fn number(text: &str) -> Parsed<'_, u64> {
    let digits = alt((
        map(preceded(tag("0x"), hex_digit1), |digits| (digits, 16)),
        map(digit1, |digits| (digits, 10)),
    ));
    let (rest, (digits, radix)) = expect("a number", digits)(text)?;
    match u64::from_str_radix(digits, radix) {
        Ok(number) => Ok((rest, number)),
        Err(_) => Err(nom::Err::Failure(Fault { at: text, expected: "a number below 2^64" })),
    }
}

/// Parses all of `text`. `expected` is what may follow if `parser` leaves a rest.
pub(crate) fn whole<'a, T>(
    text: &'a str,
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = Fault<'a>>,
) -> Result<T, TextError> {
    match parser.parse(text) {
        Ok(("", value)) => Ok(value),
        Ok((rest, _)) => Err(TextError { offset: text.len().saturating_sub(rest.len()), expected }),
        Err(error) => Err(Fault::of(&error, text)),
    }
}

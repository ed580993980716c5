//! The tokens of a print format: names, numbers, operators, characters and strings.

use alloc::vec::Vec;

use nom::Parser as _;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::multispace0;
use nom::combinator::{recognize, value};
use nom::sequence::preceded;

use super::super::grammar::{Parsed, SyntaxFault};
use super::ast::{Ast, TextRange};
use super::num::{BinaryOperator, CInteger};

/// Returns the fault of a text that does not continue as it must.
pub(super) fn fault<'a>(at: &'a [u8], must: &'static str) -> nom::Err<SyntaxFault<'a>> {
    nom::Err::Failure(SyntaxFault { at, field: "print fmt", must })
}

/// Takes these characters after white space.
pub(super) fn symbol<'a>(
    text: &'static str,
) -> impl nom::Parser<&'a [u8], Output = &'a [u8], Error = SyntaxFault<'a>> {
    preceded(multispace0, tag(text))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Takes a name after white space.
pub(super) fn identifier(input: &[u8]) -> Parsed<'_, &[u8]> {
    let first = take_while1(|byte: u8| byte.is_ascii_alphabetic() || byte == b'_');
    preceded(multispace0, recognize((first, take_while(is_word)))).parse(input)
}

/// Takes an integer of C, with its suffix. A larger one than 64 bits keeps the low ones.
pub(super) fn number(input: &[u8]) -> Parsed<'_, CInteger> {
    let (rest, word) = take_while1(is_word).parse(input)?;
    let digits = word.iter().rposition(|byte| !b"uUlL".contains(byte)).and_then(|last| word.get(..=last));
    let digits = digits.unwrap_or_default();
    let suffix = word.get(digits.len()..).unwrap_or_default();
    let (digits, radix) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    let add = |all: u64, digit: &u8| {
        let digit = char::from(*digit).to_digit(radix)?;
        Some(all.wrapping_mul(radix.into()).wrapping_add(digit.into()))
    };
    let number = digits.iter().try_fold(0, add).filter(|_| !digits.is_empty());
    let number = number.ok_or_else(|| fault(input, "a number"))?;
    Ok((rest, CInteger::constant(number, radix == 10, suffix)))
}

/// Takes a character in single quotes.
pub(super) fn character(input: &[u8]) -> Parsed<'_, u8> {
    let inner = input.get(1..).unwrap_or_default();
    let mut escapes = Escapes { left: inner, quote: b'\'' };
    let code = escapes.next().ok_or_else(|| fault(input, "a character"))?;
    match escapes.left.split_first() {
        Some((b'\'', rest)) => Ok((rest, code)),
        _ => Err(fault(input, "one character in quotes")),
    }
}

/// Takes an operator between two operands, with its precedence.
pub(super) fn operator(input: &[u8]) -> Parsed<'_, (BinaryOperator, u8)> {
    let one = |operator, precedence, text| value((operator, precedence), tag::<_, _, SyntaxFault<'_>>(text));
    let (input, _) = multispace0(input)?;
    // Assignments do not occur, but must not be read as the operators that they begin with.
    if let Ok((_, symbols)) =
        take_while1::<_, _, SyntaxFault<'_>>(|byte| b"<>=!&|^+-*/%".contains(&byte)).parse(input)
    {
        let is_comparison = [&b"=="[..], b"!=", b"<=", b">="].iter().any(|text| symbols.starts_with(text));
        if !is_comparison && symbols.get(1..).is_some_and(|rest| rest.starts_with(b"=")) {
            return Err(nom::Err::Error(SyntaxFault { at: input, field: "print fmt", must: "an operator" }));
        }
    }
    alt((
        alt((one(BinaryOperator::Or, 1, "||"), one(BinaryOperator::And, 2, "&&"))),
        alt((one(BinaryOperator::Equal, 6, "=="), one(BinaryOperator::NotEqual, 6, "!="))),
        alt((one(BinaryOperator::ShiftLeft, 8, "<<"), one(BinaryOperator::ShiftRight, 8, ">>"))),
        alt((one(BinaryOperator::LessEqual, 7, "<="), one(BinaryOperator::GreaterEqual, 7, ">="))),
        alt((one(BinaryOperator::Less, 7, "<"), one(BinaryOperator::Greater, 7, ">"))),
        alt((
            one(BinaryOperator::BitOr, 3, "|"),
            one(BinaryOperator::BitXor, 4, "^"),
            one(BinaryOperator::BitAnd, 5, "&"),
        )),
        alt((one(BinaryOperator::Add, 9, "+"), one(BinaryOperator::Subtract, 9, "-"))),
        alt((
            one(BinaryOperator::Multiply, 10, "*"),
            one(BinaryOperator::Divide, 10, "/"),
            one(BinaryOperator::Remainder, 10, "%"),
        )),
    ))
    .parse(input)
}

/// Takes one or more strings, which C joins to one.
pub(super) fn strings<'a>(ast: &mut Ast<'a>, input: &'a [u8]) -> Parsed<'a, TextRange> {
    let mut left = input;
    let mut decoded = Vec::new();
    while let Some(inner) = left.trim_ascii_start().strip_prefix(b"\"") {
        let mut escapes = Escapes { left: inner, quote: b'"' };
        decoded.extend(escapes.by_ref());
        left = escapes.left.strip_prefix(b"\"").ok_or_else(|| fault(left, "a closed string"))?;
    }
    Ok((left, ast.push_text(&decoded)))
}

/// The bytes of a string up to its quote, with escapes decoded.
#[derive(Clone, Copy, Debug)]
struct Escapes<'a> {
    left: &'a [u8],
    quote: u8,
}

impl Iterator for Escapes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.left.split_first().filter(|(byte, _)| **byte != self.quote)?;
        self.left = rest;
        if byte != b'\\' {
            return Some(byte);
        }
        let (&escaped, rest) = rest.split_first()?;
        self.left = rest;
        Some(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'0' => 0,
            other => other,
        })
    }
}

/// Skips brackets with all that they contain; returns what follows, and the skipped text.
pub(super) fn skip_brackets(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut open = 0_u32;
    let mut left = input;
    while let Some((byte, rest)) = left.split_first() {
        left = rest;
        match byte {
            b'(' | b'{' | b'[' => open = open.saturating_add(1),
            b')' | b'}' | b']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    let len = input.len().saturating_sub(left.len());
                    return Some((left, input.get(..len)?));
                }
            }
            b'"' | b'\'' => {
                let mut escapes = Escapes { left, quote: *byte };
                escapes.by_ref().for_each(drop);
                left = escapes.left.get(1..)?;
            }
            _ => {}
        }
    }
    None
}

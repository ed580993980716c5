//! The grammar of a tracepoint's `format`, line by line.
//!
//! ```text
//! name: NAME
//! ID: NUMBER
//! format:
//!     field:TYPE NAME;  offset:NUMBER;  size:NUMBER;  signed:NUMBER;
//!
//! print fmt: the rest of the text, which may have several lines
//! ```
//!
//! Kernel: `f_show`, `kernel/trace/trace_events.c`.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_until, take_while1};
use nom::character::complete::{char, line_ending, space0, u32};
use nom::combinator::{eof, map, opt, rest, value};
use nom::error::{ErrorKind, ParseError};
use nom::multi::fold_many0;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

/// A fault: the text is not what the grammar requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyntaxFault<'a> {
    /// The text from the fault on.
    pub(super) at: &'a [u8],
    pub(super) field: &'static str,
    pub(super) must: &'static str,
}

/// Faults of alternatives that do not apply. They are never reported.
impl<'a> ParseError<&'a [u8]> for SyntaxFault<'a> {
    fn from_error_kind(at: &'a [u8], _: ErrorKind) -> Self {
        Self { at, field: "line", must: "a line of a format" }
    }

    fn append(_: &'a [u8], _: ErrorKind, other: Self) -> Self {
        other
    }
}

pub(super) type Parsed<'a, T> = IResult<&'a [u8], T, SyntaxFault<'a>>;

/// One line, or the several lines of the print format at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatLine<'a> {
    Name(&'a [u8]),
    Id(u32),
    Field(FieldLine<'a>),
    /// The line between the common fields and the others.
    Blank,
    PrintFmt(&'a [u8]),
    /// Any other line: `format:`, and lines that a newer kernel may add.
    Other,
}

/// A field as its line describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldLine<'a> {
    pub(super) declaration: Declaration<'a>,
    pub(super) offset: u32,
    pub(super) size: u32,
    /// `None` for kernels before 2.6.32, which do not write it.
    pub(super) signed: Option<bool>,
}

/// A C declaration, in the forms that the kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declaration<'a> {
    /// The text before the name.
    pub(super) c_type: &'a [u8],
    pub(super) name: &'a [u8],
    /// The brackets after the name, or else those in the type; the first ones if there are several.
    pub(super) brackets: Option<Brackets<'a>>,
    /// Whether the declaration has a `*`.
    pub(super) is_pointer: bool,
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brackets<'a> {
    /// The text in the first brackets.
    pub(super) first: &'a [u8],
    /// The product of all lengths, if they are numbers.
    pub(super) len: Option<u32>,
}

/// Reports a fault if `parser` does not apply. No alternative is tried after it.
fn expect<'a, T>(
    field: &'static str,
    must: &'static str,
    mut parser: impl Parser<&'a [u8], Output = T, Error = SyntaxFault<'a>>,
) -> impl FnMut(&'a [u8]) -> Parsed<'a, T> {
    move |input| {
        parser.parse(input).map_err(|error| match error {
            nom::Err::Error(fault) => nom::Err::Failure(SyntaxFault { field, must, ..fault }),
            other => other,
        })
    }
}

fn end_of_line(input: &[u8]) -> Parsed<'_, ()> {
    value((), alt((line_ending, eof))).parse(input)
}

fn rest_of_line(input: &[u8]) -> Parsed<'_, &[u8]> {
    terminated(take_till(|byte| byte == b'\n'), end_of_line).parse(input)
}

/// Takes the next line of a text that is not empty.
pub(super) fn line(input: &[u8]) -> Parsed<'_, FormatLine<'_>> {
    let name = map(preceded(tag("name:"), rest_of_line), |name| FormatLine::Name(name.trim_ascii()));
    let id = preceded(
        (tag("ID:"), space0),
        expect("ID", "a number of 32 bits", terminated(u32, (space0, end_of_line))),
    );
    let field = terminated(map(field_line, FormatLine::Field), rest_of_line);
    let print_fmt =
        map(preceded(tag("print fmt:"), rest), |text: &[u8]| FormatLine::PrintFmt(text.trim_ascii()));
    let blank = value(FormatLine::Blank, (space0, line_ending));
    alt((field, blank, name, map(id, FormatLine::Id), print_fmt, value(FormatLine::Other, rest_of_line)))
        .parse(input)
}

/// Parses the field that a line describes; `None` if it describes none.
pub(super) fn field(line: &[u8]) -> Option<FieldLine<'_>> {
    field_line(line).ok().map(|(_, field)| field)
}

fn field_line(input: &[u8]) -> Parsed<'_, FieldLine<'_>> {
    let (input, _) = (space0, tag("field:")).parse(input)?;
    let text = terminated(take_till(|byte| byte == b';' || byte == b'\n'), char(';'));
    let (attributes, text) = expect("field", "a declaration and a semicolon", text).parse(input)?;
    let fault = |field, must| nom::Err::Failure(SyntaxFault { at: input, field, must });
    let declaration = declaration(text).ok_or(fault("field", "a type and a name"))?;
    let (rest, (offset, size, signed)) =
        fold_many0(attribute, Default::default, |(offset, size, signed), attribute| match attribute {
            Attribute::Offset(number) => (Some(number), size, signed),
            Attribute::Size(number) => (offset, Some(number), signed),
            Attribute::Signed(number) => (offset, size, Some(number != 0)),
            Attribute::Other => (offset, size, signed),
        })
        .parse(attributes)?;
    let offset = offset.ok_or(fault("offset", "a value for this field"))?;
    let size = size.ok_or(fault("size", "a value for this field"))?;
    Ok((rest, FieldLine { declaration, offset, size, signed }))
}

/// The properties after a declaration.
#[derive(Clone, Copy, Debug)]
enum Attribute {
    Offset(u32),
    Size(u32),
    Signed(u32),
    Other,
}

fn attribute(input: &[u8]) -> Parsed<'_, Attribute> {
    fn number<'a>(field: &'static str) -> impl FnMut(&'a [u8]) -> Parsed<'a, u32> {
        expect(field, "a number of 32 bits and a semicolon", delimited(space0, u32, (space0, char(';'))))
    }
    let is_value = |byte| byte != b';' && byte != b'\n';
    preceded(
        space0,
        alt((
            map(preceded(tag("offset:"), number("offset")), Attribute::Offset),
            map(preceded(tag("size:"), number("size")), Attribute::Size),
            map(preceded(tag("signed:"), number("signed")), Attribute::Signed),
            value(Attribute::Other, (take_while1(is_value), char(';'))),
        )),
    )
    .parse(input)
}

/// A token of a declaration.
#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    Word(&'a [u8]),
    Star,
    Brackets(&'a [u8]),
}

fn token(input: &[u8]) -> Parsed<'_, Token<'_>> {
    let is_word = |byte: u8| !byte.is_ascii_whitespace() && !b"*[]".contains(&byte);
    preceded(
        space0,
        alt((
            map(take_while1(is_word), Token::Word),
            value(Token::Star, char('*')),
            map(delimited(char('['), take_until("]"), char(']')), Token::Brackets),
        )),
    )
    .parse(input)
}

/// Parses a declaration. The name is its last word, as in `char name[16]`, `const char *const *name` or
/// `__data_loc char[] name`.
fn declaration(input: &[u8]) -> Option<Declaration<'_>> {
    let mut left = input;
    let mut is_pointer = false;
    let mut name = None;
    let (mut of_type, mut of_name) = (None, None);
    while let Ok((after, token)) = token(left) {
        match token {
            Token::Word(word) => {
                let end = input.len().saturating_sub(after.len());
                name = Some((end.saturating_sub(word.len()), word));
                of_type = of_name.take().or(of_type);
            }
            Token::Star => is_pointer = true,
            Token::Brackets(text) => of_name = Some(nest(of_name, text)),
        }
        left = after;
    }
    let (start, name) = name.filter(|_| left.trim_ascii().is_empty())?;
    let c_type = input.get(..start)?.trim_ascii();
    let brackets = of_name.or(of_type);
    (!c_type.is_empty()).then_some(Declaration { c_type, name, brackets, is_pointer })
}

/// Combines brackets after other brackets: an array of arrays.
fn nest<'a>(outer: Option<Brackets<'a>>, text: &'a [u8]) -> Brackets<'a> {
    let number = delimited(space0, u32, (space0, eof::<_, SyntaxFault<'a>>))
        .parse(text)
        .ok()
        .map(|(_, number)| number);
    match outer {
        None => Brackets { first: text.trim_ascii(), len: number },
        Some(outer) => {
            let len = outer.len.zip(number).and_then(|(outer, number)| outer.checked_mul(number));
            Brackets { len, ..outer }
        }
    }
}

/// Splits a type into words.
pub(super) fn words(c_type: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = c_type;
    core::iter::from_fn(move || {
        loop {
            let (after, token) = opt(token).parse(left).ok()?;
            left = after;
            if let Token::Word(word) = token? {
                return Some(word);
            }
        }
    })
}

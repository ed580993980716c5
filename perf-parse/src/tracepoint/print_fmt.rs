//! The text of a tracepoint's events: its print format, evaluated.

mod ast;
mod call;
mod error;
mod eval;
mod fields;
mod grammar;
mod num;
mod pointer;
mod printf;
mod text;
mod token;

use alloc::borrow::Cow;
use alloc::vec::Vec;

use nom::Parser as _;
use perf_abi::endian::Endianness;

pub use error::PrintError;

use self::ast::{Ast, NodeId, TextRange};
use self::eval::Eval;
use self::grammar::ExprParser;
use self::printf::{Conversion, DirectiveNumber, Flags, PrintfPart};
use self::token::{fault, strings, symbol};
use super::error::TracingError;
use super::format::{self, Format};

/// What a text needs to know of the recording kernel. `()` knows nothing.
///
/// The addresses come from the raw data of samples, so they are as hostile as the capture.
pub trait Addresses {
    /// Returns the function at a kernel address, and the offset of the address in it. Without it, `%pS`, `%ps`, `%pF`,
    /// `%pf` and `%pB` print the address.
    fn function(&self, address: u64) -> Option<(Cow<'_, [u8]>, u64)> {
        let _ = address;
        None
    }

    /// Returns the string at a kernel address, for `%s` of a pointer. The kernel lists strings in `printk_formats`, which
    /// [`PrintkFormats`](super::PrintkFormats) reads. Without it, `%s` prints the address.
    fn string(&self, address: u64) -> Option<&[u8]> {
        let _ = address;
        None
    }
}

impl Addresses for () {}

/// The print format of a tracepoint: text with `printf` directives, and their arguments as C expressions.
///
/// Made once for a [`Format`], and then used for the raw data of each sample. The text is the one that `perf script`
/// prints. As in perf:
///
/// - A name that the format does not define is 0. As a value of `__print_flags`, the first such name stands for 0.
///   [`undefined_names`](Self::undefined_names) lists them.
/// - `%p` prints the address, not the kernel's hash of it.
///
/// Unlike perf 6.1, and like the kernel, this computes with the types of C: perf extends negative fields of fewer than 8
/// bytes by zeros, compares without a sign, and misreads the parentheses in `REC->flags & (1 | 2)`. It also evaluates `sizeof`,
/// `__builtin_expect`, `__get_sockaddr`, `__get_cpumask`, `__print_ns_to_secs`, characters, variables declared in statements,
/// `%*pbl`, and casts of strings, and it pads the whole output of `__print_flags`.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::tracepoint::{Format, PrintFmt};
///
/// let text = b"name: sched_exit\nID: 7\nformat:\n\
///     \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
///     \tfield:char comm[4];\toffset:2;\tsize:4;\tsigned:0;\n\
///     \tfield:short state;\toffset:6;\tsize:2;\tsigned:1;\n\n\
///     print fmt: \"comm=%s state=%s\", REC->comm, \
///     REC->state ? __print_flags(REC->state, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }) : \"R\"\n";
/// let format = Format::parse(b"sched", text, 8)?;
/// let print_fmt = PrintFmt::new(&format)?;
///
/// let mut out = Vec::new();
/// print_fmt.write(b"\x07\0sh\0\0\x03\0", Endianness::Little, &(), &mut out)?;
/// assert_eq!(out, b"comm=sh state=S|D");
///
/// // What cannot be printed as text can be printed as fields.
/// out.clear();
/// let error = print_fmt.write(b"\x07\0sh\0\0", Endianness::Little, &(), &mut out).unwrap_err();
/// assert_eq!(error.to_string(), "state: needs 2 bytes at 6, the raw data has 6");
/// format.write_fields(b"\x07\0sh\0\0", Endianness::Little, &mut out);
/// assert_eq!(out, b" comm=sh state=[missing]");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintFmt<'a> {
    pieces: Vec<TemplatePiece>,
    ast: Ast<'a>,
    long_size: u8,
}

/// A part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TemplatePiece {
    Literal(TextRange),
    Directive(Directive),
}

/// A directive with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Directive {
    flags: Flags,
    width: Option<(DirectiveNumber, NodeId)>,
    precision: Option<(DirectiveNumber, NodeId)>,
    kind: DirectiveValue,
    argument: NodeId,
}

/// What a directive prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DirectiveValue {
    Integer(Conversion<'static>),
    Char,
    Text,
    /// The letters after `%p`.
    Pointer(TextRange),
}

impl<'a> PrintFmt<'a> {
    /// Maximum depth of nested expressions. The kernel's formats have up to 14 levels.
    pub const MAX_DEPTH: u8 = 64;

    /// Maximum cost of an event's text in [`write`](Self::write): one for each byte and for each step of the evaluation.
    /// This is 4 times the largest raw data.
    pub const MAX_COST: u32 = 1 << 18;

    /// Parses the print format of a tracepoint. The time and the memory are proportional to its length.
    ///
    /// # Errors
    ///
    /// The format has no print format, or it is not a string with arguments, or a directive has no argument, or
    /// expressions are nested deeper than [`MAX_DEPTH`](Self::MAX_DEPTH). The offset is in
    /// [`Format::print_fmt`].
    pub fn new(format: &Format<'a>) -> Result<Self, TracingError> {
        let missing = TracingError::invalid("print fmt", None, "a line with it", 0);
        let text = format.print_fmt.ok_or(missing)?;
        parse(format, text).map_err(|error| format::fault(text, &error))
    }

    /// Appends the text of an event to `out`. `raw` is the raw data of its sample, in the byte order `order`.
    ///
    /// The same as [`write_within`](Self::write_within) with [`MAX_COST`](Self::MAX_COST).
    ///
    /// # Errors
    ///
    /// As `write_within`.
    pub fn write(
        &self,
        raw: &[u8],
        order: Endianness,
        addresses: &dyn Addresses,
        out: &mut Vec<u8>,
    ) -> Result<(), PrintError<'a>> {
        self.write_within(raw, order, addresses, Self::MAX_COST, out)
    }

    /// Appends the text of an event to `out`, at a cost of at most `max_cost`: one for each byte of the text and for each
    /// step of the evaluation. The time and the text are in proportion to `max_cost`.
    ///
    /// The bytes of strings are those of the raw data, which need not be UTF-8.
    ///
    /// # Errors
    ///
    /// A field is missing from `raw`, the format needs what only the kernel has, or the cost is too high. `out` is then
    /// unchanged, and [`Format::write_fields`] prints the fields.
    pub fn write_within(
        &self,
        raw: &[u8],
        order: Endianness,
        addresses: &dyn Addresses,
        max_cost: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), PrintError<'a>> {
        let start = out.len();
        let mut eval = Eval {
            ast: &self.ast,
            raw,
            long_size: self.long_size,
            addresses,
            out,
            max: max_cost,
            left: max_cost,
            order,
        };
        let written = self.pieces.iter().try_for_each(|piece| eval.piece(piece));
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// Returns the names that the format uses and does not define, such as constants of the kernel. A text of a format
    /// with such names may differ from the kernel's.
    #[must_use]
    pub fn undefined_names(&self) -> &[&'a [u8]] {
        &self.ast.names
    }
}

type ParseError<'a> = nom::Err<super::grammar::SyntaxFault<'a>>;

fn parse<'a>(format: &Format<'a>, text: &'a [u8]) -> Result<PrintFmt<'a>, ParseError<'a>> {
    let long_size = format.long_size();
    let mut parser = ExprParser::new(format);
    if text.trim_ascii_start().first() != Some(&b'"') {
        return Err(fault(text, "a string"));
    }
    let (mut rest, template) = strings(&mut parser.ast, text)?;
    let mut arguments = Vec::new();
    loop {
        let end = rest.trim_ascii();
        match symbol(",").parse(rest) {
            // A comma may be the last character.
            Ok((after, _)) if after.trim_ascii().is_empty() => break,
            Ok((after, _)) => {
                let (after, argument) = parser.expression(after)?;
                arguments.push(argument);
                rest = after;
            }
            Err::<_, ParseError<'_>>(_) if end.is_empty() => break,
            Err(_) => return Err(fault(rest, "a comma or the end")),
        }
    }
    let template = parser.ast.text(template).to_vec();
    let mut ast = parser.ast;
    let mut pieces = Vec::new();
    let mut arguments = arguments.into_iter();
    let mut left = &template[..];
    while let Some((part, after)) = printf::part(left, long_size) {
        left = after;
        let directive = match part {
            PrintfPart::Literal(text) => {
                pieces.push(TemplatePiece::Literal(ast.push_text(text)));
                continue;
            }
            // As in perf.
            PrintfPart::Unknown(letter) => {
                pieces.push(TemplatePiece::Literal(ast.push_text(&[b'>', letter, b'<'])));
                continue;
            }
            PrintfPart::Directive(directive) => directive,
        };
        let mut next = || arguments.next().ok_or_else(|| fault(b"", "an argument for each directive"));
        let mut count = |count| match count {
            Some(DirectiveNumber::Argument) => Ok(Some((DirectiveNumber::Argument, next()?))),
            Some(DirectiveNumber::Number(number)) => {
                Ok(Some((DirectiveNumber::Number(number), NodeId::default())))
            }
            None => Ok(None),
        };
        let width = count(directive.width)?;
        let precision = count(directive.precision)?;
        let kind = match directive.conversion {
            Conversion::Signed { bytes } => DirectiveValue::Integer(Conversion::Signed { bytes }),
            Conversion::Unsigned { bytes, radix, upper } => {
                DirectiveValue::Integer(Conversion::Unsigned { bytes, radix, upper })
            }
            Conversion::Char => DirectiveValue::Char,
            Conversion::Text => DirectiveValue::Text,
            Conversion::Pointer(letters) => DirectiveValue::Pointer(ast.push_text(letters)),
        };
        pieces.push(TemplatePiece::Directive(Directive {
            flags: directive.flags,
            width,
            precision,
            kind,
            argument: next()?,
        }));
    }
    Ok(PrintFmt { pieces, ast, long_size })
}

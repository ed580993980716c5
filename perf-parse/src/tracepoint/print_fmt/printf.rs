//! The directives of C's `printf`, with the pointer formats of the kernel.

use alloc::vec::Vec;

/// A number in a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DirectiveNumber {
    Number(u32),
    /// `*`: the value is an argument.
    Argument,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) zero: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
}

/// What a directive prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Conversion<'a> {
    /// An integer of this many bytes.
    Signed {
        bytes: u8,
    },
    /// An integer of this many bytes.
    Unsigned {
        bytes: u8,
        radix: u8,
        upper: bool,
    },
    Char,
    Text,
    /// `%p`, with the letters after it.
    Pointer(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PrintfDirective<'a> {
    pub(super) flags: Flags,
    pub(super) width: Option<DirectiveNumber>,
    pub(super) precision: Option<DirectiveNumber>,
    pub(super) conversion: Conversion<'a>,
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PrintfPart<'a> {
    Literal(&'a [u8]),
    Directive(PrintfDirective<'a>),
    /// A directive that C does not have; the character that makes it one.
    Unknown(u8),
}

/// Takes the next part of a format; `None` at its end.
pub(super) fn part(format: &[u8], long_size: u8) -> Option<(PrintfPart<'_>, &[u8])> {
    match format.split_first()? {
        (b'%', rest) => Some(directive(rest, long_size)),
        _ => {
            let end = format.iter().position(|&byte| byte == b'%').unwrap_or(format.len());
            let (literal, rest) = format.split_at_checked(end)?;
            Some((PrintfPart::Literal(literal), rest))
        }
    }
}

fn directive(text: &[u8], long_size: u8) -> (PrintfPart<'_>, &[u8]) {
    let mut flags = Flags::default();
    let mut left = text;
    while let Some((flag, rest)) = left.split_first() {
        match flag {
            b'-' => flags.left = true,
            b'0' => flags.zero = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            _ => break,
        }
        left = rest;
    }
    let (width, rest) = count(left);
    let (precision, rest) = match rest.strip_prefix(b".") {
        Some(rest) => {
            let (precision, rest) = count(rest);
            (Some(precision.unwrap_or(DirectiveNumber::Number(0))), rest)
        }
        None => (None, rest),
    };
    let (bytes, rest) = match rest {
        [b'h', b'h', rest @ ..] => (1, rest),
        [b'h', rest @ ..] => (2, rest),
        [b'l', b'l', rest @ ..] | [b'L' | b'q' | b'j', rest @ ..] => (8, rest),
        [b'l' | b'z' | b'Z' | b't', rest @ ..] => (long_size, rest),
        rest => (4, rest),
    };
    let Some((&letter, rest)) = rest.split_first() else { return (PrintfPart::Literal(b"%"), &[]) };
    let conversion = match letter {
        b'd' | b'i' => Conversion::Signed { bytes },
        b'u' => Conversion::Unsigned { bytes, radix: 10, upper: false },
        b'x' => Conversion::Unsigned { bytes, radix: 16, upper: false },
        b'X' => Conversion::Unsigned { bytes, radix: 16, upper: true },
        b'o' => Conversion::Unsigned { bytes, radix: 8, upper: false },
        b'c' => Conversion::Char,
        b's' => Conversion::Text,
        b'p' => {
            let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let (letters, rest) = rest.split_at_checked(end).unwrap_or_default();
            let conversion = Conversion::Pointer(letters);
            return (PrintfPart::Directive(PrintfDirective { flags, width, precision, conversion }), rest);
        }
        b'%' => return (PrintfPart::Literal(b"%"), rest),
        unknown => return (PrintfPart::Unknown(unknown), rest),
    };
    (PrintfPart::Directive(PrintfDirective { flags, width, precision, conversion }), rest)
}

/// Takes a number or a star, if there is one.
fn count(text: &[u8]) -> (Option<DirectiveNumber>, &[u8]) {
    if let Some(rest) = text.strip_prefix(b"*") {
        return (Some(DirectiveNumber::Argument), rest);
    }
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).unwrap_or_default();
    let add =
        |all: u32, digit: &u8| all.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')));
    let number = (!digits.is_empty()).then(|| DirectiveNumber::Number(digits.iter().fold(0, add)));
    (number, rest)
}

/// Width and precision of a directive, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldWidth {
    pub(super) width: u32,
    pub(super) precision: Option<u32>,
}

/// An integer to print: its sign, and its digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct DigitString {
    pub(super) sign: &'static [u8],
    pub(super) magnitude: u64,
    pub(super) radix: u8,
    pub(super) upper: bool,
}

impl Conversion<'_> {
    /// Returns the integer that this conversion prints for a value; `None` if it prints no integer.
    pub(super) fn integer(self, value: u64, flags: Flags) -> Option<DigitString> {
        let unused = |bytes: u8| 64_u32.saturating_sub(u32::from(bytes).saturating_mul(8));
        Some(match self {
            Self::Signed { bytes } => {
                let value = (value.wrapping_shl(unused(bytes)) as i64).wrapping_shr(unused(bytes));
                let sign: &[u8] = match value {
                    ..0 => b"-",
                    _ if flags.plus => b"+",
                    _ if flags.space => b" ",
                    _ => b"",
                };
                DigitString { sign, magnitude: value.unsigned_abs(), radix: 10, upper: false }
            }
            Self::Unsigned { bytes, radix, upper } => {
                let magnitude = value.wrapping_shl(unused(bytes)).wrapping_shr(unused(bytes));
                let sign: &[u8] = match (radix, upper) {
                    (16, false) if flags.alternate && magnitude > 0 => b"0x",
                    (16, true) if flags.alternate && magnitude > 0 => b"0X",
                    (8, _) if flags.alternate && magnitude > 0 => b"0",
                    _ => b"",
                };
                DigitString { sign, magnitude, radix, upper }
            }
            _ => return None,
        })
    }
}

/// Prints an integer without padding other than zeros. The caller has limited the width and the precision.
pub(super) fn integer(out: &mut Vec<u8>, integer: DigitString, flags: Flags, size: FieldWidth) {
    let mut digits = [0; 22];
    let mut left = integer.magnitude;
    let mut count = 0_usize;
    for digit in digits.iter_mut().rev() {
        let (rest, value) = match integer.radix {
            16 => (left >> 4, left & 15),
            8 => (left >> 3, left & 7),
            _ => (left / 10, left % 10),
        };
        *digit = match u8::try_from(value).unwrap_or_default() {
            value @ 0..10 => value.saturating_add(b'0'),
            value if integer.upper => value.saturating_add(b'A').saturating_sub(10),
            value => value.saturating_add(b'a').saturating_sub(10),
        };
        count = count.saturating_add(1);
        left = rest;
        if left == 0 {
            break;
        }
    }
    let digits = digits.get(digits.len().saturating_sub(count)..).unwrap_or_default();
    let digits = if integer.magnitude == 0 && size.precision == Some(0) { &[] } else { digits };
    let least = match size.precision {
        Some(precision) => precision as usize,
        None if flags.zero && !flags.left => (size.width as usize).saturating_sub(integer.sign.len()),
        None => 0,
    };
    out.extend_from_slice(integer.sign);
    out.extend(core::iter::repeat_n(b'0', least.saturating_sub(digits.len())));
    out.extend_from_slice(digits);
}

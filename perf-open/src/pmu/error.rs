//! Errors in the text of a sysfs file.

use core::fmt;

use nom::error::{ErrorKind, ParseError};

/// Text that could not be parsed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// What is required at the offset.
    pub expected: &'static str,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}", self.offset, self.expected)
    }
}

impl core::error::Error for TextError {}

/// An error of a grammar, before its offset is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    /// The rest of the text, from the error on.
    pub(crate) at: &'a str,
    pub(crate) expected: &'static str,
}

impl Fault<'_> {
    /// Converts the rest of the text, a suffix of `text`, to an offset.
    pub(crate) fn of(error: &nom::Err<Fault<'_>>, text: &str) -> TextError {
        match error {
            nom::Err::Error(fault) | nom::Err::Failure(fault) => {
                TextError { offset: text.len().saturating_sub(fault.at.len()), expected: fault.expected }
            }
            nom::Err::Incomplete(_) => TextError { offset: text.len(), expected: "more text" },
        }
    }
}

/// The error of an alternative that does not apply; `expect` replaces it.
impl<'a> ParseError<&'a str> for Fault<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, expected: "something else" }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

//! What is wrong with the text of a sysfs file.

use core::fmt;

use nom::error::{ErrorKind, ParseError};

/// Text that is not what it should be, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// What has to stand there.
    pub expected: &'static str,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}", self.offset, self.expected)
    }
}

impl core::error::Error for TextError {}

/// What a grammar finds where something else must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    /// The text from there on.
    pub(crate) at: &'a str,
    pub(crate) expected: &'static str,
}

impl Fault<'_> {
    /// The same, told by its place in `text`, of which `at` is an end.
    pub(crate) fn of(error: &nom::Err<Fault<'_>>, text: &str) -> TextError {
        match error {
            nom::Err::Error(fault) | nom::Err::Failure(fault) => {
                TextError { offset: text.len().saturating_sub(fault.at.len()), expected: fault.expected }
            }
            nom::Err::Incomplete(_) => TextError { offset: text.len(), expected: "more text" },
        }
    }
}

/// An alternative that does not apply: what `expect` then replaces.
impl<'a> ParseError<&'a str> for Fault<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, expected: "something else" }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

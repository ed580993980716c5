//! Errors of parsing event strings.

use core::fmt;

use crate::lookup::{EscapedName, LookupError, TextError, write_close};

/// An error of parsing an event string, with its offset.
///
/// Displays as one line. `{:#}` adds the string, and a caret under the offset.
///
/// # Examples
///
/// ```
/// use perf_open::event::parse;
///
/// let error = parse("cycles:u,page-fauts").unwrap_err();
/// assert_eq!(error.offset(), 9);
/// assert_eq!(error.to_string(), "at byte 9: no event `page-fauts`; closest: page-faults");
/// assert_eq!(
///     format!("{error:#}").lines().skip(1).collect::<Vec<_>>(),
///     ["cycles:u,page-fauts", "         ^"]
/// );
/// ```
#[derive(Debug)]
pub struct ParseError(Box<ParseErrorDetails>);

/// The contents of a [`ParseError`], in a box so that a `Result` stays small.
#[derive(Debug)]
struct ParseErrorDetails {
    input: String,
    offset: usize,
    kind: ParseErrorKind,
}

/// The reason of a [`ParseError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else is required at the offset.
    Expected(&'static str),
    /// There is nothing with this name.
    Unknown {
        /// The kind of name: `event`, `PMU`, `term`, `tracepoint`, `modifier`.
        what: &'static str,
        /// The name.
        name: String,
        /// The closest names, best first; empty if none is close.
        close: Vec<String>,
    },
    /// perf supports it, but this crate does not.
    Unsupported {
        /// The term or event.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// A number does not fit its bits.
    TooLarge {
        /// The term or value.
        name: String,
        /// The number.
        value: u64,
        /// The largest value that fits.
        max: u64,
    },
    /// A modifier or a term occurs twice, or there are more than three `p`.
    Repeated(String),
    /// An event of sysfs requires a value for a term.
    Missing(String),
    /// The event could not be looked up.
    Lookup(LookupError),
}

/// The offset and the kind of an error, before the string is attached.
pub(crate) type ErrorOffset = (usize, ParseErrorKind);

impl ParseError {
    pub(crate) fn new(input: &str, offset: usize, kind: ParseErrorKind) -> Self {
        Self(Box::new(ParseErrorDetails { input: input.to_owned(), offset, kind }))
    }

    /// Returns an error in the part of `input` that begins at `start`.
    pub(crate) fn of_text(input: &str, start: usize, error: TextError) -> Self {
        Self::new(input, start.saturating_add(error.offset), ParseErrorKind::Expected(error.expected))
    }

    /// Returns where the error is: bytes from the start of the string.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn kind(&self) -> &ParseErrorKind {
        &self.0.kind
    }

    /// Returns the string that was parsed.
    #[must_use]
    pub fn input(&self) -> &str {
        &self.0.input
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Unknown { what, name, close } => {
                write!(f, "no {what} `{}`", EscapedName(name))?;
                write_close(f, close)
            }
            Self::Unsupported { name, reason } => {
                write!(f, "`{}` is not supported: {reason}", EscapedName(name))
            }
            Self::TooLarge { name, value, max } => {
                write!(f, "{}: {value:#x} is larger than {max:#x}", EscapedName(name))
            }
            Self::Repeated(name) => write!(f, "`{}` occurs too often", EscapedName(name)),
            Self::Missing(name) => write!(f, "the event needs a value for `{}=`", EscapedName(name)),
            Self::Lookup(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseErrorDetails { input, offset, kind } = &*self.0;
        write!(f, "at byte {offset}: {kind}")?;
        if f.alternate() {
            // A width of the format string would panic if it were above 65,535.
            let before = " ".repeat(input.get(..*offset).unwrap_or(input).chars().count());
            let shown: String = input.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            write!(f, "\n{shown}\n{before}^")?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.0.kind {
            ParseErrorKind::Lookup(error) => Some(error),
            _ => None,
        }
    }
}

//! Errors of looking up and parsing events.

use core::fmt;
use std::io;
use std::path::PathBuf;

use crate::pmu::TextError;

/// Why an event could not be looked up on this system.
#[derive(Debug)]
#[non_exhaustive]
pub enum LookupError {
    /// A file of sysfs or tracefs cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The error from reading it.
        error: io::Error,
        /// What to do about it; empty if there is nothing to add.
        advice: &'static str,
    },
    /// A file of sysfs or tracefs does not have the documented contents.
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong, and at which offset of the file.
        error: TextError,
    },
    /// There is nothing with this name.
    Unknown {
        /// What was looked up: `tracepoint`, `PMU`.
        what: &'static str,
        /// The name.
        name: String,
        /// The closest names, best first; empty if none is close.
        close: Vec<String>,
    },
    /// A value that the kernel would refuse, or that does not fit its field.
    Value {
        /// The value's name.
        what: &'static str,
        /// The refused value.
        value: u64,
        /// What the value must be.
        needed: &'static str,
    },
    /// A string contains a NUL byte, so the kernel would read only a part of it.
    Nul {
        /// The string's name.
        what: &'static str,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error, advice: "" } => {
                write!(f, "{}: {error}", OneLine(&path.to_string_lossy()))
            }
            Self::Read { path, error, advice } => {
                write!(f, "{}: {error}: {advice}", OneLine(&path.to_string_lossy()))
            }
            Self::Text { path, error } => write!(f, "{}: {error}", OneLine(&path.to_string_lossy())),
            Self::Unknown { what, name, close } => {
                write!(f, "no {what} `{}`", OneLine(name))?;
                write_close(f, close)
            }
            Self::Value { what, value, needed } => write!(f, "{what} {value:#x}: {needed}"),
            Self::Nul { what } => write!(f, "{what} contains a NUL byte"),
        }
    }
}

impl core::error::Error for LookupError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } => Some(error),
            Self::Text { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Writes `; closest: a, b`; nothing if `close` is empty.
fn write_close(f: &mut fmt::Formatter<'_>, close: &[String]) -> fmt::Result {
    if close.is_empty() { Ok(()) } else { write!(f, "; closest: {}", close.join(", ")) }
}

/// A name from the user, displayed with its line breaks and other control characters escaped.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| {
            if c.is_control() { write!(f, "{}", c.escape_default()) } else { fmt::Write::write_char(f, c) }
        })
    }
}

/// Why an event string could not be parsed, and at which offset.
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
pub struct ParseError(Box<Details>);

/// The contents of a [`ParseError`], in a box so that a `Result` stays small.
#[derive(Debug)]
struct Details {
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
        /// What was looked up: `event`, `PMU`, `term`, `tracepoint`, `modifier`.
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
        /// Why.
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
pub(crate) type Place = (usize, ParseErrorKind);

impl ParseError {
    pub(crate) fn new(input: &str, offset: usize, kind: ParseErrorKind) -> Self {
        Self(Box::new(Details { input: input.to_owned(), offset, kind }))
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
                write!(f, "no {what} `{}`", OneLine(name))?;
                write_close(f, close)
            }
            Self::Unsupported { name, reason } => write!(f, "`{}` is not supported: {reason}", OneLine(name)),
            Self::TooLarge { name, value, max } => {
                write!(f, "{}: {value:#x} is larger than {max:#x}", OneLine(name))
            }
            Self::Repeated(name) => write!(f, "`{}` occurs too often", OneLine(name)),
            Self::Missing(name) => write!(f, "the event needs a value for `{}=`", OneLine(name)),
            Self::Lookup(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { input, offset, kind } = &*self.0;
        write!(f, "at byte {offset}: {kind}")?;
        if f.alternate() {
            let before = input.get(..*offset).unwrap_or(input).chars().count();
            let shown: String = input.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            write!(f, "\n{shown}\n{:before$}^", "")?;
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

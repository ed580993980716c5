//! Errors of looking up names, and of the texts of sysfs and tracefs.

use core::fmt;
use std::io;
use std::path::PathBuf;

/// Text that could not be parsed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Bytes from the start of the text.
    pub offset: usize,
    /// The text required at the offset.
    pub expected: &'static str,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}", self.offset, self.expected)
    }
}

impl core::error::Error for TextError {}

/// An error of looking up an event on this system.
#[derive(Debug)]
#[non_exhaustive]
pub enum LookupError {
    /// A file of sysfs or tracefs cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The error from reading it.
        error: io::Error,
        /// Advice; empty if there is none.
        advice: &'static str,
    },
    /// A file of sysfs or tracefs does not have the documented contents.
    Text {
        /// The file.
        path: PathBuf,
        /// The error, with its offset in the file.
        error: TextError,
    },
    /// There is nothing with this name.
    Unknown {
        /// The kind of name: `tracepoint`, `PMU`.
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
        /// The required value.
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
                write!(f, "{}: {error}", EscapedName(&path.to_string_lossy()))
            }
            Self::Read { path, error, advice } => {
                write!(f, "{}: {error}: {advice}", EscapedName(&path.to_string_lossy()))
            }
            Self::Text { path, error } => write!(f, "{}: {error}", EscapedName(&path.to_string_lossy())),
            Self::Unknown { what, name, close } => {
                write!(f, "no {what} `{}`", EscapedName(name))?;
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
pub(crate) fn write_close(f: &mut fmt::Formatter<'_>, close: &[String]) -> fmt::Result {
    if close.is_empty() { Ok(()) } else { write!(f, "; closest: {}", close.join(", ")) }
}

/// A name from the user, displayed with its line breaks and other control characters escaped.
pub(crate) struct EscapedName<'a>(pub(crate) &'a str);

impl fmt::Display for EscapedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| {
            if c.is_control() { write!(f, "{}", c.escape_default()) } else { fmt::Write::write_char(f, c) }
        })
    }
}

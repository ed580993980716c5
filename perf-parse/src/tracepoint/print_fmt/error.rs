//! The reasons why an event's text cannot be printed.

use core::fmt;

use super::super::error::FieldError;

/// The reason why a [`PrintFmt`](super::PrintFmt) cannot print an event. Its fields can still be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrintError<'a> {
    /// A field is missing from the raw data, entirely or in part.
    Field(FieldError<'a>),
    /// The format uses what only the kernel can evaluate: the name of a function, or `({` for statements.
    Unknown {
        /// The name, as in the format.
        name: &'a [u8],
    },
    /// An argument is not what its directive or function needs, such as a number where a string must be.
    Argument {
        /// What the directive or function needs.
        must: &'static str,
    },
    /// A number is divided by 0.
    DivisionByZero,
    /// The text needs more steps and bytes than the caller allows.
    Cost {
        /// The allowed number.
        max: u32,
    },
}

impl fmt::Display for PrintError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(error) => error.fmt(f),
            Self::Unknown { name } => {
                write!(f, "print fmt: {} can be evaluated only by the kernel", name.escape_ascii())
            }
            Self::Argument { must } => write!(f, "print fmt: an argument must be {must}"),
            Self::DivisionByZero => f.write_str("print fmt: a number is divided by 0"),
            Self::Cost { max } => write!(f, "print fmt: the text needs more than {max} steps and bytes"),
        }
    }
}

impl core::error::Error for PrintError<'_> {}

impl<'a> From<FieldError<'a>> for PrintError<'a> {
    fn from(error: FieldError<'a>) -> Self {
        Self::Field(error)
    }
}

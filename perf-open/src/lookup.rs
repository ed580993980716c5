//! Lookup in sysfs and tracefs: reading their files, the errors, and the names closest to an unknown one.

mod close;
mod error;
pub(crate) mod sysfs;

pub(crate) use close::closest;
pub(crate) use error::{EscapedName, write_close};
pub use error::{LookupError, TextError};

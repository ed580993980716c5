//! Lookup in sysfs and tracefs: reading their files, the errors, and the names closest to an unknown one.

mod close;
mod error;
pub(crate) mod sysfs;

pub(crate) use close::closest;
pub use error::{LookupError, TextError};
pub(crate) use error::{OneLine, write_close};

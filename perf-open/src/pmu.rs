//! The PMUs of the machine, as sysfs tells of them: who counts, which events have names, how terms make a `config`.

mod error;

pub use error::TextError;

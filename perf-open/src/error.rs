//! What went wrong: the call, the errno, the fields at fault, and what to do about it.

use core::fmt;
use std::io;

mod errno;
mod opening;
pub(crate) mod requests;

pub(crate) use opening::Attempt;

/// Why something could not be done: the call, its errno with its name, and in words what to do.
///
/// One pointer wide. [`source`](core::error::Error::source) is the [`io::Error`] of the call; there is none where the
/// request was refused before the kernel was asked, which [`errno`](Self::errno) `None` tells as well.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    call: &'static str,
    source: Option<io::Error>,
    fields: Vec<&'static str>,
    advice: String,
}

impl Error {
    /// A call failed. `advice` says what to do; empty where the errno says all.
    pub(crate) fn failed(call: &'static str, source: io::Error, advice: impl Into<String>) -> Self {
        Self(Box::new(Inner { call, source: Some(source), fields: Vec::new(), advice: advice.into() }))
    }

    /// A request that was not made, since it could only fail. `why` says so in words that begin with the field.
    pub(crate) fn refused(call: &'static str, field: &'static str, why: impl Into<String>) -> Self {
        Self(Box::new(Inner { call, source: None, fields: vec![field], advice: why.into() }))
    }

    /// This error, with the fields of the attr that are at fault.
    pub(crate) fn with_fields(mut self, fields: Vec<&'static str>) -> Self {
        self.0.fields = fields;
        self
    }

    /// The call that failed, or that was not made: `perf_event_open`, `PERF_EVENT_IOC_ENABLE`, `mmap`, `read`.
    #[must_use]
    pub fn call(&self) -> &'static str {
        self.0.call
    }

    /// The number of the kernel's error; `None` where the kernel was not asked.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(io::Error::raw_os_error)
    }

    /// The name of the kernel's error, as in `EACCES`; `None` where there is none, or it is no error of these calls.
    #[must_use]
    pub fn errno_name(&self) -> Option<&'static str> {
        self.errno().and_then(errno::name)
    }

    /// The fields of the attr that are at fault, by the kernel's names; empty where it is none or is not known.
    #[must_use]
    pub fn fields(&self) -> &[&'static str] {
        &self.0.fields
    }

    /// What it means and what to do about it: a sentence or a few. Empty where there is nothing to add.
    #[must_use]
    pub fn advice(&self) -> &str {
        &self.0.advice
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.call())?;
        let Some(source) = &self.0.source else {
            return f.write_str(self.advice());
        };
        match (self.errno_name(), self.errno()) {
            (Some(name), Some(number)) => write!(f, "{name} ({number})")?,
            _ => write!(f, "{source}")?,
        }
        if !self.advice().is_empty() {
            write!(f, ": {}", self.advice())?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| -> &(dyn core::error::Error + 'static) { source })
    }
}

//! The error of this crate: the call, the errno, the fields at fault, and what to do.

use core::fmt;
use std::io;

mod errno;

/// A failed request: the call, its errno with its name, and advice on what to do.
///
/// As large as one pointer. [`source`](core::error::Error::source) is the [`io::Error`] of the call. If the request was
/// refused before any system call, there is no source, and [`errno`](Self::errno) is `None`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error(Box<ErrorDetails>);

#[derive(Debug)]
struct ErrorDetails {
    call: &'static str,
    source: Option<io::Error>,
    fields: Vec<&'static str>,
    advice: String,
}

impl Error {
    /// An error of a failed call. `advice` is what to do; it is empty if the errno needs no explanation.
    pub(crate) fn failed(call: &'static str, source: io::Error, advice: impl Into<String>) -> Self {
        Self(Box::new(ErrorDetails { call, source: Some(source), fields: Vec::new(), advice: advice.into() }))
    }

    /// An error of a request that was not made because it can only fail. `why` starts with the name of the field.
    pub(crate) fn refused(call: &'static str, field: &'static str, why: impl Into<String>) -> Self {
        Self(Box::new(ErrorDetails { call, source: None, fields: vec![field], advice: why.into() }))
    }

    /// Returns this error with the fields of the attr that are at fault.
    pub(crate) fn with_fields(mut self, fields: Vec<&'static str>) -> Self {
        self.0.fields = fields;
        self
    }

    /// Returns the call that failed or was not made: `perf_event_open`, `PERF_EVENT_IOC_ENABLE`, `mmap`, `read`.
    #[must_use]
    pub fn call(&self) -> &'static str {
        self.0.call
    }

    /// Returns the kernel's error number; `None` if the request was refused before any system call.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(io::Error::raw_os_error)
    }

    /// Returns the name of the errno, such as `EACCES`; `None` if there is no errno, or if it is not an errno of these
    /// calls.
    #[must_use]
    pub fn errno_name(&self) -> Option<&'static str> {
        self.errno().and_then(errno::name)
    }

    /// Returns the kernel's names of the attr's fields at fault; empty if no field is at fault or none is known.
    #[must_use]
    pub fn fields(&self) -> &[&'static str] {
        &self.0.fields
    }

    /// Returns what the error means and what to do, in a few sentences; empty if there is nothing to add to the errno.
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

//! Errors of a recording.

use std::io;

use perf_parse::file::write::WriteFileError;
use perf_parse::ring::RingError;

/// An error of a recording.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An event cannot be opened.
    Open {
        /// The event's name.
        event: String,
        /// The kernel's reason, and what to do about it.
        error: perf_open::Error,
    },
    /// A call on an open event or ring failed.
    Event(perf_open::Error),
    /// A ring cannot be read.
    Ring(RingError),
    /// The capture cannot be written.
    Write(WriteFileError),
    /// A file of the system cannot be read.
    Io {
        /// The path.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// The request contradicts itself, or this machine cannot fulfil it.
    Request(String),
    /// A [`CallbackSink`](crate::CallbackSink) returned this.
    Callback(Box<dyn core::error::Error + Send + Sync>),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Open { event, error } => write!(f, "{event}: {error}"),
            Self::Event(error) => error.fmt(f),
            Self::Ring(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Io { path, error } => write!(f, "{path}: {error}"),
            Self::Request(what) => f.write_str(what),
            Self::Callback(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Open { error, .. } | Self::Event(error) => Some(error),
            Self::Ring(error) => Some(error),
            Self::Write(error) => Some(error),
            Self::Io { error, .. } => Some(error),
            Self::Request(_) => None,
            Self::Callback(error) => Some(&**error),
        }
    }
}

impl Error {
    /// Returns the error of reading `path`.
    pub(crate) fn io(path: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Io { path, error }
    }

    /// Returns whether the reader of a pipe has closed its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_record::Error;
    /// use perf_record::parse::file::write::WriteFileError;
    ///
    /// let error = WriteFileError::Io(std::io::ErrorKind::BrokenPipe.into());
    /// assert!(Error::Write(error).is_closed_pipe());
    /// assert!(!Error::Request(String::new()).is_closed_pipe());
    /// ```
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(WriteFileError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<perf_open::Error> for Error {
    fn from(error: perf_open::Error) -> Self {
        Self::Event(error)
    }
}

impl From<RingError> for Error {
    fn from(error: RingError) -> Self {
        Self::Ring(error)
    }
}

impl From<WriteFileError> for Error {
    fn from(error: WriteFileError) -> Self {
        Self::Write(error)
    }
}

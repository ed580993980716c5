//! Errors of the crates as exceptions.

use std::io;
use std::path::Path;

use perf_parse::FileError;
use perf_parse::error::FileErrorKind;
use perf_profile::ProfileError;
use perf_profile::edit::EditError;
use pyo3::exceptions::{PyException, PyOSError, PyUserWarning};
use pyo3::prelude::*;

pyo3::create_exception!(
    perfdata,
    Error,
    PyException,
    "A capture cannot be read, or does not have what is asked for. The text says what to do.\n\n\
     ``offset`` is the number of bytes before the record or field that is wrong; None if it is no place in a capture."
);
pyo3::create_exception!(
    perfdata,
    CaptureWarning,
    PyUserWarning,
    "Records of a capture could not be decoded, and were left out."
);

/// What went wrong while the GIL was released.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An exception of Python: of a callback, or of a signal.
    Python(PyErr),
    /// A capture is damaged, or does not have what is asked for.
    Capture { text: String, offset: Option<u64> },
    /// A file cannot be read or written.
    Io { error: io::Error, path: Option<String> },
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Capture { text: text.into(), offset: None }
    }

    /// Returns the failure of a file.
    pub(crate) fn io(error: io::Error, path: &Path) -> Self {
        Self::Io { error, path: Some(path.display().to_string()) }
    }

    /// Returns the failure of a capture with its path before the text.
    pub(crate) fn of_capture(error: FileError, path: &Path) -> Self {
        match Self::from(error) {
            Self::Capture { text, offset } => {
                Self::Capture { text: format!("{}: {text}{}", path.display(), advice(&error)), offset }
            }
            Self::Io { error, .. } => Self::io(error, path),
            failure @ Self::Python(_) => failure,
        }
    }
}

/// Returns what to do about a file that cannot be opened as a capture.
fn advice(error: &FileError) -> &'static str {
    match error.kind {
        FileErrorKind::NotPerfData => "; give a file that perf record wrote",
        FileErrorKind::Truncated { .. } | FileErrorKind::Invalid { .. } | FileErrorKind::Attr(_) => {
            "; copy the file again from the machine that recorded it"
        }
        _ => "",
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error.kind {
            FileErrorKind::Io(kind) => {
                Self::Io { error: io::Error::new(kind, error.to_string()), path: None }
            }
            _ => Self::Capture { text: error.to_string(), offset: Some(error.offset) },
        }
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::Record(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Selection(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io { error, path: None }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Capture { text, offset } => {
                let error = Error::new_err(text);
                match Python::attach(|py| error.value(py).setattr("offset", offset)) {
                    Ok(()) => error,
                    Err(other) => other,
                }
            }
            // OSError chooses its subclass by the number, such as FileNotFoundError.
            Failure::Io { error, path } => match (error.raw_os_error(), path) {
                (Some(number), path) => {
                    let full = error.to_string();
                    let text = full.split(" (os error").next().unwrap_or_default().to_owned();
                    PyOSError::new_err((number, text, path))
                }
                (None, None) => error.into(),
                (None, Some(path)) => io::Error::new(error.kind(), format!("{path}: {error}")).into(),
            },
        }
    }
}

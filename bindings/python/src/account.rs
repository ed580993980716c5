//! The account of a walk: what was read of a capture, and what could not be.

use std::ffi::CString;
use std::path::Path;

use perf_parse::file::Account;
use perf_parse::rewrite::EditSummary;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::CaptureWarning;

/// Returns an account as a dictionary.
pub(crate) fn dict<'py>(py: Python<'py>, account: &Account) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("records", account.records)?;
    dict.set_item("bytes", account.bytes)?;
    dict.set_item("bytes_skipped", account.bytes_skipped)?;
    dict.set_item("faults", account.faults())?;
    dict.set_item("lost_records", account.lost)?;
    dict.set_item("lost_samples", account.lost_samples)?;
    dict.set_item("unfinished", account.unfinished)?;
    dict.set_item("clean", account.is_clean())?;
    let diagnostics: Vec<_> = account.diagnostics.iter().map(ToString::to_string).collect();
    dict.set_item("diagnostics", diagnostics)?;
    Ok(dict)
}

/// Warns of a capture that could not be decoded whole. A program that wants an exception turns the warning into one.
///
/// # Errors
///
/// The exception that the warning was turned into.
pub(crate) fn warn(py: Python<'_>, account: &Account, path: &Path) -> PyResult<()> {
    if account.is_clean() {
        return Ok(());
    }
    let (faults, skipped) = (account.faults(), account.bytes_skipped);
    let mut text = format!("{}: faults: {faults}, bytes skipped: {skipped}", path.display());
    if let Some(first) = account.diagnostics.first() {
        text.push_str(&format!("; the first: {first}"));
    }
    text.push_str("; what could not be decoded is left out (perfdata.edit writes a copy without it)");
    issue(py, &text)
}

/// Warns of an edit that could not write the whole capture.
///
/// # Errors
///
/// The exception that the warning was turned into.
pub(crate) fn warn_of_edit<W>(py: Python<'_>, edited: &EditSummary<W>, path: &Path) -> PyResult<()> {
    warn(py, &edited.account, path)?;
    match edited.dropped {
        0 => Ok(()),
        dropped => issue(py, &format!("{}: records that could not be written: {dropped}", path.display())),
    }
}

/// Warns of AUX data of which not all samples could be made. `missing` is what, in words; empty for nothing.
///
/// # Errors
///
/// The exception that the warning was turned into.
pub(crate) fn warn_of_trace(py: Python<'_>, missing: &str, path: &Path) -> PyResult<()> {
    if missing.is_empty() {
        return Ok(());
    }
    issue(py, &format!("{}: AUX data: {missing}", path.display()))
}

fn issue(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<CaptureWarning>(), &text, 1)
}

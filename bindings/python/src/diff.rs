//! Two captures against each other.

use perf_profile::SampleDetail;
use perf_profile::diff::{Diff, DiffSide, Normalize};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::capture::Capture;
use crate::error::Error;
use crate::export::weight_of;
use crate::profile::profile;
use crate::text::text;

/// Returns the functions of two captures, with what they take in both, in the order of perf-profile: the largest change first.
///
/// # Errors
///
/// If a word has no meaning, if a capture has no samples of the event, and those of profiles.
pub(crate) fn rows<'py>(
    py: Python<'py>,
    captures: [&Capture; 2],
    event: Option<&str>,
    normalize: &str,
    weight: &str,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let weight = weight_of(weight)?;
    let normalize = match normalize {
        "share" => Normalize::Share,
        "time" => Normalize::Time,
        "nothing" => Normalize::Nothing,
        _ => {
            let what = format!("normalize {normalize:?}: must be share, time or nothing");
            return Err(PyValueError::new_err(what));
        }
    };
    let [before, after] = captures;
    let of = |capture: &Capture| profile(capture, py, SampleDetail::default(), false, false);
    let (before_profile, after_profile) = (of(before)?, of(after)?);
    let without = |capture: &Capture| {
        Error::new_err(format!(
            "{}: has no samples of the event; select an event of both",
            capture.path.display()
        ))
    };
    let first = match event {
        Some(name) => DiffSide::named(&before_profile, name.as_bytes()),
        None => DiffSide::first(&before_profile),
    };
    let first = first.ok_or_else(|| without(before))?;
    let second = DiffSide::named(&after_profile, &first.name()).ok_or_else(|| without(after))?;
    let diff = py.detach(|| Diff::of([first, second], weight, normalize));
    let row = |row: &perf_profile::diff::FunctionDiff| {
        let dict = PyDict::new(py);
        dict.set_item("symbol", Some(&row.key.name).filter(|it| !it.is_empty()).map(|it| text(it)))?;
        dict.set_item("dso", text(&row.key.dso))?;
        dict.set_item("kernel", row.key.is_kernel)?;
        let [before, after] = row.own;
        dict.set_item("before", before)?;
        dict.set_item("after", after)?;
        dict.set_item("delta", row.delta())?;
        let [before, after] = row.whole;
        dict.set_item("before_with_callees", before)?;
        dict.set_item("after_with_callees", after)?;
        Ok(dict)
    };
    diff.rows.iter().map(row).collect()
}

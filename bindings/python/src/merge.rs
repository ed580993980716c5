//! Several captures as one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use perf_parse::rewrite::{CaptureMergeError, MergeOptions, RepairStep, merge as merge_captures};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::account;
use crate::edit::{CancellableWriter, dict, publish, watch_step};
use crate::error::Failure;
use crate::open::OpenCapture;
use crate::output::{FileContent, Output};
use crate::watch::Watch;

/// Write several captures as one, in order of time. They must be of one boot of one machine.
///
/// ``clock_offsets`` has nanoseconds to add to all times of a capture, by its index in ``inputs``. Return what was written, and
/// what was not, as ``Capture.edit`` does.
#[pyfunction]
#[pyo3(signature = (inputs, output, *, clock_offsets=BTreeMap::new(), progress=None))]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    clock_offsets: BTreeMap<usize, i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    if let Some(index) = clock_offsets.keys().find(|&&index| index >= inputs.len()) {
        let what = format!("clock_offsets: there is no input {index}; indexes begin with 0");
        return Err(pyo3::exceptions::PyValueError::new_err(what));
    }
    let summary = py.detach(|| {
        let opened = inputs.iter().map(|path| OpenCapture::open(path)).collect::<Result<Vec<_>, _>>()?;
        let readers: Vec<_> = opened.iter().map(|it| &it.reader).collect();
        let options = MergeOptions { clock_offsets };
        let file = Output::create(&output, FileContent::Capture)?;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let out = CancellableWriter::new(file.writer()?, &is_cancelled);
        let mut watch = Watch::new(progress.as_ref(), opened.iter().map(|it| it.size).sum());
        let report = |_, step: RepairStep<'_>| watch_step(&mut watch, &step, &is_cancelled);
        let merged = merge_captures(&readers, &options, out, report).map_err(|error| match error {
            CaptureMergeError::Differ { capture, field, must } => {
                let path = inputs.get(capture).map(|it| it.display().to_string()).unwrap_or_default();
                let field = if field == "clock offset" { "clock_offsets" } else { field };
                Failure::new(format!("{path}: {field}: must be {must}"))
            }
            error => Failure::new(error.to_string()),
        });
        publish(file, watch.end(merged)?)
    })?;
    account::warn_of_edit(py, &summary, &output)?;
    dict(py, &summary)
}

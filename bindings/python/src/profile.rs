//! The profile of a capture, which formats are made of.

use perf_profile::{Profile, ProfileOptions, SampleDetail};
use pyo3::prelude::*;

use crate::account;
use crate::capture::Capture;

/// Makes the profile of a capture. It warns of what could not be decoded.
///
/// # Errors
///
/// What is wrong with the selection, and exceptions of callbacks and signals.
pub(crate) fn profile(
    capture: &Capture,
    py: Python<'_>,
    detail: SampleDetail,
    has_marks: bool,
    off_cpu: bool,
) -> PyResult<Profile> {
    let mut options = ProfileOptions::default();
    options.detail = SampleDetail { max_stack: capture.names.max_stack, ..detail };
    options.inlines = capture.names.options.inlines;
    (options.marks, options.off_cpu) = (has_marks, off_cpu);
    let profile = py.detach(|| {
        let samples = capture.samples_of();
        let samples = if off_cpu { samples.read_all() } else { samples };
        let mut watch = capture.watch();
        let profile = samples.profile_with(&capture.symbols(false), &options, &mut watch);
        watch.end(profile)
    })?;
    account::warn(py, profile.account(), &capture.path)?;
    Ok(profile)
}

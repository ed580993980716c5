//! Samples of AUX data: the capture that has them takes the place of the one that was opened.

use perf_parse::Reader;
use perf_profile::edit::{ItraceOptions, ItraceOptionsError, TraceSamples, TracedCapture};
use pyo3::prelude::*;

use crate::error::Failure;

/// Whether samples are made of AUX data, or the letters that select which.
#[derive(Clone, Debug, FromPyObject)]
pub(crate) enum Itrace {
    IsWanted(bool),
    Letters(String),
}

impl Itrace {
    /// Returns which samples are made of a capture; `None` for none. `chosen` is `None` if nothing was said.
    ///
    /// # Errors
    ///
    /// If the letters cannot be read.
    pub(crate) fn options(
        chosen: Option<&Self>,
        reader: &Reader<'_>,
    ) -> Result<Option<ItraceOptions>, Failure> {
        let letters = match chosen {
            None => return Ok(TraceSamples::are_in(reader).then(ItraceOptions::default)),
            Some(Self::IsWanted(is_wanted)) => return Ok(is_wanted.then(ItraceOptions::default)),
            Some(Self::Letters(letters)) => letters,
        };
        let options = letters.parse::<ItraceOptions>();
        let options = options.map_err(|error: ItraceOptionsError| failure(&error))?;
        Ok(Some(options.counted()))
    }
}

/// A capture with samples of AUX data. Its file has no name, and is gone with it.
#[derive(Debug)]
pub(crate) struct CaptureWithSamples {
    pub(crate) reader: Reader<'static>,
    /// In bytes.
    pub(crate) size: u64,
    /// What is missing of the AUX data, in words; empty for nothing.
    pub(crate) missing: String,
}

/// Makes the samples of a capture; `None` if it has no AUX data of which samples are made.
///
/// # Errors
///
/// If none can be made, or there is no room for them.
pub(crate) fn with_samples(
    reader: &Reader<'_>,
    options: &ItraceOptions,
) -> Result<Option<CaptureWithSamples>, Failure> {
    let samples = TraceSamples::of(reader, options).map_err(|error| failure(&error))?;
    let Some(samples) = samples else { return Ok(None) };
    let traced = samples.into_file(reader, tempfile::tempfile()?, |_| {});
    let TracedCapture { reader, account, size, .. } = traced.map_err(|error| failure(&error))?;
    let notes: Vec<_> = account.notes().map(|(what, count)| format!("{what}: {count}")).collect();
    Ok(Some(CaptureWithSamples { reader, size, missing: notes.join(", ") }))
}

fn failure(error: &dyn core::fmt::Display) -> Failure {
    Failure::new(format!("itrace: {error}"))
}

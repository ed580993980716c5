//! Annotated functions of a capture: their instructions and source lines with samples.

use std::path::PathBuf;

use perf_annotate::disassembly::Syntax;
use perf_annotate::source::SourceOptions;
use perf_annotate::{AnnotateOptions, AnnotatedFunctions, Annotator};
use perf_parse::file::Account;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::account;
use crate::annotation::Annotations;
use crate::capture::Capture;
use crate::error::Failure;
use crate::watch::Watch;

/// The arguments of `annotate`.
#[derive(Debug)]
pub(crate) struct AnnotateArguments<'a> {
    /// `None` for all functions.
    pub(crate) symbol: Option<&'a str>,
    /// `None` for 1, and 0 with a symbol.
    pub(crate) percent_limit: Option<f64>,
    pub(crate) source: Vec<PathBuf>,
    pub(crate) prefix: Option<PathBuf>,
    pub(crate) prefix_strip: u32,
    pub(crate) syntax: &'a str,
}

impl AnnotateArguments<'_> {
    /// Returns the options of the annotations.
    fn options(&self) -> PyResult<AnnotateOptions> {
        let mut options = AnnotateOptions::default();
        options.syntax = match self.syntax {
            "att" => Syntax::Att,
            "intel" => Syntax::Intel,
            other => return Err(PyValueError::new_err(format!("syntax {other:?}: must be att or intel"))),
        };
        if self.prefix.is_none() && self.prefix_strip != 0 {
            return Err(PyValueError::new_err("prefix_strip: must be used with prefix"));
        }
        let mut source = SourceOptions::default();
        source.dirs.clone_from(&self.source);
        source.prefix.clone_from(&self.prefix);
        source.strip = self.prefix_strip;
        options.source = source;
        Ok(options)
    }

    /// Returns the percentage of an event's samples that a function must have, if it was given.
    fn limit(&self) -> PyResult<Option<f64>> {
        match self.percent_limit {
            Some(limit) if !(0.0..=100.0).contains(&limit) => {
                Err(PyValueError::new_err(format!("percent_limit {limit}: must be from 0 to 100")))
            }
            limit => Ok(limit),
        }
    }
}

/// Returns the functions that have samples, the hottest first.
///
/// # Errors
///
/// If an argument has no meaning, if no sample is in a function of the name, and what is wrong with the selection.
pub(crate) fn annotate(
    capture: &Capture,
    py: Python<'_>,
    arguments: &AnnotateArguments<'_>,
) -> PyResult<Annotations> {
    let (options, limit) = (arguments.options()?, arguments.limit()?);
    let (functions, account) = py.detach(|| {
        let mut watch = capture.watch();
        let annotated = annotated(capture, options, arguments.symbol, limit, &mut watch);
        watch.end(annotated)
    })?;
    account::warn(py, &account, &capture.path)?;
    Annotations::new(py, functions, account)
}

fn annotated(
    capture: &Capture,
    options: AnnotateOptions,
    symbol: Option<&str>,
    limit: Option<f64>,
    watch: &mut Watch<'_>,
) -> Result<(AnnotatedFunctions, Account), Failure> {
    let symbols = capture.symbols(true);
    let mut annotator = Annotator::of(capture.samples_of().read_all(), &symbols, options, watch)?;
    let selected = annotator.select(symbol.map(str::as_bytes), limit, false).ok_or_else(|| {
        let what = "no sample is in a function of this name; report() has the functions with samples";
        Failure::new(format!("symbol {:?}: {what}", symbol.unwrap_or_default()))
    })?;
    let functions = annotator.annotate_all(&selected, watch)?;
    Ok((functions, annotator.account().clone()))
}

//! Annotated functions of a capture: their instructions and source lines with samples.

use std::path::PathBuf;

use perf_annotate::disassembly::Syntax;
use perf_annotate::source::SourceOptions;
use perf_annotate::{AnnotateOptions, Annotator, NoAnnotation, SampledFunction};
use perf_parse::file::Account;
use perf_profile::annotation::Annotation;
use perf_profile::{Observer, ProfileError};
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

    /// Returns the percentage of an event's samples that a function must have.
    fn limit(&self) -> PyResult<f64> {
        let limit = self.percent_limit.unwrap_or(if self.symbol.is_some() { 0.0 } else { 1.0 });
        if (0.0..=100.0).contains(&limit) {
            Ok(limit)
        } else {
            Err(PyValueError::new_err(format!("percent_limit {limit}: must be from 0 to 100")))
        }
    }
}

/// The functions that were asked for.
#[derive(Debug)]
pub(crate) struct Annotated {
    pub(crate) shown: Vec<Annotation>,
    /// Those that cannot be shown, and why.
    pub(crate) missing: Vec<(SampledFunction, NoAnnotation)>,
    pub(crate) account: Account,
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
    let annotated = py.detach(|| {
        let mut watch = capture.watch();
        let annotated = annotated(capture, options, arguments.symbol, limit, &mut watch);
        watch.end(annotated)
    })?;
    account::warn(py, &annotated.account, &capture.path)?;
    Annotations::new(py, annotated)
}

fn annotated(
    capture: &Capture,
    options: AnnotateOptions,
    symbol: Option<&str>,
    limit: f64,
    watch: &mut Watch<'_>,
) -> Result<Annotated, Failure> {
    let symbols = capture.symbols(true);
    let mut annotator = Annotator::of(capture.samples_of().read_all(), &symbols, options, watch)?;
    let mut wanted = annotator.above(limit, false);
    if let Some(symbol) = symbol {
        let found = annotator.find(symbol.as_bytes());
        if found.is_empty() {
            let what = "no sample is in a function of this name; report() has the functions with samples";
            return Err(Failure::new(format!("symbol {symbol:?}: {what}")));
        }
        wanted.retain(|index| found.contains(index));
    }
    let (mut shown, mut missing) = (Vec::new(), Vec::new());
    for index in wanted {
        if watch.is_cancelled() {
            return Err(ProfileError::Cancelled.into());
        }
        match annotator.annotate(index) {
            Ok(annotation) => shown.push(annotation),
            Err(why) => missing.extend(annotator.functions().get(index).map(|it| (it.clone(), why))),
        }
    }
    Ok(Annotated { shown, missing, account: annotator.account().clone() })
}

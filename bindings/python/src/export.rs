//! Captures in the formats of other tools.

use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use perf_export::flamegraph::FlameDocument;
use perf_export::otlp::OtlpEncoding;
use perf_export::{firefox, flamegraph, fold, otlp, pprof, speedscope};
use perf_profile::off_cpu::WaitKind;
use perf_profile::{Profile, SampleDetail, TimeDetail, Weight};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::capture::Capture;
use crate::output::write_document;
use crate::profile::profile;

/// A format.
#[derive(Clone, Debug)]
pub(crate) enum ExportFormat {
    Folded(fold::Options),
    FlameGraph(FlameDocument),
    Pprof,
    Otlp(OtlpEncoding),
    Firefox,
    Speedscope,
}

/// The options of all formats.
#[derive(Clone, Debug)]
pub(crate) struct ExportOptions {
    pub(crate) format: ExportFormat,
    /// The event that is shown first or alone; `None` for the first one.
    pub(crate) event: Option<String>,
    pub(crate) off_cpu: bool,
}

impl ExportFormat {
    /// Returns a format by its name.
    ///
    /// # Errors
    ///
    /// If there is none of the name.
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        Ok(match name {
            "folded" => Self::Folded(fold::Options::default()),
            "flamegraph" => Self::FlameGraph(FlameDocument::Page),
            "svg" => Self::FlameGraph(FlameDocument::Svg),
            "pprof" => Self::Pprof,
            "otlp" => Self::Otlp(OtlpEncoding::Protobuf),
            "otlp-json" => Self::Otlp(OtlpEncoding::Json),
            "firefox" => Self::Firefox,
            "speedscope" => Self::Speedscope,
            _ => {
                let all = "folded, flamegraph, svg, pprof, otlp, otlp-json, firefox, speedscope, brstack, preagg or autofdo";
                return Err(PyValueError::new_err(format!("format {name:?}: must be {all}")));
            }
        })
    }

    /// Returns folded stacks with what their lines begin with, what is counted, and what is marked.
    ///
    /// # Errors
    ///
    /// If a word has no meaning.
    pub(crate) fn folded(root: &str, weight: &str, marks: Vec<String>) -> PyResult<Self> {
        let mut options = fold::Options::default();
        options.root = match root {
            "comm" => fold::Root::Comm,
            "pid" => fold::Root::Pid,
            "tid" => fold::Root::Tid,
            _ => return Err(PyValueError::new_err(format!("root {root:?}: must be comm, pid or tid"))),
        };
        options.weight = weight_of(weight)?;
        for mark in marks {
            let is_all = mark == "all";
            let known = [
                ("kernel", &mut options.mark_kernel),
                ("inlined", &mut options.mark_inlined),
                ("jit", &mut options.mark_jit),
            ];
            let mut is_known = is_all;
            for (name, is_marked) in known {
                *is_marked |= is_all || mark == name;
                is_known |= mark == name;
            }
            if !is_known {
                let what = format!("mark {mark:?}: must be kernel, inlined, jit or all");
                return Err(PyValueError::new_err(what));
            }
        }
        Ok(Self::Folded(options))
    }

    /// Returns what a profile must keep of samples.
    fn detail(&self) -> SampleDetail {
        let (times, cpus) = match self {
            Self::Folded(_) | Self::FlameGraph(FlameDocument::Svg) => (TimeDetail::Nothing, false),
            Self::FlameGraph(_) => (TimeDetail::Spans, false),
            Self::Pprof => (TimeDetail::Nothing, true),
            Self::Speedscope => (TimeDetail::Each, false),
            Self::Firefox | Self::Otlp(_) => (TimeDetail::Each, true),
        };
        SampleDetail { times, cpus, ..SampleDetail::default() }
    }
}

/// Returns what is counted.
///
/// # Errors
///
/// If the word has no meaning.
pub(crate) fn weight_of(name: &str) -> PyResult<Weight> {
    match name {
        "period" => Ok(Weight::Period),
        "samples" => Ok(Weight::Samples),
        _ => Err(PyValueError::new_err(format!("weight {name:?}: must be period or samples"))),
    }
}

impl ExportOptions {
    pub(crate) fn new(format: ExportFormat) -> Self {
        Self { format, event: None, off_cpu: false }
    }

    fn write(&self, capture: &Capture, profile: &Profile, out: &mut dyn Write) -> std::io::Result<()> {
        let profiles = std::slice::from_ref(profile);
        let of_machine = || available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let threads = NonZero::new(capture.threads).unwrap_or_else(of_machine);
        let event = self.event.clone().or_else(|| {
            let first = || WaitKind::shown_first(capture.selection.event.as_deref());
            self.off_cpu.then(|| first().event_name().to_owned())
        });
        let event = event.map(String::into_bytes);
        match &self.format {
            ExportFormat::Folded(options) => {
                let mut options = options.clone();
                (options.event, options.threads) = (event, threads);
                fold::write(profiles, &options, out)
            }
            ExportFormat::FlameGraph(document) => {
                let mut options = flamegraph::Options::default();
                (options.event, options.threads, options.document) = (event, threads, *document);
                options.captures = vec![capture.file_name().into_bytes()];
                flamegraph::write(profiles, &options, out)
            }
            ExportFormat::Pprof => {
                let mut options = pprof::Options::default();
                options.threads = threads;
                pprof::write(profiles, &options, out)
            }
            ExportFormat::Otlp(encoding) => {
                let mut options = otlp::Options::default();
                (options.encoding, options.threads) = (*encoding, threads);
                otlp::write(profiles, &options, out)
            }
            ExportFormat::Firefox => {
                let mut options = firefox::Options::default();
                (options.product, options.event, options.threads) = (capture.file_name(), event, threads);
                firefox::write(profiles, &options, out)
            }
            ExportFormat::Speedscope => {
                let mut options = speedscope::Options::default();
                (options.name, options.threads) = (capture.file_name(), threads);
                speedscope::write(profiles, &options, out)
            }
        }
    }
}

/// Returns the document of a format.
///
/// # Errors
///
/// Those of [`profile`].
pub(crate) fn bytes(capture: &Capture, py: Python<'_>, options: &ExportOptions) -> PyResult<Vec<u8>> {
    let profile = made(capture, py, options)?;
    py.detach(|| {
        let mut out = Vec::new();
        options.write(capture, &profile, &mut out).map(|()| out)
    })
    .map_err(PyErr::from)
}

/// Writes the document of a format, or returns it if there is no path.
///
/// # Errors
///
/// Those of [`profile`], and if the file cannot be written.
pub(crate) fn export<'py>(
    capture: &Capture,
    py: Python<'py>,
    options: &ExportOptions,
    path: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(path) = path else { return Ok(Some(PyBytes::new(py, &bytes(capture, py, options)?))) };
    let profile = made(capture, py, options)?;
    py.detach(|| write_document(&path, |out| options.write(capture, &profile, out)))?;
    Ok(None)
}

fn made(capture: &Capture, py: Python<'_>, options: &ExportOptions) -> PyResult<Profile> {
    let has_marks = matches!(options.format, ExportFormat::Firefox);
    profile(capture, py, options.format.detail(), has_marks, options.off_cpu)
}

//! Edits of a capture: another capture of a part of it.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use perf_abi::sample_type::SampleType;
use perf_parse::file::write::ZstdOptions;
use perf_parse::rewrite::{Edit, EditSummary, PerfRelease, RepairOrder, RepairStep};
use perf_profile::edit::{CaptureEdit, Redaction, SecretKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::account;
use crate::arguments::Names;
use crate::capture::Capture;
use crate::error::Failure;
use crate::output::{FileContent, Output};
use crate::watch::Watch;

/// What was written into a file.
pub(crate) type Summary = EditSummary<CancellableWriter<BufWriter<File>>>;

/// What is redacted: all, or some kinds.
#[derive(Debug, FromPyObject)]
pub(crate) enum Redact {
    All(bool),
    Kinds(Names),
}

/// How addresses are moved: by random distances, or by those of a seed.
#[derive(Debug, FromPyObject)]
pub(crate) enum Aslr {
    Random(bool),
    Seed(String),
}

/// The arguments of an edit.
#[derive(Debug)]
pub(crate) struct EditOptions<'a> {
    pub(crate) sample_every: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) drop: Vec<String>,
    pub(crate) unwind: bool,
    pub(crate) build_ids: bool,
    pub(crate) symbols_inside: bool,
    pub(crate) sort: bool,
    pub(crate) compress: Option<u8>,
    pub(crate) to: &'a str,
    pub(crate) redact: Option<Redact>,
    pub(crate) salt: Option<&'a str>,
    pub(crate) aslr: Option<Aslr>,
    pub(crate) release: Option<&'a str>,
}

impl EditOptions<'_> {
    /// Returns the steps.
    fn steps(&self, capture: &Capture) -> PyResult<CaptureEdit> {
        let mut fields = SampleType(0);
        for name in &self.drop {
            fields |= field(name)?;
        }
        let order = if self.sort { RepairOrder::Time } else { RepairOrder::Capture };
        let zstd = self.compress.map(|level| ZstdOptions { level, ..ZstdOptions::default() });
        if self.compress.is_some_and(|level| !(1..=22).contains(&level)) {
            return Err(PyValueError::new_err("compress: must be a level from 1, the fastest, to 22"));
        }
        let release = match self.release {
            None => None,
            Some("perf-6.1") => Some(PerfRelease::V6_1),
            Some(other) => return Err(PyValueError::new_err(format!("release {other:?}: must be perf-6.1"))),
        };
        let steps = Edit::new().order(order).remove(fields).for_release(release).compress(zstd);
        let mut edit = CaptureEdit::new().steps(steps).select(capture.selection.clone()).limit(self.limit);
        edit = edit.redact(redaction(self.redact.as_ref(), self.salt)?);
        edit = match &self.aslr {
            None | Some(Aslr::Random(false)) => edit,
            Some(Aslr::Random(true)) => edit.move_addresses(None),
            Some(Aslr::Seed(seed)) => edit.move_addresses(Some(seed.as_bytes())),
        };
        if self.unwind {
            edit = edit.unwind().threads(capture.threads);
        }
        if self.build_ids {
            edit = edit.build_ids();
        }
        if self.symbols_inside {
            edit = edit.symbols_inside();
        }
        match self.sample_every.map(NonZero::new) {
            None => Ok(edit),
            Some(Some(factor)) => Ok(edit.one_in(factor)),
            Some(None) => Err(PyValueError::new_err("sample_every: must be at least 1")),
        }
    }
}

/// Returns a field of samples by its name.
fn field(name: &str) -> PyResult<SampleType> {
    Ok(match name {
        "user-stack" => SampleType::STACK_USER | SampleType::REGS_USER,
        "regs-user" => SampleType::REGS_USER,
        "regs-intr" => SampleType::REGS_INTR,
        "raw" => SampleType::RAW,
        "branches" => SampleType::BRANCH_STACK,
        "callchain" => SampleType::CALLCHAIN,
        "phys-addr" => SampleType::PHYS_ADDR,
        _ => {
            let all = "user-stack, regs-user, regs-intr, raw, branches, callchain or phys-addr";
            return Err(PyValueError::new_err(format!("drop {name:?}: must be {all}")));
        }
    })
}

fn redaction(redact: Option<&Redact>, salt: Option<&str>) -> PyResult<Option<Redaction>> {
    let kinds = match redact {
        None | Some(Redact::All(false)) if salt.is_some() => {
            return Err(PyValueError::new_err("salt: must be used with redact"));
        }
        None | Some(Redact::All(false)) => return Ok(None),
        Some(Redact::All(true)) => SecretKind::ALL.to_vec(),
        Some(Redact::Kinds(names)) => names.iter().map(secret).collect::<PyResult<_>>()?,
    };
    Ok(Some(match salt {
        Some(salt) => Redaction::with_salt(&kinds, salt.as_bytes()),
        None => Redaction::new(&kinds),
    }))
}

fn secret(name: &str) -> PyResult<SecretKind> {
    SecretKind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
        let all = "comms, paths, cmdline, hostname, raw or strings";
        PyValueError::new_err(format!("redact {name:?}: must be {all}"))
    })
}

/// A writer that fails once the work is cancelled: edits have no other way to end early.
#[derive(Debug)]
pub(crate) struct CancellableWriter<W> {
    out: W,
    is_cancelled: Arc<AtomicBool>,
}

impl<W> CancellableWriter<W> {
    pub(crate) fn new(out: W, is_cancelled: &Arc<AtomicBool>) -> Self {
        Self { out, is_cancelled: Arc::clone(is_cancelled) }
    }

    fn check(&self) -> io::Result<()> {
        if self.is_cancelled.load(Ordering::Relaxed) { Err(io::Error::other("cancelled")) } else { Ok(()) }
    }
}

impl<W: Write> Write for CancellableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.out.flush()
    }
}

impl<W: Seek> Seek for CancellableWriter<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// Passes the steps of an edit on to a watch, which may cancel the writer.
pub(crate) fn watch_step(watch: &mut Watch<'_>, step: &RepairStep<'_>, is_cancelled: &AtomicBool) {
    if let RepairStep::At(offset) = step {
        is_cancelled.fetch_or(watch.at(*offset), Ordering::Relaxed);
    }
}

/// Writes an edit of a capture. Returns what was written, and what was not.
///
/// # Errors
///
/// If an argument has no meaning, what is wrong with the selection, and if the file cannot be written.
pub(crate) fn edit<'py>(
    capture: &Capture,
    py: Python<'py>,
    path: PathBuf,
    options: &EditOptions<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let is_pipe = match options.to {
        "file" => false,
        "pipe" => true,
        to => return Err(PyValueError::new_err(format!("to {to:?}: must be file or pipe"))),
    };
    let summary = py.detach(|| {
        let steps = options.steps(capture)?;
        let output = Output::create(&path, FileContent::Capture)?;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let out = CancellableWriter::new(output.writer()?, &is_cancelled);
        let mut watch = capture.watch();
        let symbols = capture.symbols(false);
        let report = |step: RepairStep<'_>| watch_step(&mut watch, &step, &is_cancelled);
        let edited = if is_pipe {
            steps.write_pipe(&capture.reader, &symbols, out, report)
        } else {
            steps.write_file(&capture.reader, &symbols, out, report)
        };
        publish(output, watch.end(edited)?)
    })?;
    account::warn_of_edit(py, &summary, &capture.path)?;
    dict(py, &summary)
}

/// Writes what is buffered, and gives the file its name.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn publish(output: Output, mut edited: Summary) -> Result<Summary, Failure> {
    edited.out.flush()?;
    output.publish()?;
    Ok(edited)
}

/// Returns what was written as a dictionary.
///
/// # Errors
///
/// If Python has no memory.
pub(crate) fn dict<'py, W>(py: Python<'py>, edited: &EditSummary<W>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("written", edited.written)?;
    dict.set_item("left_out", edited.left_out)?;
    dict.set_item("not_decoded", edited.dropped)?;
    let features: Vec<_> = edited.features_dropped.iter().map(ToString::to_string).collect();
    dict.set_item("features_left_out", features)?;
    dict.set_item("left_out_for_release", &edited.left_out_for_release)?;
    dict.set_item("account", account::dict(py, &edited.account)?)?;
    Ok(dict)
}

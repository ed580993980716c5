//! `perfdata edit`: another capture of a capture.

use std::io::{BufWriter, ErrorKind};
use std::path::Path;

use perf_abi::sample_type::SampleType;
use perf_parse::file::write::WriteFileError;
#[cfg(target_os = "linux")]
use perf_parse::file::write::ZstdOptions;
use perf_parse::rewrite::{Edit, EditSummary, RepairStep};
use perf_profile::edit::{CaptureEdit, EditError, Redaction};

use crate::args::edit::{ContainerArg, EditArgs};
use crate::escape::shown;
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, FileContent, Outputs, say};
use crate::progress::Progress;
use crate::{input, names, selection, streams};

pub(crate) fn run(args: &EditArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let to_stdout = args.output == Path::new("-");
    if to_stdout && args.to == ContainerArg::File {
        let what =
            "a perf.data file cannot be written to standard output, because its header is written last";
        return Err(Failure(format!("-: {what}; add --to pipe, or give the name of a file")));
    }
    let redaction = redaction(args);
    let remaining = redaction.as_ref().map(Redaction::remaining);
    let steps = capture_edit(args, redaction)?;
    input::read_whole(&args.file, |reader, memory| {
        let symbols = names::symbols(&args.symbols, reader.features(), memory)?;
        let mut outputs = Outputs::of(memory.inputs.iter().cloned());
        let mut reporter = StepReporter::new(memory.size);
        let failure = |error| match error {
            EditError::Selection(error) => selection::failure(error),
            error => Failure(format!("{}: {error}", shown(&args.output))),
        };
        let report = |step: RepairStep<'_>| reporter.step(&step);
        let edited = if to_stdout {
            let edited = match steps.write_pipe(&reader, &symbols, BufWriter::new(streams::Output), report) {
                // The reader has closed its end, as head does.
                Err(EditError::Write(WriteFileError::Io(error))) if error.kind() == ErrorKind::BrokenPipe => {
                    return Ok(Outcome::Clean);
                }
                edited => edited.map_err(failure)?,
            };
            without_output(edited)
        } else {
            let claim = outputs.claim("-o", &args.output)?;
            let edited = match args.to {
                ContainerArg::File => {
                    let (file, output) = claim.create(FileContent::Capture)?;
                    let edited = steps.write_file(&reader, &symbols, BufWriter::new(file), report);
                    edited.map(|edited| (without_output(edited), output))
                }
                ContainerArg::Pipe => {
                    let (file, output) = claim.create(FileContent::Stream)?;
                    let edited = steps.write_pipe(&reader, &symbols, BufWriter::new(file), report);
                    edited.map(|edited| (without_output(edited), output))
                }
            };
            let (edited, output) = edited.map_err(failure)?;
            output.publish()?;
            edited
        };
        drop(reporter);
        let EditSummary { written, left_out, dropped, features_dropped, account, .. } = edited;
        if !features_dropped.is_empty() {
            let names: Vec<_> = features_dropped.iter().map(ToString::to_string).collect();
            say!("perfdata: features left out: {}", names.join(", "));
        }
        if let Some(remaining) = &remaining {
            say!("perfdata: not redacted: {}", remaining.join(", "));
        }
        let skipped = account.bytes_skipped;
        say!(
            "perfdata: records written: {written}, left out: {left_out}, not decoded: {dropped}, bytes skipped: {skipped}"
        );
        Ok(if account.is_clean() && dropped == 0 { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Returns the edit of the command line.
fn capture_edit(args: &EditArgs, redaction: Option<Redaction>) -> Result<CaptureEdit, Failure> {
    let fields = args.drop.iter().fold(SampleType(0), |all, field| all | field.sample_type());
    let steps = Edit::new().remove(fields).attr_version(args.attr_size);
    #[cfg(target_os = "linux")]
    let steps = steps.compress(args.compress.map(|level| ZstdOptions { level, ..ZstdOptions::default() }));
    let edit = CaptureEdit::new().steps(steps).select(selection::selection(&args.only)?).limit(args.limit);
    let edit = edit.redact(redaction);
    Ok(match args.sample_every {
        Some(factor) => edit.one_in(factor),
        None => edit,
    })
}

/// Returns what `--redact` removes.
fn redaction(args: &EditArgs) -> Option<Redaction> {
    let kinds = args.redact.as_ref()?.iter().map(|kind| kind.kind()).collect::<Vec<_>>();
    Some(match &args.hash {
        Some(salt) => Redaction::with_salt(&kinds, salt.as_bytes()),
        None => Redaction::new(&kinds),
    })
}

fn without_output<W>(edited: EditSummary<W>) -> EditSummary<()> {
    let EditSummary { written, left_out, dropped, features_dropped, account, .. } = edited;
    EditSummary { out: (), written, left_out, dropped, features_dropped, account }
}

/// Shows the progress of an edit, and prints its faults.
#[derive(Debug)]
pub(crate) struct StepReporter {
    progress: Progress,
    diagnostics: Diagnostics,
}

impl StepReporter {
    /// `size` is that of the capture in bytes.
    pub(crate) fn new(size: u64) -> Self {
        Self { progress: Progress::new(size, true), diagnostics: Diagnostics::new() }
    }

    pub(crate) fn step(&mut self, step: &RepairStep<'_>) {
        match step {
            RepairStep::At(offset) => self.progress.at(*offset),
            RepairStep::Capture { error } | RepairStep::Unreadable { error, .. } => {
                self.diagnostics.report(error);
            }
            RepairStep::Unwritable { offset, kind, error } => {
                self.diagnostics.unwritable(&format_args!("{offset:#x}: {kind}: {error}"));
            }
            _ => {}
        }
    }
}

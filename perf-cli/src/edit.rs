//! `perfdata edit`: another capture of a capture.

mod generated_code;

use core::fmt::Display;
use core::num::NonZero;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::Path;

use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_parse::file::write::WriteFileError;
#[cfg(target_os = "linux")]
use perf_parse::file::write::ZstdOptions;
#[cfg(target_os = "linux")]
use perf_parse::rewrite::FolderOutputs;
use perf_parse::rewrite::{
    CaptureMergeError, Edit, EditSummary, MergeOptions, PerfRelease, RepairOrder, RepairStep, merge,
};
use perf_profile::edit::{CaptureEdit, EditError, Redaction};
use perf_profile::{Selection, Symbols};

use crate::args::edit::{ClockOffset, ContainerArg, EditArgs};
use crate::args::itrace::ItraceChoice;
use crate::escape::shown;
use crate::input::{Memory, of_wanted_abi};
use crate::outcome::{Failure, Outcome, not_readable};
#[cfg(target_os = "linux")]
use crate::output::CaptureFolder;
use crate::output::{BUFFER, Diagnostics, FileContent, InputFile, OutputClaim, Outputs, say};
use crate::progress::Progress;
use crate::{index, input, itrace, names, selection, streams};

pub(crate) fn run(args: &EditArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    let to_stdout = args.output == Path::new("-");
    if to_stdout && args.to != ContainerArg::Pipe {
        let what = "a perf.data file or folder cannot be written to standard output";
        return Err(Failure(format!("-: {what}; add --to pipe, or give the name of a file")));
    }
    if to_stdout && args.index {
        let what = "has no file beside which an index could be; give -o the name of a file";
        return Err(Failure(format!("--index: standard output {what}")));
    }
    if args.jit {
        generated_code::check(args)?;
    }
    let redaction = redaction(args);
    let remaining = redaction.as_ref().map(|it| it.remaining().join(", "));
    let steps = capture_edit(args, redaction)?;
    let outcome = match &*args.files.0 {
        [_] if !args.clock_offset.is_empty() => {
            let what = "several captures, whose clocks it compares; give their names";
            return Err(Failure(format!("--clock-offset: must be used with {what}")));
        }
        [path] => input::read_whole(path, |reader, memory| one(args, steps, &reader, memory, memory.inputs)),
        _ => several(args, steps),
    }?;
    if let Some(remaining) = remaining {
        say!("perfdata: not redacted: {remaining}");
    }
    match args.index.then(|| index::write(&args.output, None)).transpose()? {
        Some(Outcome::Partial) => Ok(Outcome::Partial),
        _ => Ok(outcome),
    }
}

/// Edits several captures: as one, which is written without a name beside the output first, unless there is no step after it.
fn several(args: &EditArgs, steps: CaptureEdit) -> Result<Outcome, Failure> {
    let failure = |error: &dyn Display| Failure(format!("{}: {error}", shown(&args.output)));
    let is_merge_alone = has_no_step(args)?;
    let (mut readers, mut inputs) = (Vec::new(), Vec::new());
    for path in &args.files.0 {
        if path == Path::new("-") {
            let what = "captures that become one are read twice; give the names of files, or edit each alone";
            return Err(Failure(format!("standard input: {what}")));
        }
        readers.push(of_wanted_abi(Reader::open(path).map_err(|error| not_readable(path, &error))?));
        inputs.extend(files_of(path).map_err(|error| Failure(format!("{}: {error}", shown(path))))?);
    }
    // An output that cannot be is refused before the captures are read.
    let to_stdout = args.output == Path::new("-");
    let claim = (!to_stdout).then(|| claim(args, &inputs)).transpose()?;
    let readers: Vec<_> = readers.iter().collect();
    if let Some(claim) = claim.filter(|_| is_merge_alone) {
        let (file, output) = claim.create(FileContent::Capture)?;
        let merged = without_output(merged(args, &readers, BufWriter::with_capacity(BUFFER, file))?);
        output.publish()?;
        return Ok(finished(args, merged));
    }
    let file = unnamed(&args.output).map_err(|error| failure(&error))?;
    let merged = merged(args, &readers, BufWriter::with_capacity(BUFFER, file))?;
    let file = merged.out.into_inner().map_err(|error| failure(&error))?;
    let reader = of_wanted_abi(Reader::from_file(file).map_err(|error| failure(&error))?);
    let outcome = one(args, steps, &reader, Memory::default(), &inputs)?;
    Ok(if merged.account.is_clean() && merged.dropped == 0 { outcome } else { Outcome::Partial })
}

/// Writes several captures as one, and reports their faults.
fn merged<W: Write + Seek>(
    args: &EditArgs,
    readers: &[&Reader<'_>],
    out: W,
) -> Result<EditSummary<W>, Failure> {
    let mut diagnostics = Diagnostics::new();
    let merged = merge(readers, &merge_options(args)?, out, |capture, step| {
        let (RepairStep::Capture { error } | RepairStep::Unreadable { error, .. }) = step else { return };
        if let Some(path) = args.files.0.get(capture) {
            diagnostics.report_in(path, &error);
        }
    });
    merged.map_err(|error| match error {
        CaptureMergeError::Differ { capture, field, must } => {
            let field = if field == "clock offset" { "--clock-offset" } else { field };
            let path = args.files.0.get(capture).map(|path| shown(path).to_string()).unwrap_or_default();
            Failure(format!("{path}: {field}: must be {must}"))
        }
        error => Failure(format!("{}: {error}", shown(&args.output))),
    })
}

/// Returns whether several captures only become one file.
fn has_no_step(args: &EditArgs) -> Result<bool, Failure> {
    // Each option is named, so that none is forgotten.
    let EditArgs {
        files: _,
        reading: _,
        output: _,
        only,
        sample_every: None,
        limit: None,
        drop,
        unwind: false,
        threads: None,
        clock_offset: _,
        build_ids: false,
        itrace: None,
        jit: false,
        symbols_inside: false,
        sort: false,
        #[cfg(target_os = "linux")]
            compress: None,
        #[cfg(target_os = "linux")]
            uncompress: _,
        index: _,
        release: None,
        to: ContainerArg::File,
        attr_size: None,
        redact: None,
        hash: _,
        aslr: None,
        symbols: _,
    } = args
    else {
        return Ok(false);
    };
    Ok(drop.is_empty() && selection::selection(only)? == Selection::default())
}

/// Returns what the command line states about the captures.
fn merge_options(args: &EditArgs) -> Result<MergeOptions, Failure> {
    let mut options = MergeOptions::default();
    for &ClockOffset { capture, nanoseconds } in &args.clock_offset {
        let must = match capture.checked_sub(1).filter(|&index| index < args.files.0.len()) {
            None => format!("of a capture from 1 to {}, in the order of their names", args.files.0.len()),
            Some(index) if options.clock_offsets.insert(index, nanoseconds).is_none() => continue,
            Some(_) => "given once for each capture".to_owned(),
        };
        return Err(Failure(format!("--clock-offset {capture}=: must be {must}")));
    }
    Ok(options)
}

/// Returns the files of a capture: one, or a folder and those in it.
fn files_of(path: &Path) -> io::Result<Vec<InputFile>> {
    let mut files = vec![InputFile::new(path, &fs::metadata(path)?)];
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?.path();
            files.push(InputFile::new(&entry, &fs::metadata(&entry)?));
        }
    }
    Ok(files)
}

/// Creates a file without a name: in the folder of the output, which has room for as much, unless the output is no file.
fn unnamed(output: &Path) -> io::Result<File> {
    folder_of(output).map_or_else(tempfile::tempfile, tempfile::tempfile_in)
}

/// Returns the folder of an output; `None` for one that is no file.
fn folder_of(output: &Path) -> Option<&Path> {
    if output == Path::new("-") || fs::metadata(output).is_ok_and(|it| !it.is_file()) {
        return None;
    }
    Some(output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Edits one capture. `inputs` are all files that are read. Generated code makes another capture of it, which is edited.
fn one(
    args: &EditArgs,
    steps: CaptureEdit,
    reader: &Reader<'_>,
    memory: Memory<'_>,
    inputs: &[InputFile],
) -> Result<Outcome, Failure> {
    if let Some(ItraceChoice(options)) = args.itrace {
        // An output that cannot be is refused before the capture is decoded.
        if args.output != Path::new("-") {
            claim(args, inputs)?;
        }
        let folder = folder_of(&args.output);
        if let Some(made) = itrace::make(reader, &options.unwrap_or_default(), folder)? {
            let memory = Memory { is_made: true, ..memory };
            let outcome = decoded(args, steps, &made.reader, memory, inputs)?;
            return Ok(if made.is_whole { outcome } else { Outcome::Partial });
        }
    }
    decoded(args, steps, reader, memory, inputs)
}

/// Edits one capture whose AUX data was decoded, or stays.
fn decoded(
    args: &EditArgs,
    steps: CaptureEdit,
    reader: &Reader<'_>,
    memory: Memory<'_>,
    inputs: &[InputFile],
) -> Result<Outcome, Failure> {
    let symbols = names::symbols(&args.symbols, reader.features(), memory)?;
    if !args.jit {
        return write(args, steps, (reader, &symbols), memory, inputs);
    }
    let code = generated_code::add(args, reader, &symbols, inputs)?;
    let outcome = write(args, steps, (&code.reader, &symbols), Memory::default(), inputs)?;
    Ok(if code.is_whole { outcome } else { Outcome::Partial })
}

/// Writes the edit of a capture.
fn write(
    args: &EditArgs,
    steps: CaptureEdit,
    (reader, symbols): (&Reader<'_>, &Symbols),
    memory: Memory<'_>,
    inputs: &[InputFile],
) -> Result<Outcome, Failure> {
    let to_stdout = args.output == Path::new("-");
    let steps = if steps.may_use_index() { steps.with_index(index::of(reader, memory)) } else { steps };
    let mut reporter = StepReporter::new(memory.size);
    let failure = |error| match error {
        EditError::Selection(error) => selection::failure(error),
        error @ (EditError::NoCallChains { .. } | EditError::NamesRedacted | EditError::NamesMoved) => {
            Failure(format!("--{error}"))
        }
        error => Failure(format!("{}: {error}", shown(&args.output))),
    };
    let report = |step: RepairStep<'_>| reporter.step(&step);
    let edited = if to_stdout {
        let edited = match steps.write_pipe(
            reader,
            symbols,
            BufWriter::with_capacity(BUFFER, streams::Output),
            report,
        ) {
            // The reader has closed its end, as head does.
            Err(EditError::Write(WriteFileError::Io(error))) if error.kind() == ErrorKind::BrokenPipe => {
                return Ok(Outcome::Clean);
            }
            edited => edited.map_err(failure)?,
        };
        without_output(edited)
    } else {
        let claim = claim(args, inputs)?;
        let create = |content| {
            let (file, output) = claim.create(content)?;
            Ok::<_, Failure>((BufWriter::with_capacity(BUFFER, file), output))
        };
        match args.to {
            ContainerArg::File => {
                let (out, output) = create(FileContent::Capture)?;
                let edited = steps.write_file(reader, symbols, out, report).map_err(failure)?;
                let edited = without_output(edited);
                output.publish()?;
                edited
            }
            ContainerArg::Pipe => {
                let (out, output) = create(FileContent::Stream)?;
                let edited = steps.write_pipe(reader, symbols, out, report).map_err(failure)?;
                let edited = without_output(edited);
                output.publish()?;
                edited
            }
            #[cfg(target_os = "linux")]
            ContainerArg::Folder => {
                let mut folder = new_folder(&args.output)?;
                let outputs = folder_outputs(&folder, reader)?;
                let mut edited = steps.write_folder(reader, symbols, outputs, report).map_err(failure)?;
                for out in core::iter::once(&mut edited.out.data).chain(&mut edited.out.parts) {
                    out.flush().map_err(|error| Failure(format!("{}: {error}", shown(&args.output))))?;
                }
                folder.publish()?;
                without_output(edited)
            }
        }
    };
    drop(reporter);
    Ok(finished(args, edited))
}

/// Claims the output. What cannot be, an index among it, is refused before anything is written.
fn claim(args: &EditArgs, inputs: &[InputFile]) -> Result<OutputClaim, Failure> {
    let mut outputs = Outputs::of(inputs.iter().cloned());
    let claim = outputs.claim("-o", &args.output)?;
    if args.index {
        outputs.claim("--index", &index::beside(&args.output)?)?;
    }
    Ok(claim)
}

/// Prints what was written, and what was not.
fn finished(args: &EditArgs, edited: EditSummary<()>) -> Outcome {
    let EditSummary { written, left_out, dropped, features_dropped, left_out_for_release, account, .. } =
        edited;
    if let Some(release) = args.release.filter(|_| !left_out_for_release.is_empty()) {
        let release = PerfRelease::from(release).name();
        say!("perfdata: left out for {release}: {}", left_out_for_release.join(", "));
    }
    if !features_dropped.is_empty() {
        let names: Vec<_> = features_dropped.iter().map(ToString::to_string).collect();
        say!("perfdata: features left out: {}", names.join(", "));
    }
    let skipped = account.bytes_skipped;
    say!(
        "perfdata: records written: {written}, left out: {left_out}, not decoded: {dropped}, bytes skipped: {skipped}"
    );
    if account.is_clean() && dropped == 0 { Outcome::Clean } else { Outcome::Partial }
}

/// Creates the folder of a capture. Nothing may have its name: what has would become that of another capture.
#[cfg(target_os = "linux")]
fn new_folder(path: &Path) -> Result<CaptureFolder, Failure> {
    if fs::symlink_metadata(path).is_ok() {
        let what = "exists, and a folder does not replace it; give -o another name";
        return Err(Failure(format!("{}: {what}", shown(path))));
    }
    CaptureFolder::create(path)
}

/// Maximum number of files of a folder for the records of CPUs.
#[cfg(target_os = "linux")]
const PARTS: u32 = 256;

/// Creates the files of a folder: one for each CPU that the capture has.
#[cfg(target_os = "linux")]
fn folder_outputs(
    folder: &CaptureFolder,
    reader: &Reader<'_>,
) -> Result<FolderOutputs<BufWriter<File>>, Failure> {
    let cpus = reader.features().nr_cpus().ok().flatten().map_or(1, |it| it.available);
    let file = |name: String| folder.file(&name).map(BufWriter::new);
    let parts = (0..cpus.clamp(1, PARTS)).map(|cpu| file(format!("data.{cpu}")));
    Ok(FolderOutputs { data: file("data".to_owned())?, parts: parts.collect::<Result<_, _>>()? })
}

/// Returns the edit of the command line.
fn capture_edit(args: &EditArgs, redaction: Option<Redaction>) -> Result<CaptureEdit, Failure> {
    let fields = args.drop.iter().fold(SampleType(0), |all, field| all | field.sample_type());
    let order = if args.sort { RepairOrder::Time } else { RepairOrder::Capture };
    let steps = Edit::new().order(order).remove(fields).attr_version(args.attr_size);
    let steps = steps.for_release(args.release.map(PerfRelease::from));
    #[cfg(target_os = "linux")]
    let steps = steps.compress(args.compress.map(|level| ZstdOptions { level, ..ZstdOptions::default() }));
    let edit = CaptureEdit::new().steps(steps).select(selection::selection(&args.only)?).limit(args.limit);
    let edit = edit.redact(redaction);
    let edit = match &args.aslr {
        Some(seed) => edit.move_addresses(seed.as_ref().map(String::as_bytes)),
        None => edit,
    };
    let edit = if args.unwind { edit.unwind().threads(args.threads.map_or(0, NonZero::get)) } else { edit };
    let edit = if args.build_ids { edit.build_ids() } else { edit };
    let edit = if args.symbols_inside { edit.symbols_inside() } else { edit };
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
    let EditSummary { written, left_out, dropped, features_dropped, left_out_for_release, account, .. } =
        edited;
    EditSummary { out: (), written, left_out, dropped, features_dropped, left_out_for_release, account }
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

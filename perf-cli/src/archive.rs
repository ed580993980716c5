//! `perfdata archive`: a capture and the files that its names come from, in one file for another machine.

use core::num::NonZero;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use perf_parse::file::Reader;
use perf_profile::archive::{CapturePart, FileCollection, FileDetail};

use crate::args::ArchiveArgs;
use crate::args::symbols::SymbolArgs;
use crate::escape::{OneLine, shown};
use crate::input::{self, Memory};
use crate::names::{self, Lines, NameStyle};
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{FileContent, Outputs, say};
use crate::selection;

/// The level of compression: that of the program zstd.
const LEVEL: i32 = 3;

/// An archive to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArchiveRequest<'a> {
    pub(crate) symbols: &'a SymbolArgs,
    pub(crate) detail: FileDetail,
    pub(crate) threads: Option<NonZero<usize>>,
    /// The option that names the output.
    pub(crate) option: &'static str,
    pub(crate) output: &'a Path,
    pub(crate) quiet: bool,
}

pub(crate) fn run(args: &ArchiveArgs) -> Result<Outcome, Failure> {
    crate::output::remove_unfinished_on_signals();
    if args.symbols.no_symbols {
        return Err(Failure(
            "--no-symbols: the files of an archive are found by looking up names".to_owned(),
        ));
    }
    let output = args.output.clone().unwrap_or_else(|| beside(&args.file));
    let detail = if args.slim { FileDetail::Slim } else { FileDetail::Whole };
    let (symbols, threads, output) = (&args.symbols, args.threads, &*output);
    let request = ArchiveRequest { symbols, detail, threads, option: "-o", output, quiet: false };
    input::read(&args.file, |reader, memory| write(&reader, memory, request))
}

/// Returns the default name of the archive of a capture.
pub(crate) fn beside(capture: &Path) -> PathBuf {
    let mut name = capture.as_os_str().to_owned();
    name.push(".tar.zst");
    name.into()
}

/// Writes the archive of a capture.
///
/// # Errors
///
/// If the capture is a stream, or the output cannot be written.
pub(crate) fn write(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    request: ArchiveRequest<'_>,
) -> Result<Outcome, Failure> {
    let ArchiveRequest { symbols, detail, threads, option, output, quiet } = request;
    let named = |path: &Path, error: io::Error| Failure(format!("{}: {error}", shown(path)));
    let Some(capture) = memory.path else {
        let what = "an archive cannot contain a stream; write it to a file, and give the name of the file";
        return Err(Failure(what.to_owned()));
    };
    let mut parts = CapturePart::of(capture).map_err(|error| named(capture, error))?;
    let claim = Outputs::of(memory.inputs.iter().cloned()).claim(option, output)?;
    let (file, unfinished) = claim.create(FileContent::Archive)?;
    let (options, files) =
        names::sources(symbols, reader.features(), memory, Lines::WithInlined, NameStyle::Distinct)?;
    let mut observer = StderrObserver::new(memory, false);
    let threads = symbols.naming(threads).threads;
    let files = FileCollection::of(reader, options, files, threads, &mut observer);
    let files = files.map_err(selection::failure)?;
    let outcome = observer.finish(files.account(), files.omitted(), "read");
    let size = file.try_clone().map_err(|error| named(output, error))?;
    let written = || -> io::Result<()> {
        let mut compressed = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
        files.write(&mut parts, detail, &mut compressed)?;
        compressed.finish()?.flush()
    };
    written().map_err(|error| named(output, error))?;
    unfinished.publish()?;
    if !quiet {
        let bytes = size.metadata().map_or(0, |metadata| metadata.len());
        say!("perfdata: {}: files: {}, bytes: {bytes}", shown(output), files.len());
    }
    report_missing(&files);
    Ok(outcome)
}

/// Reports the files that were not found.
fn report_missing(files: &FileCollection) {
    /// Number of files that are named.
    const NAMED: usize = 10;
    let missing: Vec<_> =
        files.lookups().iter().filter(|it| it.path.as_os_str().is_empty() && it.why.is_some()).collect();
    for it in missing.iter().take(NAMED) {
        if let Some(why) = it.why {
            say!("perfdata: not in the archive: {}: {why}", OneLine(it.dso.name()));
        }
    }
    if missing.len() > NAMED {
        say!("perfdata: not in the archive: {} more files", missing.len().saturating_sub(NAMED));
    }
}

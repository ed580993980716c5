//! The generated code of a capture, in a folder beside it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use perf_parse::Reader;
use perf_parse::rewrite::{Edit, RepairStep};
use perf_profile::Symbols;
use perf_profile::edit::{CodeImage, GeneratedCode, SecretKind};

use super::{claim, unnamed};
use crate::args::edit::{EditArgs, SecretArg};
use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::{BUFFER, Diagnostics, FileContent, InputFile, Outputs, say};

/// A capture with the mappings of its generated code, without a name.
pub(super) struct CaptureWithCode {
    pub(super) reader: Reader<'static>,
    /// Whether everything was read, and all code found.
    pub(super) is_whole: bool,
}

/// Refuses options that `--jit` cannot be with.
pub(super) fn check(args: &EditArgs) -> Result<(), Failure> {
    let removes =
        |kind| args.redact.as_ref().is_some_and(|kinds| kinds.iter().any(|it: &SecretArg| it.kind() == kind));
    let why = if args.output == Path::new("-") {
        "standard output has no folder beside it; give -o the name of a file"
    } else if removes(SecretKind::Paths) || removes(SecretKind::Strings) {
        "a redaction of paths or strings removes the paths of its files; leave one of them out"
    } else if args.aslr.is_some() {
        "its files have addresses, which --aslr hides; leave one of them out"
    } else {
        return Ok(());
    };
    Err(Failure(format!("--jit: {why}")))
}

/// Writes the files of the generated code into `OUT.files`, and the capture with their mappings into a file without a name.
pub(super) fn add(
    args: &EditArgs,
    reader: &Reader<'_>,
    symbols: &Symbols,
    inputs: &[InputFile],
) -> Result<CaptureWithCode, Failure> {
    let failure = |error: &dyn core::fmt::Display| Failure(format!("{}: {error}", shown(&args.output)));
    // An output that cannot be is refused before files are written beside it.
    claim(args, inputs)?;
    let mut outputs = Outputs::of(inputs.iter().cloned());
    let folder = folder_beside(&args.output).map_err(|error| failure(&error))?;
    let mut refused = None;
    let code = GeneratedCode::of(reader, symbols, &folder, |image| {
        write(image, &folder, &mut outputs).map_err(|error| {
            refused = Some(error);
            io::Error::other("a file of generated code")
        })
    });
    if let Some(refused) = refused {
        return Err(refused);
    }
    let code = code.map_err(|error| failure(&error))?;
    for (path, why) in code.left_out() {
        say!("perfdata: {}: left out: {why}", shown(Path::new(path)));
    }
    match code.images() {
        0 => say!("perfdata: --jit: no jitdump and no perf map of the capture's processes was found"),
        images => {
            let (functions, folder) = (code.functions(), shown(&folder));
            say!("perfdata: generated code in {folder}: files: {images}, functions: {functions}");
        }
    }
    let has_all = code.left_out().next().is_none();
    let out = BufWriter::with_capacity(BUFFER, unnamed(&args.output).map_err(|error| failure(&error))?);
    let mut diagnostics = Diagnostics::new();
    let edited = code.add_to(Edit::new()).write_file(reader, out, |step| {
        if let RepairStep::Capture { error } | RepairStep::Unreadable { error, .. } = step {
            diagnostics.report(&error);
        }
    });
    let edited = edited.map_err(|error| failure(&error))?;
    let is_whole = has_all && edited.account.is_clean() && edited.dropped == 0;
    let file = edited.out.into_inner().map_err(|error| failure(&error))?;
    Ok(CaptureWithCode { reader: Reader::from_file(file).map_err(|error| failure(&error))?, is_whole })
}

/// Returns the absolute path of the folder `OUT.files`.
fn folder_beside(output: &Path) -> io::Result<PathBuf> {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".files");
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(fs::canonicalize(parent.unwrap_or(Path::new(".")))?.join(name))
}

fn write(image: &CodeImage, folder: &Path, outputs: &mut Outputs) -> Result<(), Failure> {
    let failure = |error: io::Error| Failure(format!("{}: {error}", shown(folder)));
    match create_folder(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failure(error)),
        _ => {}
    }
    let (mut file, output) = outputs.claim("--jit", &folder.join(image.name()))?.create(FileContent::Code)?;
    file.write_all(image.bytes()).map_err(failure)?;
    output.publish().map(drop)
}

/// Creates a folder for its owner alone.
fn create_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(folder);
    #[cfg(not(unix))]
    fs::create_dir(folder)
}

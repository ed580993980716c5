//! A document that is written at once, to a file or to standard output.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::file_id::InputFile;
use super::files::{FileContent, Outputs};
use super::stdout::Output;
use crate::escape::shown;
use crate::outcome::Failure;

/// Writes a file that gets its name when it is complete; standard output if it is `-`.
pub(crate) fn write_document(
    path: &Path,
    inputs: &[InputFile],
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut output = Output::new();
        content(&mut output.buffer).map_err(|error| Failure(format!("standard output: {error}")))?;
        return output.flush().map(drop);
    }
    let failure = |error: io::Error| Failure(format!("{}: {error}", shown(path)));
    let (file, unfinished) =
        Outputs::of(inputs.iter().cloned()).claim("-o", path)?.create(FileContent::Report)?;
    let mut out = BufWriter::new(file);
    content(&mut out).map_err(failure)?;
    out.into_inner().map_err(|error| failure(error.into_error()))?;
    unfinished.publish().map(drop)
}

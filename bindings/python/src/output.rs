//! Files that get their name when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Failure;

/// The size of a write.
const BUFFER: usize = 1 << 18;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// Its owner: it has what programs did, and copies of their memory.
    Capture,
    /// Whom the umask permits it.
    Document,
}

/// A file that has no name yet. One that is not published is removed.
#[derive(Debug)]
pub(crate) struct Output {
    file: NamedTempFile,
    path: PathBuf,
}

impl Output {
    /// Creates a file beside the one that it replaces: for a symbolic link, its target.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written, or if the path is neither a file nor free.
    pub(crate) fn create(path: &Path, content: FileContent) -> Result<Self, Failure> {
        let failure = |error| Failure::io(error, path);
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|it| !it.is_file()) {
            return Err(failure(io::Error::new(
                io::ErrorKind::InvalidInput,
                "is not a file; give another name",
            )));
        }
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".perfdata-");
        #[cfg(unix)]
        if content == FileContent::Document {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        #[cfg(not(unix))]
        let _ = content;
        let file = builder.tempfile_in(folder).map_err(failure)?;
        Ok(Self { file, path })
    }

    /// Returns a writer of the file.
    ///
    /// # Errors
    ///
    /// If the system has no more descriptors.
    pub(crate) fn writer(&self) -> Result<BufWriter<File>, Failure> {
        let file = self.file.as_file().try_clone().map_err(|error| Failure::io(error, &self.path))?;
        Ok(BufWriter::with_capacity(BUFFER, file))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// If it cannot have it.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { file, path } = self;
        file.persist(&path).map(drop).map_err(|error| Failure::io(error.error, &path))
    }
}

/// Writes a document into a file.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write_document(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let output = Output::create(path, FileContent::Document)?;
    let mut out = output.writer()?;
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::io(error, path))?;
    output.publish()
}

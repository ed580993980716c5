//! The identity of a file, independent of its path.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::escape::shown;
use crate::streams;

/// The device and inode of a file. Hard links, symbolic links and other paths to the file have the same identity.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// The path of a file, with links resolved.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId(std::path::PathBuf);

impl FileId {
    /// Returns the identity of the file at `path`; `None` for a file without content to overwrite, such as a pipe, a
    /// terminal or `/dev/null`.
    #[cfg(unix)]
    pub(super) fn new(_: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let keeps = metadata.is_file() || metadata.is_dir() || metadata.file_type().is_block_device();
        keeps.then(|| Self { device: metadata.dev(), inode: metadata.ino() })
    }

    #[cfg(not(unix))]
    pub(super) fn new(path: &Path, metadata: &Metadata) -> Option<Self> {
        let keeps = metadata.is_file() || metadata.is_dir();
        path.canonicalize().ok().filter(|_| keeps).map(Self)
    }
}

/// A file that is read, for comparison with the files that are written.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// The name of the file in messages.
    pub(super) name: String,
    pub(super) id: Option<FileId>,
    /// The permissions of the file; `None` if it is not a regular file.
    #[cfg(unix)]
    pub(super) mode: Option<u32>,
    /// The time of the last modification, in nanoseconds since 1970; 0 for a folder, and if it is unknown.
    modified: u64,
}

impl InputFile {
    /// Describes the open file at `path`.
    pub(crate) fn new(path: &Path, metadata: &Metadata) -> Self {
        Self {
            name: shown(path).to_string(),
            id: FileId::new(path, metadata),
            #[cfg(unix)]
            mode: metadata.is_file().then(|| std::os::unix::fs::MetadataExt::mode(metadata) & 0o777),
            modified: metadata.modified().ok().filter(|_| metadata.is_file()).map_or(0, nanoseconds),
        }
    }

    /// Returns the time of the last modification, in nanoseconds since 1970; 0 for a folder, and if it is unknown.
    pub(crate) fn modified(&self) -> u64 {
        self.modified
    }

    /// Leaves out the time of the last modification.
    pub(crate) fn without_time(self) -> Self {
        Self { modified: 0, ..self }
    }

    /// Describes standard input; `None` if it is not a file.
    pub(crate) fn stdin() -> Option<Self> {
        // The caller of `run` may have given another stream in its place.
        let stdin = stream(&io::stdin()).filter(|_| streams::are_of_process())?;
        let metadata = stdin.metadata().ok()?;
        Some(Self::new(Path::new("standard input"), &metadata))
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0)
}

/// Returns the identities of standard output and standard error; `None` for each that is not a file.
pub(super) fn standard_outputs() -> [Option<FileId>; 2] {
    let id = |file: Option<std::fs::File>| FileId::new(Path::new("-"), &file?.metadata().ok()?);
    [id(stream(&io::stdout())), id(stream(&io::stderr()))]
}

/// Duplicates a standard stream as a file.
#[cfg(unix)]
fn stream(stream: &impl std::os::fd::AsFd) -> Option<std::fs::File> {
    stream.as_fd().try_clone_to_owned().ok().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn stream<T>(_: &T) -> Option<std::fs::File> {
    None
}

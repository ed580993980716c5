//! Which file a file is, whatever it is called.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use crate::render::escape::shown;

/// A file, by its device and inode: hard links, symbolic links and other paths to it have the same.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// A file, by its path without links.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId(std::path::PathBuf);

impl FileId {
    /// That of the file at `path`; `None` for one that holds nothing which could be overwritten: a pipe, a terminal,
    /// `/dev/null`.
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

/// A file that is read, to be held against those that are written.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// What messages call it.
    pub(super) name: String,
    pub(super) id: Option<FileId>,
    /// Its permissions; `None` of what is no regular file.
    #[cfg(unix)]
    pub(super) mode: Option<u32>,
}

impl InputFile {
    /// The file at `path`, which is open.
    pub(crate) fn new(path: &Path, metadata: &Metadata) -> Self {
        Self {
            name: shown(path).to_string(),
            id: FileId::new(path, metadata),
            #[cfg(unix)]
            mode: metadata.is_file().then(|| std::os::unix::fs::MetadataExt::mode(metadata) & 0o777),
        }
    }

    /// Standard input, where that is a file.
    pub(crate) fn stdin() -> Option<Self> {
        let metadata = stream(&io::stdin())?.metadata().ok()?;
        Some(Self::new(Path::new("standard input"), &metadata))
    }
}

/// What standard output and standard error are, where they are files.
pub(super) fn standard_outputs() -> [Option<FileId>; 2] {
    let id = |file: Option<std::fs::File>| FileId::new(Path::new("-"), &file?.metadata().ok()?);
    [id(stream(&io::stdout())), id(stream(&io::stderr()))]
}

/// A standard stream as a file of its own.
#[cfg(unix)]
fn stream(stream: &impl std::os::fd::AsFd) -> Option<std::fs::File> {
    stream.as_fd().try_clone_to_owned().ok().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn stream<T>(_: &T) -> Option<std::fs::File> {
    None
}

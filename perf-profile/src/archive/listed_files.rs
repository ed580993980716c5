//! The files of an unpacked archive, by the paths of the recording machine.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use perf_session::{BuildId, Inode};
use perf_symbol::{BuildIdFile, Cancellation, FileBytes, Files, SymbolOptions};

use super::file_list::ListedFile;
use super::read_log::VDSOS;

/// Answers for the recording machine with the files of an archive. Files of this machine are read only at the paths that the user
/// or a server gave.
pub(super) struct ListedFiles {
    files: Arc<dyn Files>,
    /// The folder with the entries.
    folder: PathBuf,
    list: HashMap<PathBuf, ListedFile>,
    /// Files and folders of this machine.
    given: Vec<PathBuf>,
    /// Files that were fetched.
    fetched: Mutex<Vec<PathBuf>>,
}

impl ListedFiles {
    /// Adds the folder with the entries to [`SymbolOptions::debug_dirs`]. The files and folders of the options are given.
    pub(super) fn new(
        files: Arc<dyn Files>,
        folder: PathBuf,
        list: HashMap<PathBuf, ListedFile>,
        options: &mut SymbolOptions,
    ) -> Self {
        options.debug_dirs.push(folder.clone());
        let SymbolOptions { symfs, debug_dirs, cache, vmlinux, kallsyms, .. } = &*options;
        let given = [symfs, cache, vmlinux, kallsyms].into_iter().flatten().chain(debug_dirs).cloned();
        let given = given.chain(["/usr/lib/debug/.build-id".into()]).collect();
        Self { files, folder, list, given, fetched: Mutex::default() }
    }

    /// Returns whether a path is one of this machine.
    fn is_given(&self, path: &Path) -> bool {
        let is_fetched =
            || self.fetched.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|it| it == path);
        let is_straight = !path.components().any(|part| part == Component::ParentDir);
        self.given.iter().any(|given| path.starts_with(given) && is_straight) || is_fetched()
    }

    fn entry(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let entry = self.list.get(path).and_then(|file| file.entry.as_ref());
        self.files.read(&self.folder.join(entry.ok_or(io::ErrorKind::NotFound)?), limit)
    }
}

impl Files for ListedFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        if self.is_given(path) { self.files.read(path, limit) } else { self.entry(path, limit) }
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        if self.is_given(path) { self.files.inode(path) } else { self.list.get(path)?.inode }
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        if self.is_given(path) { self.files.modified(path) } else { self.list.get(path)?.modified }
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        if self.is_given(path) { self.files.read_kernel(path, limit) } else { self.entry(path, limit) }
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        if self.is_given(path) {
            self.files.read_range(path, range)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.entry(Path::new(VDSOS[0]), u64::MAX)
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        self.entry(Path::new(VDSOS[1]), u64::MAX)
    }

    fn can_fetch(&self) -> bool {
        self.files.can_fetch()
    }

    fn fetch(
        &self,
        id: BuildId,
        wanted: BuildIdFile,
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let path = self.files.fetch(id, wanted, limit, cancellation)?;
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(path)
    }

    fn fetch_source(
        &self,
        id: BuildId,
        path: &[u8],
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let path = self.files.fetch_source(id, path, limit, cancellation)?;
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(path)
    }
}

//! A source of files that notes what is read from it.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use perf_session::{BuildId, Inode};
use perf_symbol::{BuildIdFile, Cancellation, FileBytes, Files};

/// The paths under which the vDSOs of this process are noted.
pub(super) const VDSOS: [&str; 2] = ["[vdso]", "[vdso32]"];

/// What was read at a path.
#[derive(Clone, Debug, Default)]
pub(super) struct FileReading {
    /// `None` if only its inode or its time was asked for.
    pub(super) bytes: Option<FileBytes>,
    pub(super) inode: Option<Inode>,
    pub(super) modified: Option<SystemTime>,
}

/// Files that are noted by their paths when they are read.
pub(super) struct ReadLog {
    files: Arc<dyn Files>,
    readings: Mutex<BTreeMap<PathBuf, FileReading>>,
}

impl ReadLog {
    pub(super) fn new(files: Arc<dyn Files>) -> Self {
        Self { files, readings: Mutex::default() }
    }

    /// Takes what was read so far.
    pub(super) fn take(&self) -> BTreeMap<PathBuf, FileReading> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, FileReading>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, path: &Path, read: io::Result<FileBytes>) -> io::Result<FileBytes> {
        let bytes = read?;
        self.lock().entry(path.to_owned()).or_default().bytes = Some(bytes.clone());
        Ok(bytes)
    }
}

impl Files for ReadLog {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let bytes = self.note(path, self.files.read(path, limit))?;
        // For the doubts of another reader of the archive, even if there were none here.
        self.inode(path);
        self.modified(path);
        Ok(bytes)
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        let inode = self.files.inode(path)?;
        self.lock().entry(path.to_owned()).or_default().inode = Some(inode);
        Some(inode)
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        let modified = self.files.modified(path)?;
        self.lock().entry(path.to_owned()).or_default().modified = Some(modified);
        Some(modified)
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.note(path, self.files.read_kernel(path, limit))
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        self.files.read_range(path, range)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.note(Path::new(VDSOS[0]), self.files.vdso())
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        self.note(Path::new(VDSOS[1]), self.files.vdso32())
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
        self.files.fetch(id, wanted, limit, cancellation)
    }

    fn fetch_source(
        &self,
        id: BuildId,
        path: &[u8],
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        self.files.fetch_source(id, path, limit, cancellation)
    }
}

//! Archives that are read into memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use perf_symbol::{FileBytes, Files, SymbolOptions};

use super::entries::{EntryStore, read_entries};
use super::file_list::ListedFile;
use super::limits::{ArchiveBudget, ArchiveLimits};
use super::listed_files::ListedFiles;
use super::write::CAPTURE;

/// The folder in which the files of an archive are found by build id. It is in no file system.
const FOLDER: &str = "/perfdata-archive";

/// An archive whose files are in memory, for a program without a file system, or for one that must not write.
#[derive(Clone, Debug)]
pub struct MemoryArchive {
    pub(super) files: Arc<BTreeMap<PathBuf, FileBytes>>,
    list: HashMap<PathBuf, ListedFile>,
}

impl MemoryArchive {
    /// Reads an archive. [`ArchiveLimits::bytes`] bounds its memory: files with holes on a disk are whole here.
    ///
    /// # Errors
    ///
    /// If it is no archive, is damaged, or has more than the limits.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use perf_parse::Reader;
    /// use perf_profile::Symbols;
    /// use perf_profile::archive::{ArchiveLimits, MemoryArchive};
    /// use perf_symbol::SymbolOptions;
    ///
    /// let bytes = std::fs::read("perf.data.tar.zst")?;
    /// let archive = MemoryArchive::read(&*bytes, &ArchiveLimits::default())?;
    /// let data_files = archive.data_files();
    /// let mut reader = Reader::new(data_files.first().ok_or("no capture")?)?;
    /// for data in data_files.iter().skip(1) {
    ///     reader.add_data(data);
    /// }
    /// let mut options = SymbolOptions::default();
    /// let files = archive.files(&mut options);
    /// let symbols = Symbols::with_files(reader.features(), options, files);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn read(archive: impl BufRead, limits: &ArchiveLimits) -> io::Result<Self> {
        let mut files = MemoryStore::default();
        let list = read_entries(archive, &mut files, limits)?;
        Ok(Self { files: Arc::new(files.0), list })
    }

    /// Returns the data files of the capture: one, or those of a folder in their order. Empty for an archive of `perf archive`, which
    /// has no capture.
    #[must_use]
    pub fn data_files(&self) -> Vec<FileBytes> {
        let of_capture = |name: &str| self.files.get(&Path::new(CAPTURE).join(name)).cloned();
        let others = (0..).map_while(|number| of_capture(&format!("data.{number}")));
        match self.files.get(Path::new(CAPTURE)) {
            Some(file) => vec![file.clone()],
            None => of_capture("data").into_iter().chain(others).collect(),
        }
    }

    /// Returns when the capture was written last, for [`SymbolOptions::recorded_until`]; `None` if the archive does not have it.
    #[must_use]
    pub fn written(&self) -> Option<SystemTime> {
        let data = || self.list.get(&Path::new(CAPTURE).join("data"));
        self.list.get(Path::new(CAPTURE)).or_else(data)?.modified
    }

    /// Returns the files of the archive at the paths that they had on the recording machine, with inodes and times. Adds the place
    /// of those that have a build id to [`SymbolOptions::debug_dirs`]. No file of this machine is read.
    #[must_use]
    pub fn files(&self, options: &mut SymbolOptions) -> Arc<dyn Files> {
        let files = Arc::new(MemoryFolder(Arc::clone(&self.files)));
        Arc::new(ListedFiles::new(files, FOLDER.into(), self.list.clone(), options))
    }
}

/// The files of an archive by their names in it.
#[derive(Default)]
struct MemoryStore(BTreeMap<PathBuf, FileBytes>);

impl EntryStore for MemoryStore {
    type File = FileBytes;

    fn store(
        &mut self,
        _: usize,
        entry: &mut dyn Read,
        budget: &mut ArchiveBudget<'_>,
    ) -> io::Result<FileBytes> {
        let mut bytes = Vec::new();
        budget.read(entry, |block| {
            bytes.extend_from_slice(block);
            Ok(())
        })?;
        Ok(FileBytes::new(bytes))
    }

    fn place(&mut self, file: &FileBytes, name: &Path, _: &mut ArchiveBudget<'_>) -> io::Result<()> {
        self.0.insert(name.to_owned(), file.clone());
        Ok(())
    }

    fn size(&self, file: &FileBytes) -> io::Result<u64> {
        Ok(file.len() as u64)
    }

    fn content<'f>(&self, file: &'f FileBytes) -> io::Result<Cow<'f, [u8]>> {
        Ok(Cow::Borrowed(file))
    }

    /// The list has the times.
    fn set_modified(&mut self, _: &Path, _: SystemTime) -> io::Result<()> {
        Ok(())
    }
}

/// The files of an archive below [`FOLDER`].
struct MemoryFolder(Arc<BTreeMap<PathBuf, FileBytes>>);

impl Files for MemoryFolder {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let name = path.strip_prefix(FOLDER).map_err(|_| io::ErrorKind::NotFound)?;
        self.0.get(name).ok_or(io::ErrorKind::NotFound)?.clone().within(limit)
    }
}

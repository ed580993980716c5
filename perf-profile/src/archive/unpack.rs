//! Archives that are unpacked to a folder.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use perf_symbol::{Files, SymbolOptions};

use super::entries::{EntryStore, read_entries};
use super::file_list::ListedFile;
use super::limits::{ArchiveBudget, ArchiveLimits};
use super::listed_files::ListedFiles;
use super::write::CAPTURE;

/// An archive that was unpacked to a folder.
#[derive(Debug)]
pub struct UnpackedArchive {
    folder: PathBuf,
    pub(super) list: HashMap<PathBuf, ListedFile>,
}

impl UnpackedArchive {
    /// Returns the folder. It has the files by build id, as `~/.debug` has.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the capture, a file or a folder; `None` for an archive of `perf archive`, which has none.
    #[must_use]
    pub fn capture(&self) -> Option<PathBuf> {
        Some(self.folder.join(CAPTURE)).filter(|path| path.exists())
    }

    /// Returns the files of the archive at the paths that they had on the recording machine, with inodes and times. Adds the folder
    /// to [`SymbolOptions::debug_dirs`]. The files of this machine, which `files` has, are read only below the folders and at the
    /// paths of `options`, by build id, and if they were fetched. What this machine runs is not used.
    #[must_use]
    pub fn files(&self, files: Arc<dyn Files>, options: &mut SymbolOptions) -> Arc<dyn Files> {
        Arc::new(ListedFiles::new(files, self.folder.clone(), self.list.clone(), options))
    }
}

/// Unpacks an archive into a folder, which must be empty and belong to the caller alone. Links are not followed and not made;
/// entries that lead out of the folder are left out.
///
/// # Errors
///
/// If it is no archive, is damaged, or has more than the limits; if the folder cannot be written.
///
/// # Examples
///
/// ```no_run
/// use std::{fs, io};
/// use std::sync::Arc;
///
/// use perf_profile::archive::{ArchiveLimits, unpack};
/// use perf_symbol::{ReadFiles, SymbolOptions};
///
/// fs::create_dir("unpacked")?;
/// let file = io::BufReader::new(fs::File::open("perf.data.tar.zst")?);
/// let archive = unpack(file, "unpacked".as_ref(), &ArchiveLimits::default())?;
/// let capture = archive.capture().ok_or(io::ErrorKind::NotFound)?;
/// let mut options = SymbolOptions::default();
/// // For `Symbols::with_files`.
/// let files = archive.files(Arc::new(ReadFiles), &mut options);
/// # let _ = (capture, files);
/// # Ok::<(), io::Error>(())
/// ```
pub fn unpack(archive: impl BufRead, folder: &Path, limits: &ArchiveLimits) -> io::Result<UnpackedArchive> {
    let mut unpacked = UnpackFolder { path: folder, link: |from, to| fs::hard_link(from, to) };
    let list = read_entries(archive, &mut unpacked, limits)?;
    Ok(UnpackedArchive { folder: folder.to_owned(), list })
}

/// The folder that an archive is unpacked to.
pub(super) struct UnpackFolder<'a> {
    pub(super) path: &'a Path,
    /// Gives a file another name. Some file systems cannot, and some can no more than 65,000 times.
    pub(super) link: fn(&Path, &Path) -> io::Result<()>,
}

impl EntryStore for UnpackFolder<'_> {
    type File = PathBuf;

    /// Writes a file, whose blocks of zeros become holes.
    fn store(
        &mut self,
        number: usize,
        entry: &mut dyn Read,
        budget: &mut ArchiveBudget<'_>,
    ) -> io::Result<PathBuf> {
        let path = self.path.join(number.to_string());
        let mut file = File::create_new(&path)?;
        let mut size = 0_u64;
        budget.read(entry, |block| {
            size = size.saturating_add(block.len() as u64);
            match block.iter().all(|&byte| byte == 0) {
                true => file.seek(SeekFrom::Start(size)).map(drop),
                false => file.write_all(block),
            }
        })?;
        file.set_len(size)?;
        Ok(path)
    }

    fn place(&mut self, from: &PathBuf, name: &Path, budget: &mut ArchiveBudget<'_>) -> io::Result<()> {
        let mut folder = self.path.to_owned();
        for part in name.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            // `create_dir_all` would also create the folder of the archive again that was removed to end the unpacking.
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let name = self.path.join(name);
        if (self.link)(from, &name).is_err() {
            budget.take(fs::metadata(from)?.len())?;
            fs::copy(from, &name)?;
        }
        Ok(())
    }

    fn size(&self, file: &PathBuf) -> io::Result<u64> {
        Ok(fs::metadata(file)?.len())
    }

    fn content<'f>(&self, file: &'f PathBuf) -> io::Result<Cow<'f, [u8]>> {
        fs::read(file).map(Cow::Owned)
    }

    fn set_modified(&mut self, name: &Path, modified: SystemTime) -> io::Result<()> {
        File::options().write(true).open(self.path.join(name))?.set_modified(modified)
    }
}

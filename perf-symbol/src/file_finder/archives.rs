//! Libraries in archives.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use perf_session::{BuildId, Dso, DsoKind, Mapping};

use super::FileFinder;
use super::build_ids::checked;
use crate::archive::{self, ZipArchive};
use crate::decompressed::lock;
use crate::files::{below, path_of};
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
use crate::reservation::Reservation;

/// The archives that were read, and the libraries in them that are mapped.
#[derive(Debug, Default)]
pub(crate) struct Archives {
    read: Mutex<HashMap<PathBuf, Result<Arc<KeptArchive>, NoSymbols>>>,
    /// Each library once, as DSOs are compared by their addresses.
    libraries: Mutex<HashMap<LibraryPlace, Arc<Dso>>>,
}

/// The DSO of an archive, and an offset there.
type LibraryPlace = (Arc<Dso>, u64);

/// An archive, and the memory that its directory takes.
#[derive(Debug)]
struct KeptArchive {
    archive: ZipArchive,
    _reservation: Reservation,
}

/// The maximum number of archives that are read, and of libraries.
const MAX_ARCHIVES: usize = 4096;
const MAX_LIBRARIES: usize = 1 << 16;

impl FileFinder {
    /// Reads a file: that of a path `APK!/PATH` in its archive, if there is no other.
    pub(super) fn open_at(&self, path: &Path, build_id: Option<BuildId>) -> Result<ElfImage, NoSymbols> {
        match (self.open(path, build_id), archive::split(path)) {
            (Err(NoSymbols::NotFound), Some((archive, inner))) => {
                checked(ElfImage::parse(self.archive(&archive)?.archive.file(inner)?)?, build_id)
            }
            (result, _) => result,
        }
    }

    /// Returns the path of the file that has the bytes of a path: its archive, for a path `APK!/PATH`.
    pub(crate) fn path_on_disk(&self, path: &Path) -> PathBuf {
        let archive = archive::split(path).map(|(archive, _)| archive);
        archive.filter(|it| matches!(lock(&self.archives.read).get(it), Some(Ok(_)))).unwrap_or(path.into())
    }

    /// Returns whether a DSO is an archive. [`library`](Self::library) finds the files in it.
    pub(crate) fn is_archive(&self, dso: &Dso) -> bool {
        may_be_archive(dso) && self.archive_of(dso).is_ok()
    }

    /// Returns the mapping of the library in an archive that a mapping of the archive maps: of `APK!/PATH` with an offset there,
    /// as simpleperf records it. `None` if the mapping is of no archive, or of no library.
    ///
    /// simpleperf: `UpdateMmapRecordForEmbeddedPath`, `system/extras/simpleperf/cmd_record.cpp`.
    pub(crate) fn library(&self, mapping: &Mapping) -> Option<Mapping> {
        let archive = mapping.dso();
        // An archive starts with no library.
        if mapping.pgoff() == 0 || !may_be_archive(archive) {
            return None;
        }
        let kept = self.archive_of(archive).ok()?;
        let library = kept.archive.library_at(mapping.pgoff())?;
        let mut libraries = lock(&self.archives.libraries);
        let key = (Arc::clone(archive), library.start);
        let dso = match libraries.get(&key) {
            Some(dso) => Arc::clone(dso),
            None if libraries.len() < MAX_LIBRARIES => {
                let dso = Arc::new(archive.stored(library.name));
                libraries.insert(key, Arc::clone(&dso));
                dso
            }
            None => return None,
        };
        mapping.of_stored(&dso, library.start)
    }

    fn archive_of(&self, dso: &Dso) -> Result<Arc<KeptArchive>, NoSymbols> {
        let path = path_of(dso.path());
        let path = match &self.options.symfs {
            Some(root) => below(root, &path).ok_or(NoSymbols::NotFound)?,
            None => path,
        };
        self.archive(&path)
    }

    /// Reads the directory of an archive, once.
    fn archive(&self, path: &Path) -> Result<Arc<KeptArchive>, NoSymbols> {
        let mut read = lock(&self.archives.read);
        if let Some(result) = read.get(path) {
            return result.clone();
        }
        if read.len() >= MAX_ARCHIVES {
            return Err(NoSymbols::NoRoom);
        }
        let result = self.read(path).and_then(ZipArchive::parse).and_then(|archive| {
            let _reservation = self.reserve(archive.size())?;
            Ok(Arc::new(KeptArchive { archive, _reservation }))
        });
        if !matches!(result, Err(NoSymbols::Cancelled)) {
            read.insert(path.into(), result.clone());
        }
        result
    }
}

fn may_be_archive(dso: &Dso) -> bool {
    dso.kind() == DsoKind::File && archive::has_name(dso.path())
}

//! The search for the files of a capture.

mod archives;
mod build_ids;
mod debug_files;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use perf_session::{BuildId, Dso, FirstMapping, Inode};

use self::archives::Archives;
use self::build_ids::{ById, checked};
use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::decompress;
use crate::doubt::Doubt;
use crate::dso_files::{DsoFiles, FoundFile};
use crate::file_origin::FileOrigin;
use crate::files::{BuildIdFile, Files, below, path_of};
use crate::image::ElfImage;
use crate::live::{self, LivePlaces, Processes};
use crate::no_symbols::NoSymbols;
use crate::options::SymbolOptions;
use crate::reservation::{MemorySum, Reservation, ReservedBytes};

pub(crate) use self::build_ids::same_id;

/// Finds files by build id and by path, and verifies them.
#[derive(Clone)]
pub struct FileFinder {
    files: Arc<dyn Files>,
    options: Arc<SymbolOptions>,
    processes: Arc<Processes>,
    archives: Arc<Archives>,
    memory: Arc<MemorySum>,
    /// Number of bytes that caches of functions get.
    fresh_bytes: Arc<AtomicU64>,
    cancellation: Cancellation,
    is_for_unwinding: bool,
}

impl std::fmt::Debug for FileFinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileFinder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl FileFinder {
    /// Makes a finder of files.
    #[must_use]
    pub fn new(files: Arc<dyn Files>, options: Arc<SymbolOptions>) -> Self {
        let memory = Arc::new(MemorySum::new(options.limits.total));
        let (processes, archives, cancellation) = (Arc::default(), Arc::default(), Cancellation::default());
        let (fresh_bytes, is_for_unwinding) = (Arc::default(), false);
        Self { files, options, processes, archives, memory, fresh_bytes, cancellation, is_for_unwinding }
    }

    /// Returns a finder of the same files whose reading a flag ends. What was not read then is reported as
    /// [`NoSymbols::Cancelled`], or as not found.
    #[must_use]
    pub fn with_cancellation(&self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self.clone() }
    }

    /// Returns a finder of the same files for unwinding: it fetches no debug file of an image that has unwind tables.
    pub(crate) fn for_unwinding(&self) -> Self {
        Self { is_for_unwinding: true, ..self.clone() }
    }

    /// Returns whether files may come from elsewhere: see [`Files::can_fetch`].
    #[must_use]
    pub fn can_fetch(&self) -> bool {
        self.files.can_fetch()
    }

    /// Returns the flag that ends reading.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Returns the bounds within which files are read.
    pub(crate) fn bounds(&self) -> ReadBounds<'_> {
        ReadBounds::new(&self.options.limits, &self.cancellation)
    }

    /// Returns the number of bytes that caches of functions get, which all of them add to.
    pub(crate) fn fresh_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.fresh_bytes)
    }

    /// Reserves memory for what is kept of a file.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation, NoSymbols> {
        self.memory.reserve(bytes as u64)
    }

    /// Reads a file that is not ELF, such as a text.
    pub(crate) fn read(&self, path: &Path) -> Result<FileBytes, NoSymbols> {
        self.read_by(|limit| self.files.read(path, limit))
    }

    /// Reads bytes by `read`, which gets the largest number that it may return, and reserves the memory for them.
    pub(crate) fn read_by(
        &self,
        read: impl FnOnce(u64) -> io::Result<FileBytes>,
    ) -> Result<FileBytes, NoSymbols> {
        let (bytes, _reservation) = self.read_reserved(read)?;
        Ok(FileBytes::new(ReservedBytes { bytes, _reservation }))
    }

    fn read_reserved(
        &self,
        read: impl FnOnce(u64) -> io::Result<FileBytes>,
    ) -> Result<(FileBytes, Reservation), NoSymbols> {
        if self.cancellation.is_cancelled() {
            return Err(NoSymbols::Cancelled);
        }
        let (limit, room) = (self.options.limits.file, self.memory.room());
        let bytes = read(limit.min(room)).map_err(|error| match why(&error) {
            NoSymbols::TooLarge if room < limit => NoSymbols::NoRoom,
            why => why,
        })?;
        let reservation = self.reserve(bytes.len())?;
        Ok((bytes, reservation))
    }

    /// Returns the files.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &Arc<SymbolOptions> {
        &self.options
    }

    /// Finds the file of a DSO of the host, and its debug files: as [`find`](Self::find) does, and in a process that still runs
    /// and has mapped it, which may be in another mount namespace, or have a file that was replaced or deleted.
    ///
    /// A file of a process is used if it has the recorded build id, or else device and inode. Without a build id, it is also used
    /// if the process has now mapped it by the recorded path at the recorded address; this alone is
    /// [doubtful](DsoFiles::doubt), as some file systems report other devices to `perf_event_open` than to `stat`.
    #[must_use]
    pub fn find_mapped(&self, dso: &Dso, build_id: Option<BuildId>) -> DsoFiles {
        self.find_at(dso.path(), build_id, dso.inode(), dso.first_mapping())
    }

    /// Finds the file that was mapped, and its debug files: by build id in the folders of [`SymbolOptions`], then at its path.
    ///
    /// A file whose build id is not the recorded one is not used. Costs reading each candidate once.
    #[must_use]
    pub fn find(&self, path: &[u8], build_id: Option<BuildId>, inode: Option<Inode>) -> DsoFiles {
        self.find_at(path, build_id, inode, None)
    }

    fn find_at(
        &self,
        path: &[u8],
        build_id: Option<BuildId>,
        inode: Option<Inode>,
        first: Option<FirstMapping>,
    ) -> DsoFiles {
        let mut found = DsoFiles::default();
        let by_id = build_id.map_or(Err(NoSymbols::NotFound), |id| self.by_build_id(id, ById::Image));
        let at_path = |by_id: NoSymbols| match self.at_path(path, build_id) {
            Err(NoSymbols::NotFound) => Err(by_id),
            result => result,
        };
        let mut result = by_id.or_else(at_path).map(|file| {
            let doubt = if build_id.is_none() { self.doubt(&file.path, inode) } else { None };
            (file, doubt)
        });
        if !matches!(result, Ok((_, None))) {
            let known =
                result.as_ref().ok().and_then(|(file, _)| self.files.inode(&self.path_on_disk(&file.path)));
            let live = first.and_then(|first| self.of_process((path, first), build_id, inode, known));
            result = live.map_or(result, Ok);
        }
        match result.or_else(|why| Ok((self.fetch(build_id, BuildIdFile::Executable, why)?, None))) {
            Ok((file, doubt)) => {
                found.set_image(file);
                found.doubt = doubt;
            }
            Err(why) => found.why = Some(why),
        }
        self.add_debug_files(&mut found, build_id);
        if found.debug.is_some() {
            found.why = None;
        }
        found
    }

    /// Finds the file of a mapping in the process that has mapped it, if the process still runs, and why it is doubtful. `None`
    /// for the file that is `known`.
    fn of_process(
        &self,
        (path, first): (&[u8], FirstMapping),
        build_id: Option<BuildId>,
        recorded: Option<Inode>,
        known: Option<Inode>,
    ) -> Option<(FoundFile, Option<Doubt>)> {
        let places = self.live_places((path, first))?;
        places.paths.into_iter().find_map(|path| {
            let inode = self.files.inode(&path);
            let is_recorded = live::is_same(recorded, inode);
            let is_usable = build_id.is_some() || is_recorded || live::is_same(places.mapped, inode);
            if !is_usable || live::is_same(known, inode) {
                return None;
            }
            let image = self.open(&path, build_id).ok()?;
            let is_proven = build_id.is_some() || is_recorded;
            let file = FoundFile { image, path, origin: FileOrigin::Process };
            Some((file, (!is_proven).then_some(Doubt::Unproven)))
        })
    }

    /// Returns the places of a file in the process that has mapped it; `None` if only files below a folder are used.
    fn live_places(&self, file: (&[u8], FirstMapping)) -> Option<LivePlaces> {
        let SymbolOptions { symfs, limits, .. } = &*self.options;
        symfs.is_none().then(|| live::places(&self.processes, &*self.files, file, limits.file))
    }

    /// Returns the path of a file that is not ELF: at the recorded path, unless the process that has mapped it runs and has it
    /// elsewhere. `None` for a path that leads out of the folder of all files.
    fn path_of_mapped(&self, dso: &Dso) -> Option<PathBuf> {
        let path = path_of(dso.path());
        if let Some(root) = &self.options.symfs {
            return below(root, &path);
        }
        if live::is_same(dso.inode(), self.files.inode(&path)) {
            return Some(path);
        }
        let places = dso.first_mapping().and_then(|first| self.live_places((dso.path(), first)));
        let LivePlaces { paths, mapped } = places.unwrap_or_default();
        let is_it = |path: &PathBuf| {
            let inode = self.files.inode(path);
            live::is_same(dso.inode(), inode) || live::is_same(mapped, inode)
        };
        Some(paths.into_iter().find(is_it).unwrap_or(path))
    }

    /// Reads the jitdump that a process has mapped, the DSO of [`Maps::jitdump`](perf_session::Maps::jitdump).
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn jitdump(&self, dso: &Dso) -> Result<FileBytes, NoSymbols> {
        self.read(&self.path_of_mapped(dso).ok_or(NoSymbols::NotFound)?)
    }

    /// Reads the perf map of the process that generated code: of a DSO of the kind [`DsoKind::Memory`](perf_session::DsoKind::Memory).
    /// A process in a container names it by its number there, in a `/tmp` of its own: such a map is found while the process runs.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn perf_map(&self, dso: &Dso) -> Result<FileBytes, NoSymbols> {
        self.perf_map_at(dso).map(|(text, ..)| text)
    }

    /// Reads the perf map of a process, and returns where it is.
    pub(crate) fn perf_map_at(&self, dso: &Dso) -> Result<(FileBytes, PathBuf, FileOrigin), NoSymbols> {
        let mut result = Err(NoSymbols::NotFound);
        for (path, origin) in self.perf_maps(dso) {
            match self.read(&path) {
                Ok(text) => return Ok((text, path, origin)),
                Err(why) => result = Err(why),
            }
        }
        result
    }

    /// Returns the places of the map of a process's generated code, the best one first: that of the process itself, if it
    /// runs and is the recorded one, and the recorded one.
    fn perf_maps(&self, dso: &Dso) -> Vec<(PathBuf, FileOrigin)> {
        let path = path_of(dso.name());
        if let Some(root) = &self.options.symfs {
            return below(root, &path).map(|path| (path, FileOrigin::Path)).into_iter().collect();
        }
        let limit = self.options.limits.file;
        let of_process = |first| live::perf_map(&self.processes, &*self.files, first, limit);
        let own = dso.first_mapping().and_then(of_process);
        // Most processes share the folder.
        let own = own.filter(|own| !live::is_same(self.files.inode(own), self.files.inode(&path)));
        let own = own.map(|own| (own, FileOrigin::Process));
        own.into_iter().chain([(path, FileOrigin::Path)]).collect()
    }

    /// Returns why the file at a path may not be the one that was mapped, without a build id. Below the root of another
    /// machine, inodes and times are those of a copy.
    fn doubt(&self, at: &Path, recorded: Option<Inode>) -> Option<Doubt> {
        let at = &*self.path_on_disk(at);
        if self.options.symfs.is_some() {
            return Some(Doubt::Unproven);
        }
        let modified = self.options.recorded_until.zip(self.files.modified(at));
        if modified.is_some_and(|(end, modified)| modified > end) {
            return Some(Doubt::Modified);
        }
        let Some((recorded, file)) = recorded.zip(self.files.inode(at)) else { return Some(Doubt::Unproven) };
        // The numbers of a file on overlayfs or btrfs are not those that the kernel records.
        if (recorded.maj, recorded.min) != (file.maj, file.min) {
            return Some(Doubt::Unproven);
        }
        (!live::is_same(Some(recorded), Some(file))).then_some(Doubt::Replaced)
    }

    /// Finds the vDSO, by its name `[vdso]` or `[vdso32]`: in perf's cache, or the one of the running kernel if its build id
    /// is the recorded one.
    #[must_use]
    pub fn vdso(&self, name: &[u8], build_id: Option<BuildId>) -> DsoFiles {
        let mut found = DsoFiles::default();
        let by_id = build_id.and_then(|id| self.by_build_id(id, ById::Vdso).ok());
        let running = || {
            if self.options.symfs.is_some() {
                return Err(NoSymbols::NotFound);
            }
            let bytes = if name == b"[vdso]" { self.files.vdso() } else { self.files.vdso32() };
            let image = ElfImage::parse(bytes.map_err(|error| why(&error))?)?;
            let image = checked(image, build_id)?;
            Ok(FoundFile { image, path: path_of(name), origin: FileOrigin::Running })
        };
        match by_id.map_or_else(running, Ok) {
            Ok(file) => {
                found.set_image(file);
                found.doubt = build_id.is_none().then_some(Doubt::Unproven);
            }
            Err(why) => found.why = Some(why),
        }
        self.add_debug_files(&mut found, build_id);
        found
    }

    /// Reads a file as an image, decompressed if it is compressed, and checks its build id.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn open(&self, path: &Path, build_id: Option<BuildId>) -> Result<ElfImage, NoSymbols> {
        let limit = self.options.limits.decompressed;
        let (mut bytes, mut reservation) = self.read_reserved(|limit| self.files.read(path, limit))?;
        if let Some(decompressed) = decompress::file(&bytes, limit, &self.cancellation) {
            bytes = FileBytes::new(decompressed?);
            reservation = self.reserve(bytes.len())?;
        }
        Ok(checked(ElfImage::parse(bytes)?, build_id)?.reserved(reservation))
    }

    /// The file at its path.
    pub(crate) fn at_path(&self, path: &[u8], build_id: Option<BuildId>) -> Result<FoundFile, NoSymbols> {
        let path = path_of(path);
        let at = match &self.options.symfs {
            Some(root) => below(root, &path),
            None => path.has_root().then_some(path),
        };
        let at = at.ok_or(NoSymbols::NotFound)?;
        Ok(FoundFile { image: self.open_at(&at, build_id)?, path: at, origin: FileOrigin::Path })
    }

    /// Gets a file from elsewhere. If there is none, the reason is `why`, or that it could not be fetched.
    pub(crate) fn fetch(
        &self,
        id: Option<BuildId>,
        wanted: BuildIdFile,
        why: NoSymbols,
    ) -> Result<FoundFile, NoSymbols> {
        let Some(id) = id.filter(|_| !self.cancellation.is_cancelled()) else { return Err(why) };
        let path = match self.files.fetch(id, wanted, self.options.limits.file, &self.cancellation) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(why),
            Err(_) if self.cancellation.is_cancelled() => return Err(NoSymbols::Cancelled),
            Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => return Err(NoSymbols::FetchLimit),
            Err(error) => return Err(NoSymbols::NotFetched(error.kind())),
        };
        Ok(FoundFile { image: self.open(&path, Some(id))?, path, origin: FileOrigin::Fetched })
    }
}

/// Returns why a file cannot be used that cannot be read.
fn why(error: &io::Error) -> NoSymbols {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => {
            NoSymbols::NotFound
        }
        io::ErrorKind::FileTooLarge => NoSymbols::TooLarge,
        kind => NoSymbols::Unreadable(kind),
    }
}

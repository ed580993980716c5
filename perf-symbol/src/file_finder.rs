//! The search for the files of a capture.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_session::{BuildId, Dso, FirstMapping, Inode};

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::debug_link::{self, DebugLink};
use crate::decompress;
use crate::doubt::Doubt;
use crate::elf_symbols;
use crate::file_origin::FileOrigin;
use crate::files::{BuildIdFile, Files, below, path_of};
use crate::image::ElfImage;
use crate::live::{self, LivePlaces, Processes};
use crate::no_symbols::NoSymbols;
use crate::options::SymbolOptions;
use crate::reservation::{MemorySum, Reservation, ReservedBytes};
use crate::symtab::NameSource;

/// The files that have the code, the symbols and the DWARF of one mapped file.
#[derive(Clone, Debug, Default)]
pub struct DsoFiles {
    /// The file that was mapped, or one of the same build id; `None` if only its debug file was found.
    pub image: Option<Arc<ElfImage>>,
    /// The path at which [`image`](Self::image) was found.
    pub path: PathBuf,
    /// How [`image`](Self::image) was found; `None` if it was not.
    pub origin: Option<FileOrigin>,
    /// Its separate debug file.
    pub debug: Option<Arc<ElfImage>>,
    /// The path at which [`debug`](Self::debug) was found.
    pub debug_path: PathBuf,
    /// How [`debug`](Self::debug) was found; `None` if it was not.
    pub debug_origin: Option<FileOrigin>,
    /// What `.gnu_debugdata` has: symbols that are in no other table.
    pub mini: Option<Arc<ElfImage>>,
    /// The file that several debug files share, as `dwz` makes it.
    pub shared: Option<Arc<ElfImage>>,
    /// Why this may not be the file that was mapped; `None` if its build id or its inode is the recorded one.
    pub doubt: Option<Doubt>,
    /// Why there is no image and no debug file; `None` if there is one.
    pub why: Option<NoSymbols>,
}

/// A file that was found.
pub(crate) struct FoundFile {
    pub(crate) image: ElfImage,
    /// The path at which it was found.
    pub(crate) path: PathBuf,
    /// How it was found.
    pub(crate) origin: FileOrigin,
}

impl DsoFiles {
    /// Sets the file that was mapped.
    pub(crate) fn set_image(&mut self, FoundFile { image, path, origin }: FoundFile) {
        (self.image, self.path, self.origin) = (Some(Arc::new(image)), path, Some(origin));
    }

    /// Returns the file whose DWARF is to be read, and its path; `None` if none has any.
    #[must_use]
    pub fn dwarf(&self) -> Option<(&Arc<ElfImage>, &Path)> {
        let debug = self.debug.as_ref().map(|image| (image, &*self.debug_path));
        let image = self.image.as_ref().map(|image| (image, &*self.path));
        debug.into_iter().chain(image).find(|(image, _)| has_dwarf(image))
    }

    /// Returns how the file was found that has the names of a source.
    pub(crate) fn origin_of(&self, source: NameSource) -> Option<FileOrigin> {
        let is_in_debug = |has: fn(&ElfImage) -> bool| self.debug.as_ref().is_some_and(|debug| has(debug));
        let is_debug = match source {
            NameSource::Symtab => is_in_debug(elf_symbols::has_symtab),
            NameSource::Dwarf => is_in_debug(has_dwarf),
            _ => false,
        };
        if is_debug { self.debug_origin } else { self.origin }
    }
}

/// Finds files by build id and by path, and verifies them.
#[derive(Clone)]
pub struct FileFinder {
    files: Arc<dyn Files>,
    options: Arc<SymbolOptions>,
    processes: Arc<Processes>,
    memory: Arc<MemorySum>,
    cancellation: Cancellation,
}

impl std::fmt::Debug for FileFinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileFinder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What is looked for by build id.
#[derive(Clone, Copy)]
enum ById {
    Image,
    Debug,
    Vdso,
}

impl ById {
    /// Names below `.build-id/xx`, where the rest of the build id is `rest`: those of perf's cache, then those of debug
    /// packages.
    ///
    /// perf: `build_id_cache__linkname`, `__dso__build_id_filename`, `tools/perf/util/build-id.c`.
    fn names(self, rest: &str) -> Vec<String> {
        match self {
            // Before Linux 4.5, perf's cache had the file itself.
            Self::Image => vec![format!("{rest}/elf"), rest.into()],
            Self::Debug => vec![format!("{rest}/debug"), format!("{rest}.debug")],
            Self::Vdso => vec![format!("{rest}/vdso"), rest.into()],
        }
    }
}

impl FileFinder {
    /// Makes a finder of files.
    #[must_use]
    pub fn new(files: Arc<dyn Files>, options: Arc<SymbolOptions>) -> Self {
        let memory = Arc::new(MemorySum::new(options.limits.total));
        Self { files, options, processes: Arc::default(), memory, cancellation: Cancellation::default() }
    }

    /// Returns a finder of the same files whose reading a flag ends. What was not read then is reported as
    /// [`NoSymbols::Cancelled`], or as not found.
    #[must_use]
    pub fn with_cancellation(&self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self.clone() }
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

    /// Reserves memory for what is kept of a file.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation, NoSymbols> {
        self.memory.reserve(bytes as u64)
    }

    /// Reads a file that is not ELF, such as a text.
    pub(crate) fn read(&self, path: &Path) -> Result<FileBytes, NoSymbols> {
        self.read_by(|limit| self.files.read(path, limit))
    }

    /// Reads bytes of at most so many as are given to `read`, and reserves the memory for them.
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
            let known = result.as_ref().ok().and_then(|(file, _)| self.files.inode(&file.path));
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
    pub(crate) fn path_of_mapped(&self, dso: &Dso) -> Option<PathBuf> {
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

    /// Returns the places of the map of a process's generated code, the best one first: that of the process itself, if it runs and
    /// is the recorded one, and the recorded one.
    pub(crate) fn perf_maps(&self, dso: &Dso) -> Vec<(PathBuf, FileOrigin)> {
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

    /// Adds what belongs to the image of `found`, or to the recorded build id.
    fn add_debug_files(&self, found: &mut DsoFiles, recorded: Option<BuildId>) {
        let image = found.image.clone();
        let image = image.as_deref();
        if !image.is_some_and(|image| has_dwarf(image) && image.section(".symtab").is_some()) {
            let id = recorded.or_else(|| image.and_then(ElfImage::build_id));
            let by_id = id.and_then(|id| self.by_build_id(id, ById::Debug).ok());
            let by_link = || image.and_then(|image| self.by_debug_link(image, &found.path));
            let fetched = || self.fetch(id, BuildIdFile::DebugInfo, NoSymbols::NotFound).ok();
            if let Some(FoundFile { image, path, origin }) = by_id.or_else(by_link).or_else(fetched) {
                (found.debug, found.debug_path, found.debug_origin) =
                    (Some(Arc::new(image)), path, Some(origin));
            }
        }
        let has_symtab =
            |image: &Arc<ElfImage>| image.section(".symtab").is_some_and(|section| section.has_bytes());
        if !found.debug.as_ref().is_some_and(has_symtab) {
            found.mini = image.and_then(|image| self.mini_debug_info(image)).map(Arc::new);
        }
        let shared = found.dwarf().and_then(|(image, path)| self.shared(image, path));
        found.shared = shared.map(Arc::new);
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

    /// Reads a file in perf's cache: `kallsyms` beside the kernel's build id.
    pub(crate) fn cached_text(&self, build_id: BuildId, name: &str) -> Option<FileBytes> {
        self.build_id_folders().find_map(|folder| {
            let path = build_id_path(&folder, build_id, |rest| format!("{rest}/{name}"))?;
            self.read(&path).ok()
        })
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
    fn at_path(&self, path: &[u8], build_id: Option<BuildId>) -> Result<FoundFile, NoSymbols> {
        let path = path_of(path);
        let at = match &self.options.symfs {
            Some(root) => below(root, &path),
            None => path.has_root().then_some(path),
        };
        let at = at.ok_or(NoSymbols::NotFound)?;
        Ok(FoundFile { image: self.open(&at, build_id)?, path: at, origin: FileOrigin::Path })
    }

    /// Folders that have a folder `.build-id`, or are one.
    fn build_id_folders(&self) -> impl Iterator<Item = PathBuf> {
        let options = &self.options;
        let packages = Path::new(PACKAGES);
        let (cache, packages) = match &options.symfs {
            Some(root) => (None, below(root, packages)),
            None => (options.cache.clone(), Some(packages.to_path_buf())),
        };
        options.debug_dirs.iter().cloned().chain(cache).chain(packages)
    }

    /// Finds a debug file, or a file that is not stripped, by its build id alone.
    pub(crate) fn debug_of(&self, id: BuildId) -> Option<FoundFile> {
        self.by_build_id(id, ById::Debug).or_else(|_| self.by_build_id(id, ById::Image)).ok()
    }

    /// Finds a file by its build id in the folders.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::NotFound`] if there is none. If one could not be read, why: it may be the right one.
    fn by_build_id(&self, id: BuildId, wanted: ById) -> Result<FoundFile, NoSymbols> {
        let mut result = Err(NoSymbols::NotFound);
        for folder in self.build_id_folders() {
            for name in 0..wanted.names("").len() {
                let path = build_id_path(&folder, id, |rest| wanted.names(rest).swap_remove(name));
                let Some(path) = path else { continue };
                match self.open(&path, Some(id)) {
                    Ok(image) => return Ok(FoundFile { image, path, origin: FileOrigin::BuildId }),
                    Err(
                        why @ (NoSymbols::Unreadable(_)
                        | NoSymbols::TooLarge
                        | NoSymbols::NoRoom
                        | NoSymbols::Cancelled),
                    ) => {
                        result = Err(why);
                    }
                    Err(_) => {}
                }
            }
        }
        result
    }

    /// Gets a file from elsewhere. If there is none, the reason is `why`, or that it could not be fetched.
    pub(crate) fn fetch(
        &self,
        id: Option<BuildId>,
        wanted: BuildIdFile,
        why: NoSymbols,
    ) -> Result<FoundFile, NoSymbols> {
        let Some(id) = id.filter(|_| !self.cancellation.is_cancelled()) else { return Err(why) };
        let path = match self.files.fetch(id, wanted, self.options.limits.file) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(why),
            Err(error) => return Err(NoSymbols::NotFetched(error.kind())),
        };
        Ok(FoundFile { image: self.open(&path, Some(id))?, path, origin: FileOrigin::Fetched })
    }

    /// The debug file that `.gnu_debuglink` names, checked by its checksum, and by its build id if both have one.
    fn by_debug_link(&self, image: &ElfImage, at: &Path) -> Option<FoundFile> {
        let DebugLink { name, crc } = debug_link::of(image)?;
        let name = path_of(&name);
        // A name, not a path.
        let name = name.file_name().filter(|_| name.components().count() == 1)?;
        let folder = at.parent()?;
        self.debug_link_places(folder, name).find_map(|path| {
            let (bytes, reservation) = self.read_reserved(|limit| self.files.read(&path, limit)).ok()?;
            if debug_link::crc(&bytes) != crc {
                return None;
            }
            let debug = ElfImage::parse(bytes).ok()?.reserved(reservation);
            let of_gnu = image.build_id().zip(debug.build_id());
            let of_go = image.go_build_id().zip(debug.go_build_id());
            let is_other = of_gnu.is_some_and(|(one, other)| !same_id(one, other))
                || of_go.is_some_and(|(one, other)| one != other);
            (!is_other).then_some(FoundFile { image: debug, path, origin: FileOrigin::DebugLink })
        })
    }

    /// The folder of the file, its folder `.debug`, and the folder of the same path below the global ones.
    fn debug_link_places(&self, folder: &Path, name: &OsStr) -> impl Iterator<Item = PathBuf> {
        let recorded = match &self.options.symfs {
            Some(root) => Path::new("/").join(folder.strip_prefix(root).unwrap_or(folder)),
            None => folder.to_path_buf(),
        };
        let global = self.build_id_folders().filter_map(move |root| below(&root, &recorded));
        let folders: Vec<_> =
            [folder.to_path_buf(), folder.join(".debug")].into_iter().chain(global).collect();
        let name = name.to_os_string();
        folders.into_iter().map(move |folder| folder.join(&name))
    }

    /// What `.gnu_debugdata` has: an ELF file, compressed by xz.
    fn mini_debug_info(&self, image: &ElfImage) -> Option<ElfImage> {
        let data = image.raw_data(image.section(".gnu_debugdata")?);
        let bytes = decompress::xz(&data, self.options.limits.decompressed, &self.cancellation).ok()?;
        let reservation = self.reserve(bytes.len()).ok()?;
        Some(ElfImage::parse(FileBytes::new(bytes)).ok()?.reserved(reservation))
    }

    /// The file that `.gnu_debugaltlink` names, by its build id or at its path.
    fn shared(&self, image: &ElfImage, at: &Path) -> Option<ElfImage> {
        let (path, id) = debug_link::shared(image)?;
        let path = path_of(&path);
        if let Ok(shared) = self.by_build_id(id, ById::Debug) {
            return Some(shared.image);
        }
        let beside = at.parent().map(|folder| folder.join(&path));
        let of_symfs = self.options.symfs.as_ref().and_then(|root| below(root, &path));
        beside.into_iter().chain(of_symfs).find_map(|path| self.open(&path, Some(id)).ok())
    }
}

/// Where debug packages have their files.
const PACKAGES: &str = "/usr/lib/debug";

/// Returns a path below `.build-id` of a folder, or below the folder if it is one. `None` for a build id that is too short.
fn build_id_path(folder: &Path, id: BuildId, name: impl Fn(&str) -> String) -> Option<PathBuf> {
    let text = id.to_string();
    let (start, rest) = text.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    let folder = if folder.ends_with(".build-id") { folder.to_path_buf() } else { folder.join(".build-id") };
    Some(folder.join(start).join(name(rest)))
}

fn has_dwarf(image: &ElfImage) -> bool {
    let has = |name| image.section(name).is_some_and(|section| section.has_bytes());
    has(".debug_info") || has(".zdebug_info")
}

/// Checks the build id of a file against the recorded one, if one was recorded.
fn checked(image: ElfImage, recorded: Option<BuildId>) -> Result<ElfImage, NoSymbols> {
    match (recorded, image.build_id()) {
        (None, _) => Ok(image),
        (Some(recorded), Some(id)) if same_id(recorded, id) => Ok(image),
        (Some(_), id) => Err(NoSymbols::WrongBuildId(id)),
    }
}

/// Whether two build ids are the same. Older captures have 20 bytes for each, filled with zeros.
///
/// perf: `dso__build_id_equal`, `tools/perf/util/dso.c`.
pub(crate) fn same_id(one: BuildId, other: BuildId) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let Some((start, rest)) = long.split_at_checked(short.len()) else { return false };
    !short.is_empty()
        && start == short
        && (rest.is_empty() || long.len() == 20 && rest.iter().all(|&byte| byte == 0))
}

/// Returns why a file cannot be used that cannot be read.
pub(crate) fn why(error: &io::Error) -> NoSymbols {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => {
            NoSymbols::NotFound
        }
        io::ErrorKind::FileTooLarge => NoSymbols::TooLarge,
        kind => NoSymbols::Unreadable(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_filled_with_zeros() {
        let id = |bytes: &[u8]| BuildId::new(bytes);
        let mut long = [0; 20];
        long[..8].copy_from_slice(b"abcdefgh");
        assert!(same_id(id(b"abcdefgh"), id(&long)));
        assert!(same_id(id(&long), id(b"abcdefgh")));
        assert!(!same_id(id(b"abcdefgi"), id(&long)));
        assert!(!same_id(id(b""), id(&[0; 20])));
        // Of 16 bytes, and not filled.
        assert!(!same_id(id(b"abcdefgh"), id(&long[..16])));
        long[19] = 1;
        assert!(!same_id(id(b"abcdefgh"), id(&long)));
    }
}

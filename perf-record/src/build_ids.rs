//! The build ids of the files that a recording refers to.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use perf_abi::endian::ByteOrder;
use perf_abi::record::{CpuMode, Misc};
use perf_parse::feature::{BuildId, Entries, FeatureData};
use perf_parse::file::write::{FeaturePayloads, WriteFileError};
use perf_parse::{ByteStr, Record};

use super::{elf, kernel};
use crate::build_id_cache::{BuildIdCache, CachedContent};
use crate::mapped_file::{DELETED, FileInode, ProcessFile};
use crate::vdso::{self, VDSO, VDSO32};

/// perf's name of the kernel.
const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// Collects the files that were mapped, from MMAP and MMAP2 records in any order.
///
/// perf reads the whole capture again to find the files that samples hit, unless `--buildid-all` asks for all files.
/// This collects all, while the records are written: reading a build id costs less than reading the capture.
///
/// # Examples
///
/// ```
/// use std::path::Path;
///
/// use perf_record::BuildIdCollector;
/// use perf_record::parse::file::write::FeaturePayloads;
///
/// let files = BuildIdCollector::new();
/// let mut features = FeaturePayloads::new();
/// files.finish(Path::new("/"), &mut features)?;
/// # Ok::<(), perf_record::parse::file::write::WriteFileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BuildIdCollector {
    files: Vec<MappedDso>,
    by_name: HashMap<Key, usize>,
    /// The number of the first files that [`identify`](Self::identify) has looked up.
    identified: usize,
    /// The number of files that are held open.
    held: usize,
}

/// The most files that are held open.
const MAX_HELD: usize = 256;

/// The key of a file: two containers may have two files of one path.
type Key = (CpuMode, Option<FileInode>, Vec<u8>);

/// A file that was mapped, or the kernel's name of memory without a file.
#[derive(Clone, Debug)]
struct MappedDso {
    name: Vec<u8>,
    /// Whether the mapping belongs to the kernel or to a program.
    mode: CpuMode,
    /// `None` if the record did not have it.
    inode: Option<FileInode>,
    /// The first process that mapped it, and the last one: either may have ended.
    places: [ProcessFile; 2],
    /// The build id, if the kernel reported it, or if it was read while a process that has mapped the file ran.
    build_id: Option<Vec<u8>>,
    /// The file, if only the processes that have mapped it have it at its path.
    held: Option<Arc<File>>,
}

/// The build id of a file that was mapped.
enum Identity {
    BuildId(Vec<u8>),
    /// The file was read, and has none. Also that of memory without a file.
    None,
    /// No file that is certainly the mapped one could be read.
    Unreadable,
}

impl Default for BuildIdCollector {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildIdCollector {
    /// Begins with the kernel alone, which is always mapped.
    #[must_use]
    pub fn new() -> Self {
        let mut files = Self { files: Vec::new(), by_name: HashMap::new(), identified: 0, held: 0 };
        files.file(CpuMode::KERNEL, None, ProcessFile::default(), KERNEL);
        files
    }

    /// Takes the file of an MMAP or MMAP2 record; ignores others.
    pub fn record<O: ByteOrder>(&mut self, misc: Misc, record: &Record<'_, O>) {
        match record {
            Record::Mmap(it) => {
                let place = ProcessFile { pid: it.pid, start: it.addr, len: it.len };
                self.mapped(misc, place, name(it.filename, it.addr), (None, None));
            }
            Record::Mmap2(it) => {
                let place = ProcessFile { pid: it.pid, start: it.addr, len: it.len };
                let inode = FileInode::of_record(&it.id);
                self.mapped(misc, place, name(it.filename, it.addr), (inode, it.id.build_id()));
            }
            _ => {}
        }
    }

    /// Adds the files of other records.
    pub(crate) fn add(&mut self, others: Self) {
        for MappedDso { name, mode, inode, places, build_id, held } in others.files {
            for place in places {
                self.file(mode, inode, place, &name);
            }
            if let Some(file) = self.by_name.get(&(mode, inode, name)).filter(|_| build_id.is_some()) {
                let file = &mut self.files[*file];
                (file.build_id, file.held) = (build_id, file.held.take().or(held));
            }
        }
    }

    fn mapped(
        &mut self,
        misc: Misc,
        place: ProcessFile,
        name: &[u8],
        (inode, build_id): (Option<FileInode>, Option<&[u8]>),
    ) {
        let mode = misc.cpumode();
        // The symbol after the name depends on where the kernel was loaded.
        let is_kernel = mode == CpuMode::KERNEL && name.starts_with(KERNEL);
        let file = self.file(mode, inode, place, if is_kernel { KERNEL } else { name });
        if let Some(build_id) = build_id {
            self.files[file].build_id = Some(build_id.to_vec());
        }
    }

    /// Returns the index of a file; adds it if it is new.
    fn file(&mut self, mode: CpuMode, inode: Option<FileInode>, place: ProcessFile, name: &[u8]) -> usize {
        let next = self.files.len();
        let index = *self.by_name.entry((mode, inode, name.to_vec())).or_insert(next);
        if index == next {
            let name = name.to_vec();
            self.files.push(MappedDso { name, mode, inode, places: [place; 2], build_id: None, held: None });
        }
        self.files[index].places[1] = place;
        index
    }

    /// Reads the build ids of up to `most` of the files that were added since the last call. Call it while the recording goes on:
    /// a container that ends takes its files along, and a file that is replaced is found only through a process that has it.
    ///
    /// Up to 256 files that are not at their paths below `root` are held open, so that [`cache`](Self::cache) can add them later.
    ///
    /// Costs opening each file and two reads of it, once.
    pub fn identify(&mut self, root: &Path, most: usize) {
        for file in self.files.iter_mut().skip(self.identified).take(most) {
            self.identified += 1;
            let opened = if file.mode == CpuMode::USER { file.open(root) } else { None };
            let Some((opened, Some(build_id))) = opened else { continue };
            if file.build_id.get_or_insert(build_id.clone()) == &build_id
                && self.held < MAX_HELD
                && !file.is_at(root, &opened)
            {
                file.held = Some(Arc::new(opened));
                self.held += 1;
            }
        }
    }

    /// Reads the build ids and adds them to `features`, unless there are none. Returns the number of files that could not be
    /// read, so that their build ids are not known: they were replaced or deleted, or belonged to a container that has ended.
    ///
    /// Looks up files in the root folder of a process that mapped them, which may be in another mount namespace, and among
    /// the files that the process has mapped, as its file may have been replaced. If the process has ended, looks them up
    /// below `root`. A file that is not the one that was mapped, by device and inode, has no build id here. The files that
    /// a process has mapped are readable for root alone, or with `CAP_CHECKPOINT_RESTORE`.
    ///
    /// # Errors
    ///
    /// The same as [`FeaturePayloads::set`].
    pub fn finish(&self, root: &Path, features: &mut FeaturePayloads) -> Result<u64, WriteFileError> {
        let (mut with_build_ids, mut unreadable) = (Vec::new(), 0);
        for file in &self.files {
            match file.identity(root) {
                Identity::BuildId(build_id) => with_build_ids.push((file, build_id)),
                Identity::None => {}
                Identity::Unreadable => unreadable += 1,
            }
        }
        // One file may have two inodes: that of the kernel's record, and that in `/proc/PID/maps`.
        let mut listed = HashSet::new();
        let with_build_ids =
            with_build_ids.iter().filter(|(file, id)| listed.insert((file.mode, &file.name, id)));
        let entries = with_build_ids.map(|(file, build_id)| {
            let misc = Misc::from(file.mode);
            BuildId { misc, pid: -1, build_id, filename: ByteStr::new(&file.name) }
        });
        let entries: Vec<_> = entries.collect();
        if !entries.is_empty() {
            features.set(&FeatureData::BuildId(Entries::from(&entries)))?;
        }
        Ok(unreadable)
    }

    /// Adds the files to perf's cache in `folder`, such as `~/.debug`: the mapped files with their debug files of
    /// `/usr/lib/debug`, the symbols of the kernel, and the vDSOs. Files that the cache has are not read again.
    ///
    /// Looks up files as [`finish`](Self::finish) does. A file that has another build id than the recorded one is not
    /// added. On the file system of the cache, a file is added as a hard link, which costs nothing; on another one, or if
    /// the kernel forbids links to files of other users, as a copy. The kernel's symbols and the vDSOs have mode 0600.
    ///
    /// # Errors
    ///
    /// The first error of writing to the cache. The other files are added.
    pub fn cache(&self, root: &Path, folder: &Path) -> io::Result<()> {
        let cache = BuildIdCache::open(folder)?;
        let mut result = Ok(());
        for file in &self.files {
            result = result.and(file.cache(root, &cache));
        }
        result
    }
}

impl MappedDso {
    /// Reads the build id, unless it is known.
    fn identity(&self, root: &Path) -> Identity {
        let of_notes = |path: &Path| elf::of_notes(&fs::read(root.join(path)).ok()?);
        let build_id = match (self.mode, self.name.as_slice()) {
            _ if self.build_id.is_some() => self.build_id.clone(),
            (CpuMode::KERNEL, KERNEL) => of_notes(Path::new("sys/kernel/notes")),
            (CpuMode::KERNEL, file) => {
                let name = kernel::module_name(file);
                let folder = Path::new("sys/module").join(OsStr::from_bytes(&name));
                of_notes(&folder.join("notes/.note.gnu.build-id"))
            }
            (CpuMode::USER, VDSO | VDSO32) => self.vdso(root).and_then(|image| elf::of_bytes(&image)),
            (CpuMode::USER, _) => match self.open(root) {
                Some((_, build_id)) => build_id,
                None if self.path().is_some() => return Identity::Unreadable,
                None => None,
            },
            _ => None,
        };
        build_id.map_or(Identity::None, Identity::BuildId)
    }

    /// Returns the vDSO: if it is not that of this process, from the process that mapped it, or from a new one.
    fn vdso(&self, root: &Path) -> Option<Vec<u8>> {
        if self.name == VDSO {
            return vdso::own();
        }
        let of_process = |place: &ProcessFile| vdso::of_process(&place.folder(root), &self.name);
        self.places.iter().find_map(of_process).or_else(vdso::vdso32)
    }

    /// Returns the path of the file below a root folder; `None` for memory without a file, and for a device.
    fn path(&self) -> Option<&Path> {
        const OTHERS: [&[u8]; 4] = [b"/", b"dev/", b"memfd:", b"SYSV"];
        let path =
            self.name.strip_prefix(b"/").filter(|path| !OTHERS.iter().any(|it| path.starts_with(it)))?;
        Some(Path::new(OsStr::from_bytes(path.strip_suffix(DELETED).unwrap_or(path))))
    }

    /// Returns whether a file is at the path below `root`.
    fn is_at(&self, root: &Path, file: &File) -> bool {
        let inode = |metadata: Metadata| (metadata.dev(), metadata.ino());
        let there = self.path().and_then(|path| fs::metadata(root.join(path)).ok()).map(inode);
        there.is_some() && there == file.metadata().ok().map(inode)
    }

    /// Opens the file that was mapped, and reads its build id: `None` if it has none.
    fn open(&self, root: &Path) -> Option<(File, Option<Vec<u8>>)> {
        let path = self.path()?;
        if let Some(held) = &self.held {
            let file = held.try_clone().ok()?;
            let build_id = elf::of_file(&file);
            return Some((file, build_id));
        }
        let in_roots = self.places.iter().map(|place| place.in_root(root, path)).chain([root.join(path)]);
        let in_roots = in_roots.filter_map(|path| elf::open(&path));
        let mut in_roots = in_roots.filter(|file| self.inode.is_none_or(|inode| inode.may_be_of(file)));
        let mapped = self.places.iter().flat_map(|place| place.mapped_now(root));
        let mapped = mapped.filter_map(|path| elf::open(&path));
        let mut mapped = mapped.filter(|file| self.inode.is_some_and(|inode| inode.is_of(file)));
        let mut without = None;
        let with_id = |file: File| match elf::of_file(&file) {
            Some(build_id) => Some((file, Some(build_id))),
            None => {
                without.get_or_insert((file, None));
                None
            }
        };
        in_roots.by_ref().chain(mapped.by_ref()).find_map(with_id).or(without)
    }

    /// Adds the file to the cache, if the cache lacks it and the file still has its build id.
    fn cache(&self, root: &Path, cache: &BuildIdCache) -> io::Result<()> {
        let Identity::BuildId(build_id) = self.identity(root) else { return Ok(()) };
        let add = |name: &str, content: &dyn Fn() -> Option<CachedContent>| {
            let content = if cache.has(&build_id, name) { None } else { content() };
            // perf's cache has all vDSOs in one folder.
            let path = if self.name == VDSO32 { VDSO } else { &self.name };
            content.map_or(Ok(()), |content| cache.add(path, &build_id, name, content))
        };
        match (self.mode, self.name.as_slice()) {
            (CpuMode::KERNEL, KERNEL) => add("kallsyms", &|| {
                let symbols = fs::read(root.join("proc/kallsyms")).ok()?;
                // The kernel hides addresses as zeros. Then the symbols are of no use.
                let has_address = |line: &[u8]| {
                    let address = line.split(|&byte| byte == b' ').next();
                    address.is_some_and(|digits| digits.iter().any(|&digit| digit != b'0'))
                };
                symbols.split(|&byte| byte == b'\n').any(has_address).then_some(CachedContent::Bytes(symbols))
            }),
            (CpuMode::KERNEL, [b'/', path @ ..]) => {
                // The build id of a compressed module is not readable.
                let is_same = |file: &File| elf::of_file(file).is_none_or(|found| found == build_id);
                let open = || elf::open(&root.join(OsStr::from_bytes(path))).filter(is_same);
                add("elf", &|| open().map(CachedContent::File))
            }
            (CpuMode::USER, VDSO | VDSO32) => add("vdso", &|| self.vdso(root).map(CachedContent::Bytes)),
            (CpuMode::USER, [b'/', ..]) => {
                let is_same = |(_, found): &(File, Option<Vec<u8>>)| found.as_ref() == Some(&build_id);
                add("elf", &|| self.open(root).filter(is_same).map(|(file, _)| CachedContent::File(file)))?;
                add("debug", &|| debug_file(root, &build_id).map(CachedContent::File))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the name of what is mapped at an address, as perf lists it.
fn name(filename: &[u8], addr: u64) -> &[u8] {
    if filename == VDSO { vdso::name_at(addr) } else { filename }
}

/// Opens the file that a debug package has for a build id.
fn debug_file(root: &Path, build_id: &[u8]) -> Option<File> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    elf::open(&root.join(format!("usr/lib/debug/.build-id/{first:02x}/{rest}.debug")))
}

//! The entries of an archive: of [`FileCollection::write`](super::FileCollection::write), and of `perf archive`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};
use std::mem;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bzip2::read::MultiBzDecoder;
use tar::{Archive, EntryType};

use super::compressed::{CountedBytes, ZstdFrames};
use super::file_list::{self, ListedFile};
use super::limits::{ArchiveBudget, ArchiveLimits};
use super::long_names::LongNames;
use super::write::CAPTURE;

/// The first bytes of Zstandard and of bzip2.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BZIP2: &[u8] = b"BZh";

/// Returns whether a file may be an archive: a tar file, or what is compressed by Zstandard or bzip2. A capture is none. Reads the
/// first 262 bytes.
///
/// # Errors
///
/// If they cannot be read.
pub fn is_archive(file: impl Read) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(262).read_to_end(&mut start)?;
    Ok(start.starts_with(ZSTD) || start.starts_with(BZIP2) || start.get(257..262) == Some(b"ustar"))
}

/// Where the files of an archive are put.
pub(super) trait EntryStore {
    /// A file that has no name yet.
    type File;

    /// Stores the content of the entry of this number, which takes from the budget.
    fn store(
        &mut self,
        number: usize,
        entry: &mut dyn Read,
        budget: &mut ArchiveBudget<'_>,
    ) -> io::Result<Self::File>;

    /// Gives a file a name, or another one. A copy takes from the budget.
    fn place(&mut self, file: &Self::File, name: &Path, budget: &mut ArchiveBudget<'_>) -> io::Result<()>;

    /// Returns the size of a file.
    fn size(&self, file: &Self::File) -> io::Result<u64>;

    /// Returns the content of a file.
    fn content<'f>(&self, file: &'f Self::File) -> io::Result<Cow<'f, [u8]>>;

    /// Sets when a file of this name was modified.
    fn set_modified(&mut self, name: &Path, modified: SystemTime) -> io::Result<()>;
}

/// Puts the files of an archive into a store. Returns the list of their paths. Entries that lead out of the archive are left out.
///
/// # Errors
///
/// If it is no archive, is damaged, or has more than the limits; and those of the store.
pub(super) fn read_entries(
    archive: impl BufRead,
    store: &mut impl EntryStore,
    limits: &ArchiveLimits,
) -> io::Result<HashMap<PathBuf, ListedFile>> {
    let compressed = Arc::default();
    let mut archive = CountedBytes { from: archive, count: Arc::clone(&compressed) };
    let mut budget = ArchiveBudget::new(limits, compressed);
    let start = archive.fill_buf()?;
    if start.starts_with(ZSTD) {
        read_tar(ZstdFrames::new(archive), store, &mut budget)
    } else if start.starts_with(BZIP2) {
        read_tar(MultiBzDecoder::new(archive), store, &mut budget)
    } else {
        read_tar(archive, store, &mut budget)
    }
}

fn read_tar(
    tar: impl Read,
    store: &mut impl EntryStore,
    budget: &mut ArchiveBudget<'_>,
) -> io::Result<HashMap<PathBuf, ListedFile>> {
    let mut archive = Archive::new(tar);
    let (mut links, mut files) = (BTreeMap::new(), BTreeMap::new());
    let not_one = |error: io::Error| {
        io::Error::new(error.kind(), format!("not an archive that perf or perfdata made: {error}"))
    };
    let mut long = LongNames::default();
    // Raw, because the tar crate would read a long name of any size into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let mut entry = entry.map_err(not_one)?;
        if number >= budget.limits.entries {
            return Err(budget.too_many());
        }
        if long.read(&mut entry)? {
            continue;
        }
        let LongNames { name, target } = mem::take(&mut long);
        let name = name.map_or_else(|| entry.path().map(Cow::into_owned), Ok)?;
        let target =
            target.map_or_else(|| entry.link_name().map(|it| it.map(Cow::into_owned)), |it| Ok(Some(it)))?;
        // A path that leaves the archive is nobody's build id.
        let name = normal(Path::new(""), &name);
        match (entry.header().entry_type(), name) {
            (EntryType::Symlink, Some(name)) => {
                let folder = name.parent().unwrap_or(Path::new(""));
                if let Some(target) = target.and_then(|target| normal(folder, &target)) {
                    links.insert(name, target);
                }
            }
            (EntryType::Regular, Some(name)) => {
                files.insert(name, store.store(number, &mut entry, budget)?);
            }
            // To get to the next one, it is decompressed.
            _ => budget.take(entry.size())?,
        }
    }
    let by_id = Path::new(".build-id");
    // A build id is a link to the folder of a file, which has it as `elf`.
    for (name, target) in links.iter().filter(|(name, _)| name.starts_with(by_id)) {
        let inside = files.range(target.clone()..).take_while(|(file, _)| file.starts_with(target));
        for (path, file) in inside {
            let name = name.join(path.strip_prefix(target).unwrap_or(path));
            budget.name(&name)?;
            store.place(file, &name, budget)?;
        }
    }
    let is_placed =
        |name: &Path| [by_id, "files".as_ref(), CAPTURE.as_ref()].iter().any(|it| name.starts_with(it));
    for (name, file) in files.iter().filter(|(name, _)| is_placed(name)) {
        budget.name(name)?;
        store.place(file, name, budget)?;
    }
    let mut list = match files.get(Path::new(file_list::NAME)) {
        Some(file) => read_list(store, file)?.unwrap_or_default(),
        None => HashMap::new(),
    };
    // Another name could be that of a file of this machine.
    let has = |entry: &str| is_placed(Path::new(entry)) && files.contains_key(Path::new(entry));
    list.retain(|_, file| file.entry.as_deref().is_none_or(has));
    for name in files.keys().filter(|name| name.starts_with(CAPTURE)) {
        if let Some(modified) = list.get(name).and_then(|file| file.modified) {
            store.set_modified(name, modified)?;
        }
    }
    Ok(list)
}

/// Reads the list of paths.
fn read_list<S: EntryStore>(store: &S, file: &S::File) -> io::Result<Option<HashMap<PathBuf, ListedFile>>> {
    /// Number of bytes of the list of some 300,000 files.
    const LONGEST: u64 = 64 << 20;
    let size = store.size(file)?;
    if size > LONGEST {
        let what = format!("the list of files has {size} bytes, more than {LONGEST}");
        return Err(io::Error::other(what));
    }
    Ok(file_list::decode(&store.content(file)?))
}

/// Returns a path from the top of the archive; `None` if it is not below it.
fn normal(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut normal = folder.to_path_buf();
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            _ => return None,
        }
    }
    Some(normal)
}

//! The files of a cache of functions.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::symbol_cache::SymbolCache;

/// The end of the names of files.
pub(super) const EXTENSION: &str = "symbols";

/// The end of the names of files that are not complete.
const ASIDE: &str = "aside";

/// A file that is used counts as used now, if the last time was so long ago.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A file that was not complete after so long is of a program that was killed.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Reads a file of at most `limit` bytes; `None` if there is none that may be used.
pub(super) fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    // Before it is opened: opening a FIFO waits.
    let metadata = fs::metadata(path).ok()?;
    let folder = fs::metadata(path.parent()?).ok()?;
    if !metadata.is_file() || metadata.len() > limit || !are_own(&[&folder, &metadata]) {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
    File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Writes a file aside, and gives it its name. What fails is left.
pub(super) fn write(cache: &SymbolCache, path: &Path, bytes: &[u8]) {
    if bytes.len() as u64 > cache.total || make_folder(&cache.folder).is_err() {
        return;
    }
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let aside = path.with_extension(format!("{}-{number}.{ASIDE}", std::process::id()));
    let written = create(&aside).and_then(|mut file| file.write_all(bytes));
    if written.and_then(|()| fs::rename(&aside, path)).is_err() {
        let _ = fs::remove_file(&aside);
    }
}

/// Notes that a file is used now.
pub(super) fn note_use(path: &Path) {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    let used = file.metadata().and_then(|metadata| metadata.modified());
    if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > DAY)) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes the files that were not used for the longest time, if there are more of them, or of their bytes, than there may be. Reads
/// the whole folder.
pub(super) fn make_room(cache: &SymbolCache) {
    let Ok(entries) = fs::read_dir(&cache.folder) else { return };
    let mut files = Vec::new();
    let mut sum = 0_u64;
    for entry in entries.flatten() {
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
        let Ok(used) = metadata.modified() else { continue };
        let is_named = |end: &str| path.extension().is_some_and(|extension| extension == end);
        if is_named(ASIDE) && used.elapsed().is_ok_and(|age| age > HOUR) {
            let _ = fs::remove_file(&path);
        }
        if is_named(EXTENSION) {
            sum = sum.saturating_add(metadata.len());
            files.push((used, metadata.len(), path));
        }
    }
    files.sort();
    let mut count = files.len();
    for (_, size, path) in files {
        if sum <= cache.total && count <= cache.files {
            break;
        }
        if fs::remove_file(path).is_ok() {
            sum = sum.saturating_sub(size);
            count = count.saturating_sub(1);
        }
    }
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if are_own(&[&fs::metadata(folder)?]) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Returns whether files and folders are of this user, and nobody else may write to them.
#[cfg(unix)]
fn are_own(all: &[&Metadata]) -> bool {
    use std::os::unix::fs::MetadataExt;

    // The user, as far as the system tells it without unsafe code.
    let user = fs::metadata("/proc/self").map(|own| own.uid()).ok();
    all.iter().all(|it| it.mode() & 0o022 == 0 && user.is_none_or(|user| it.uid() == user))
}

#[cfg(not(unix))]
fn are_own(_: &[&Metadata]) -> bool {
    true
}

//! Temporary files and folders of programs that were killed.
//!
//! The program that fills a temporary file or folder holds a lock on it, which the kernel releases when the program ends,
//! however it ends. What nobody holds is stale, and the next run removes it.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::{Builder, NamedTempFile, TempDir};

/// The start of the names of temporary files and folders beside an output.
pub(crate) const PREFIX: &str = ".perfdata-";

/// Number of letters and digits after the prefix, which tempfile chooses.
const RANDOM: usize = 6;

/// A temporary folder that is removed when it is dropped, or else by the next run.
#[derive(Debug)]
pub(crate) struct HeldFolder {
    folder: TempDir,
    /// Holds the lock.
    _held: File,
}

impl HeldFolder {
    /// Creates a folder in another one, with a prefix and further properties of `builder`. Removes stale ones.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub(crate) fn create(builder: &Builder<'_, '_>, parent: &Path, prefix: &str) -> io::Result<Self> {
        remove(parent, prefix);
        loop {
            let folder = builder.tempdir_in(parent)?;
            // Another run may have taken it for a stale one.
            let held = match File::open(folder.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if hold(&held, folder.path()) {
                return Ok(Self { folder, _held: held });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Lets the folder stay.
    pub(crate) fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// Creates a temporary file in a folder, with the [prefix](PREFIX) and further properties of `builder`. Removes stale ones.
///
/// # Errors
///
/// If it cannot be created.
pub(super) fn create_file(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<NamedTempFile> {
    remove(folder, PREFIX);
    loop {
        let file = builder.tempfile_in(folder)?;
        if hold(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Locks a new file or folder. Returns whether it still has its name: another run may have taken it for a stale one before it
/// was locked. Where locks are not supported, nothing is taken for stale.
fn hold(file: &File, path: &Path) -> bool {
    flock(file, FlockOperation::LockExclusive).is_err() || is_at(file, path)
}

/// Returns whether a path is that of an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let open = file.metadata().map(id);
    open.is_ok_and(|open| fs::symlink_metadata(path).map(id).is_ok_and(|named| named == open))
}

/// Removes the stale files and folders of this user whose names have a prefix. What cannot be removed stays.
fn remove(folder: &Path, prefix: &str) {
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |name: &[u8]| {
        let random = name.strip_prefix(prefix.as_bytes());
        random.is_some_and(|it| it.len() == RANDOM && it.iter().all(u8::is_ascii_alphanumeric))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !is_ours(entry.file_name().as_encoded_bytes()) {
            continue;
        }
        let path = entry.path();
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let Ok(file) = File::options().read(true).custom_flags(flags).open(&path) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        let is_stale = metadata.uid() == user
            && (metadata.is_file() || metadata.is_dir())
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && is_at(&file, &path);
        match metadata.is_dir() {
            _ if !is_stale => {}
            true => drop(fs::remove_dir_all(&path)),
            false => drop(fs::remove_file(&path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_holds_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join(".perfdata-abc123"), "stale").unwrap();
        fs::create_dir_all(folder.join(".perfdata-ABCDEF/kcore_dir")).unwrap();
        // Names that are not of tempfile, and links, which lead elsewhere.
        for other in [".perfdata-notes.txt", ".perfdata-abc1234", "perf.data"] {
            fs::write(folder.join(other), "another's").unwrap();
        }
        std::os::unix::fs::symlink(folder.join("perf.data"), folder.join(".perfdata-link12")).unwrap();
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        let file = create_file(&builder, folder).unwrap();
        let held = HeldFolder::create(&builder, folder, PREFIX).unwrap();
        // Those that are held stay.
        let another = create_file(&builder, folder).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut expected = vec![name(file.path()), name(held.path()), name(another.path())];
        let others = ["perf.data", ".perfdata-link12", ".perfdata-notes.txt", ".perfdata-abc1234"];
        expected.extend(others.map(str::to_owned));
        expected.sort();
        assert_eq!(names(folder), expected);
        // A program that is killed removes nothing, and the kernel releases its locks.
        let (file, path) = file.keep().unwrap();
        drop(file);
        drop(create_file(&builder, folder).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_was_removed_before_it_was_locked_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        assert!(hold(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!hold(&file, &path));
        fs::write(&path, "another one").unwrap();
        assert!(!hold(&file, &path));
    }
    /// Each run takes what another one has just created for stale, until that one holds it.
    #[test]
    fn folders_are_held_whatever_others_remove() {
        let parent = tempfile::tempdir().unwrap();
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let held = HeldFolder::create(&builder, parent.path(), PREFIX).unwrap();
                        fs::write(held.path().join("file"), "held").unwrap();
                    }
                });
            }
        });
        assert_eq!(names(parent.path()).len(), 0);
    }
}

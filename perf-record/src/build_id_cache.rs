//! perf's cache of the files that recordings refer to, by their build ids.
//!
//! A file is kept in `PATH/BUILDID/elf` below the cache, and `.build-id/xx/yyyy` is a symbolic link to that folder. perf
//! finds a file there even if it was moved, changed or deleted since. perf: `build_id_cache__add`,
//! `tools/perf/util/build-id.c`.
//!
//! Below the folder of the cache, no symbolic link is followed: it may belong to another user than the recording.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path};

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// The bits of a mode that make a program run as another user.
const SET_ID: u32 = 0o6000;

/// The content of a file of the cache.
pub(crate) enum CachedContent {
    /// The file itself: a hard link if possible, else a copy.
    File(File),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// The cache, an open folder.
#[derive(Debug)]
pub(crate) struct BuildIdCache(OwnedFd);

impl BuildIdCache {
    /// Opens the cache, and makes its folder.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::open(folder, flags, Mode::empty())?))
    }

    /// Returns whether the cache has the file `name` of a build id.
    pub(crate) fn has(&self, build_id: &[u8], name: &str) -> bool {
        let (first, rest) = halves(build_id);
        let path = format!(".build-id/{first}/{rest}/{name}");
        fs::statat(&self.0, path, AtFlags::empty())
            .is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_file())
    }

    /// Adds a file of this name and build id, which was mapped from `path`. Keeps what the cache has.
    pub(crate) fn add(
        &self,
        path: &[u8],
        build_id: &[u8],
        name: &str,
        content: CachedContent,
    ) -> io::Result<()> {
        let (first, rest) = halves(build_id);
        let id = format!("{first}{rest}");
        let mut folder = self.0.try_clone()?;
        let (mut target, path) = ("../..".as_bytes().to_vec(), Path::new(std::ffi::OsStr::from_bytes(path)));
        for component in path.components() {
            match component {
                Component::RootDir => {}
                Component::Normal(part) => {
                    folder = enter(&folder, part.as_bytes())?;
                    target.push(b'/');
                    target.extend(part.as_bytes());
                }
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
        folder = enter(&folder, id.as_bytes())?;
        target.push(b'/');
        target.extend(id.as_bytes());
        match content {
            CachedContent::File(file) => link_or_copy(&file, &folder, name)?,
            // The kernel's symbols are private.
            CachedContent::Bytes(bytes) => put(&folder, name, 0o600, |to| to.write_all(&bytes))?,
        }
        let links = enter(&enter(&self.0, b".build-id")?, first.as_bytes())?;
        is_there(fs::symlinkat(target.as_slice(), &links, rest))
    }
}

/// Returns the two parts of the name of a build id, in hexadecimal digits: the first byte, and the others.
fn halves(build_id: &[u8]) -> (String, String) {
    let mut digits = build_id.iter().map(|byte| format!("{byte:02x}"));
    (digits.next().unwrap_or_default(), digits.collect())
}

/// Accepts that something exists.
fn is_there(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Err(error) if error != Errno::EXIST => Err(error.into()),
        _ => Ok(()),
    }
}

/// Opens a folder in a folder, and makes it if there is none.
fn enter(folder: &OwnedFd, name: &[u8]) -> io::Result<OwnedFd> {
    is_there(fs::mkdirat(folder, name, Mode::from_raw_mode(0o755)))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(fs::openat(folder, name, flags, Mode::empty())?)
}

/// Adds a hard link to a file, or a copy of it: on another file system, or if the kernel forbids links to files of
/// others.
fn link_or_copy(file: &File, folder: &OwnedFd, name: &str) -> io::Result<()> {
    let metadata = file.metadata()?;
    // An old version of such a program must not stay executable.
    if metadata.mode() & SET_ID == 0 {
        let this = format!("/proc/self/fd/{}", file.as_raw_fd());
        if is_there(fs::linkat(CWD, this, folder, name, AtFlags::SYMLINK_FOLLOW)).is_ok() {
            return Ok(());
        }
    }
    // Build ids are read without moving the position.
    put(folder, name, metadata.mode() & 0o755, |to| io::copy(&mut &*file, to).map(drop))
}

/// Writes a file next to its place and links it there, so that nobody sees a part of it.
fn put(
    folder: &OwnedFd,
    name: &str,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = format!(".{name}.{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(folder, &temporary, flags, Mode::from_raw_mode(0o600))?);
    let written = write(&mut file)
        .and_then(|()| file.set_permissions(Permissions::from_mode(mode)))
        .and_then(|()| is_there(fs::linkat(folder, &temporary, folder, name, AtFlags::empty())));
    fs::unlinkat(folder.as_fd(), &temporary, AtFlags::empty())?;
    written
}

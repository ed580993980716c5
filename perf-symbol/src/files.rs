//! Access to the bytes of files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use perf_session::{BuildId, Inode};

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;

/// A source of the bytes of files.
///
/// [`ReadFiles`] reads files of this machine into memory. A program may map them instead, have them in an archive or in memory,
/// or ask another machine. A symbolizer asks for a file at most once for each place where it could be, and keeps what it gets.
/// Its clones ask from any thread.
///
/// A file that is not there differs from one that could not be read: the first is [`NotFound`](io::ErrorKind::NotFound), and the
/// next place is tried. Another error is tried at the next place too, but if the file is nowhere it is reported, as
/// [`NoSymbols::Unreadable`](crate::NoSymbols).
///
/// # Examples
///
/// Files in memory:
///
/// ```
/// use std::{collections::HashMap, io, path::{Path, PathBuf}, sync::Arc};
/// use perf_symbol::{FileBytes, Files, SymbolOptions, Symbolizer};
///
/// struct InMemory(HashMap<PathBuf, FileBytes>);
///
/// impl Files for InMemory {
///     fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
///         match self.0.get(path) {
///             None => Err(io::ErrorKind::NotFound.into()),
///             Some(bytes) if bytes.len() as u64 > limit => Err(io::ErrorKind::FileTooLarge.into()),
///             // Shares the bytes.
///             Some(bytes) => Ok(bytes.clone()),
///         }
///     }
/// }
///
/// let files = InMemory([("/bin/a".into(), FileBytes::new(*b"\x7fELF"))].into());
/// let mut symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::new(files));
/// assert!(symbolizer.functions_in(b"/bin/a", 0x1000).is_empty());
/// ```
///
/// Files that come later, as in a web page, where nothing may wait: the source notes what it was asked for, the program gets it
/// while no symbolizer runs, and another symbolizer finds it. Nothing of this needs a thread or a clock.
///
/// ```
/// use std::{collections::{BTreeSet, HashMap}, io, path::{Path, PathBuf}, sync::{Arc, Mutex}};
/// use perf_symbol::{FileBytes, Files, SymbolOptions, Symbolizer};
///
/// #[derive(Default)]
/// struct Fetched {
///     /// `None` for those that the server does not have.
///     files: HashMap<PathBuf, Option<FileBytes>>,
///     wanted: Mutex<BTreeSet<PathBuf>>,
/// }
///
/// impl Files for Fetched {
///     fn read(&self, path: &Path, _limit: u64) -> io::Result<FileBytes> {
///         match self.files.get(path) {
///             Some(Some(bytes)) => Ok(bytes.clone()),
///             Some(None) => Err(io::ErrorKind::NotFound.into()),
///             None => {
///                 self.wanted.lock().unwrap().insert(path.into());
///                 Err(io::ErrorKind::WouldBlock.into())
///             }
///         }
///     }
/// }
///
/// let mut files = Arc::new(Fetched::default());
/// let (mut requests, mut functions) = (0, Vec::new());
/// loop {
///     let mut symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::clone(&files) as Arc<dyn Files>);
///     functions = symbolizer.functions_in(b"/bin/a", 0x1000);
///     drop(symbolizer);
///     let Some(source) = Arc::get_mut(&mut files) else { unreachable!("the symbolizer has ended") };
///     let wanted = std::mem::take(&mut *source.wanted.lock().unwrap());
///     if wanted.is_empty() {
///         break;
///     }
///     for path in wanted {
///         // An answer of the server: it has no such file.
///         source.files.insert(path, None);
///         requests += 1;
///     }
/// }
/// assert!(requests > 0 && functions.is_empty());
/// ```
pub trait Files: Send + Sync {
    /// Returns the contents of the regular file at `path`.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if there is no regular file, [`FileTooLarge`](io::ErrorKind::FileTooLarge) if
    /// it has more than `limit` bytes, and any other error of reading.
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes>;

    /// Returns device and inode of the file at `path`, to compare with the recorded ones. `None` if they are not known. The
    /// generation of the inode is compared too, unless it is 0: not known.
    fn inode(&self, path: &Path) -> Option<Inode> {
        let _ = path;
        None
    }

    /// Returns when the file at `path` was modified last, to compare with the time of the recording. `None` if that is not
    /// known.
    fn modified(&self, path: &Path) -> Option<SystemTime> {
        let _ = path;
        None
    }

    /// Returns when the content or the attributes of the file at `path` were changed last (`st_ctime`), which no program can set: a
    /// [`SymbolCache`](crate::SymbolCache) knows a file without a build id by it. `None` if that is not known.
    fn changed(&self, path: &Path) -> Option<SystemTime> {
        let _ = path;
        None
    }

    /// Returns the contents of a file of `/proc` or `/sys`, whose size is not known before it is read.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) where there is none, such as on other systems.
    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let _ = (path, limit);
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns a part of a file that may be larger than memory, such as `/proc/kcore`; fewer bytes if it ends before.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) where there is none, and any other error of reading.
    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        let _ = (path, range);
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns the vDSO that the kernel has mapped into this process.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) where there is none.
    fn vdso(&self) -> io::Result<FileBytes> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns the vDSO that the kernel maps into 32-bit processes, where this process has 64 bits.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) where there is none.
    fn vdso32(&self) -> io::Result<FileBytes> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns whether [`fetch`](Self::fetch) may get files, which takes long. Then no file is [loaded ahead](crate::LoadAhead)
    /// in the order in which samples come, unwinding asks for no debug file that it can do without, and files with many samples
    /// are fetched before others.
    fn can_fetch(&self) -> bool {
        false
    }

    /// Gets a file by its build id from elsewhere, such as from a server, and returns the path at which
    /// [`read`](Self::read) reads it. It has at most `limit` bytes. Asked only for what is in no folder. `cancellation` is that of
    /// the request: a source that takes long should ask for it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) where there is none, [`Interrupted`](io::ErrorKind::Interrupted) if it was cancelled,
    /// [`QuotaExceeded`](io::ErrorKind::QuotaExceeded) if it is beyond what may be fetched at all, and any other error that is
    /// to be reported.
    fn fetch(
        &self,
        id: BuildId,
        wanted: BuildIdFile,
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let _ = (id, wanted, limit, cancellation);
        Err(io::ErrorKind::NotFound.into())
    }

    /// Gets a source file of the program with a build id from elsewhere, and returns the path at which [`read`](Self::read) reads it.
    /// `path` is absolute, as the compiler recorded it. Nothing proves that the file is the one that was compiled.
    ///
    /// # Errors
    ///
    /// As for [`fetch`](Self::fetch).
    fn fetch_source(
        &self,
        id: BuildId,
        path: &[u8],
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let _ = (id, path, limit, cancellation);
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Which of the files of a build id is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuildIdFile {
    /// The file that was mapped.
    Executable,
    /// Its debug file.
    DebugInfo,
    /// One of its source files. [`Files::fetch`] finds none; [`Files::fetch_source`] has their paths.
    Source,
}

/// Files of this machine, read into memory as a whole.
///
/// That takes most of the time of the first look-up in a large file: of a kernel with 600 MB of debug information, ten times what
/// the look-up takes if the file is mapped. A program may map its files with the crate `perf-mmap`, as perfdata does.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFiles;

impl Files for ReadFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let size = regular_size(&fs::metadata(path)?, limit)?;
        let file = File::open(path)?;
        // Of the file that was opened, which may be another one by now.
        let size = size.min(regular_size(&file.metadata()?, limit)?);
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        Ok(FileBytes::new(bytes))
    }

    /// The generation is not known: neither the standard library nor rustix has a safe function for `FS_IOC_GETVERSION`.
    #[cfg(target_os = "linux")]
    fn inode(&self, path: &Path) -> Option<Inode> {
        use std::os::linux::fs::MetadataExt;
        let metadata = fs::metadata(path).ok()?;
        let (maj, min) = device(metadata.st_dev());
        Some(Inode { maj, min, ino: metadata.st_ino(), ino_generation: 0 })
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        fs::metadata(path).ok()?.modified().ok()
    }

    #[cfg(unix)]
    fn changed(&self, path: &Path) -> Option<SystemTime> {
        use std::os::unix::fs::MetadataExt;
        use std::time::Duration;

        let metadata = fs::metadata(path).ok()?;
        let nanoseconds = u32::try_from(metadata.ctime_nsec()).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(u64::try_from(metadata.ctime()).ok()?, nanoseconds))
    }

    #[cfg(target_os = "linux")]
    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        FileBytes::new(bytes).within(limit)
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        use std::io::{Seek, SeekFrom};
        // Others may block, or never end.
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
        Ok(FileBytes::new(bytes))
    }

    #[cfg(target_os = "linux")]
    fn vdso(&self) -> io::Result<FileBytes> {
        use std::io::{Seek, SeekFrom};
        let maps = fs::read_to_string("/proc/self/maps")?;
        let range =
            maps.lines().find(|line| line.ends_with("[vdso]")).and_then(|line| line.split(' ').next());
        let (start, end) = range.and_then(|range| range.split_once('-')).ok_or(io::ErrorKind::NotFound)?;
        let number =
            |text| u64::from_str_radix(text, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
        let (start, end) = (number(start)?, number(end)?);
        let mut memory = File::open("/proc/self/mem")?;
        memory.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        memory.take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
        Ok(FileBytes::new(bytes))
    }

    /// Reads the file that the running kernel's package may have.
    #[cfg(target_os = "linux")]
    fn vdso32(&self) -> io::Result<FileBytes> {
        if cfg!(target_pointer_width = "32") {
            return self.vdso();
        }
        let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        self.read(Path::new(&format!("/lib/modules/{}/vdso/vdso32.so", release.trim_end())), 1 << 20)
    }
}

/// Returns the size of a regular file. Others may block, or never end. So may files of procfs, whose size is 0.
fn regular_size(metadata: &fs::Metadata, limit: u64) -> io::Result<u64> {
    if !metadata.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    if metadata.len() > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(metadata.len()) }
}

/// Returns the major and minor number of a device.
///
/// glibc: `gnu_dev_major`, `gnu_dev_minor`.
#[cfg(target_os = "linux")]
fn device(dev: u64) -> (u32, u32) {
    let part = |shift: u32, mask: u64| u32::try_from(dev >> shift & mask).unwrap_or(0);
    (part(8, 0xfff) | part(32, 0xffff_f000), part(0, 0xff) | part(12, 0xffff_ff00))
}

/// Returns a recorded path as a path of this system.
#[cfg(unix)]
#[must_use]
pub fn path_of(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(path).into()
}

/// Returns a recorded path as a path of this system.
#[cfg(not(unix))]
#[must_use]
pub fn path_of(path: &[u8]) -> PathBuf {
    String::from_utf8_lossy(path).as_ref().into()
}

/// Returns the path below `root` that an absolute path means there. `None` for a relative path, and for one that would
/// lead out of `root`.
pub(crate) fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    use std::path::Component;
    let mut to = root.to_path_buf();
    let mut is_absolute = false;
    for part in path.components() {
        match part {
            Component::RootDir => is_absolute = true,
            Component::Normal(name) => to.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    is_absolute.then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_root() {
        let below = |path: &str| below(Path::new("/symfs"), Path::new(path));
        assert_eq!(below("/usr/lib/libc.so.6"), Some("/symfs/usr/lib/libc.so.6".into()));
        assert_eq!(below("/usr/../../etc/shadow"), None);
        assert_eq!(below("anon_inode:[perf_event]"), None);
    }

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        let error = |path: &str, limit| ReadFiles.read(Path::new(path), limit).unwrap_err().kind();
        assert_eq!(error("/", 100), io::ErrorKind::NotFound);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [1; 100]).unwrap();
        assert_eq!(error(path.to_str().unwrap(), 99), io::ErrorKind::FileTooLarge);
        assert_eq!(*ReadFiles.read(&path, 100).unwrap(), [1; 100]);
        #[cfg(target_os = "linux")]
        {
            // It would never end.
            assert_eq!(error("/dev/zero", 100), io::ErrorKind::NotFound);
            // It would wait for messages of the kernel. Only root may open it.
            match ReadFiles.read(Path::new("/proc/kmsg"), 100) {
                Ok(bytes) => assert!(bytes.is_empty()),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_vdso_is_an_elf_file() {
        let Ok(bytes) = ReadFiles.vdso() else { return };
        assert_eq!(bytes[..4], *b"\x7fELF");
    }
}

//! The identity of a file that a process has mapped, and the places at which it is found while the process runs.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use perf_parse::record::FileId;
use rustix::fs::{major, minor};

/// The suffix that the kernel appends to the path of a file that has no name any more.
pub(crate) const DELETED: &[u8] = b" (deleted)";

/// The device and the inode of a file, as an MMAP2 record has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileInode {
    maj: u32,
    min: u32,
    ino: u64,
}

impl FileInode {
    /// Returns the inode of a record; `None` for memory without a file, and if the record has the build id.
    pub(crate) fn of_record(id: &FileId) -> Option<Self> {
        match *id {
            FileId::Inode { maj, min, ino, .. } if ino != 0 => Some(Self { maj, min, ino }),
            _ => None,
        }
    }

    /// Returns the inode of an open file.
    fn of_file(file: &File) -> Option<Self> {
        let file = file.metadata().ok()?;
        Some(Self { maj: major(file.dev()), min: minor(file.dev()), ino: file.ino() })
    }

    /// Returns whether a file is certainly the one that was mapped.
    pub(crate) fn is_of(self, file: &File) -> bool {
        Self::of_file(file) == Some(self)
    }

    /// Returns whether a file may be the one that was mapped.
    ///
    /// Btrfs and overlayfs report other devices in records than here. Their devices have no major number. A file on any other
    /// device has the same device in records.
    pub(crate) fn may_be_of(self, file: &File) -> bool {
        Self::of_file(file).is_some_and(|it| {
            let is_same_device = (it.maj, it.min) == (self.maj, self.min);
            if is_same_device { it.ino == self.ino } else { it.maj == 0 }
        })
    }
}

/// A mapping of a file by a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessFile {
    pub(crate) pid: i32,
    pub(crate) start: u64,
    pub(crate) len: u64,
}

impl ProcessFile {
    /// Returns the folder of the process in `/proc`.
    pub(crate) fn folder(&self, root: &Path) -> PathBuf {
        root.join(format!("proc/{}", self.pid))
    }

    /// Returns the path at which the file is in the root folder of the process.
    pub(crate) fn in_root(&self, root: &Path, path: &Path) -> PathBuf {
        self.folder(root).join("root").join(path)
    }

    /// Returns the paths at which the file is if it was replaced: that of the mapping at the address now, and that of the
    /// program of the process. These may be other files.
    pub(crate) fn mapped_now(&self, root: &Path) -> [PathBuf; 2] {
        let mapped = format!("map_files/{:x}-{:x}", self.start, self.start.saturating_add(self.len));
        [self.folder(root).join(mapped), self.folder(root).join("exe")]
    }
}

//! The files of this machine that have names and unwind tables.

use alloc::sync::{Arc, Weak};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use perf_mmap::FileMapping;
use perf_session::Inode;
use perf_symbol::{FileBytes, Files, ReadFiles};

use crate::debug_archive::Folder;

/// Number of bytes of files after which the pages of all files are released. What is still needed comes back from the page
/// cache.
const RELEASE: usize = 64 << 20;

/// Files of this machine, mapped instead of read. A capture of a whole machine needs hundreds of files, most of them once: so
/// their pages do not stay in the memory of this process.
#[derive(Debug, Default)]
pub(crate) struct MappedFiles {
    maps: Mutex<Maps>,
    /// The folders of unpacked archives, which are removed after the last use of these files.
    _archives: Vec<Folder>,
}

impl MappedFiles {
    /// Keeps the folders of unpacked archives as long as the files are in use.
    pub(crate) fn with(archives: Vec<Folder>) -> Self {
        Self { maps: Mutex::default(), _archives: archives }
    }
}

#[derive(Debug, Default)]
struct Maps {
    list: Vec<Weak<FileMapping>>,
    /// Number of bytes that were mapped since pages were released.
    bytes: usize,
}

impl Maps {
    fn add(&mut self, map: &Arc<FileMapping>) {
        if self.bytes >= RELEASE {
            self.list.retain(|map| map.upgrade().map(|map| map.release()).is_some());
            self.bytes = 0;
        }
        self.list.push(Arc::downgrade(map));
        self.bytes = self.bytes.saturating_add(map.len());
    }
}

/// A mapped file that is shared.
struct SharedMap(Arc<FileMapping>);

impl AsRef<[u8]> for SharedMap {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Files for MappedFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        // Opening a pipe may block.
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() || metadata.len() == 0 {
            return ReadFiles.read(path, limit);
        }
        if metadata.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let Some(map) = crate::input::mapped(&File::open(path)?)? else { return ReadFiles.read(path, limit) };
        let map = Arc::new(map);
        self.maps.lock().unwrap_or_else(PoisonError::into_inner).add(&map);
        Ok(FileBytes::new(SharedMap(map)))
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        Some(Inode { ino_generation: generation(path), ..ReadFiles.inode(path)? })
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        ReadFiles.modified(path)
    }

    fn changed(&self, path: &Path) -> Option<SystemTime> {
        ReadFiles.changed(path)
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        ReadFiles.read_kernel(path, limit)
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        ReadFiles.read_range(path, range)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        ReadFiles.vdso()
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        #[cfg(target_os = "linux")]
        if let Some(vdso) = perf_record::vdso32() {
            return Ok(FileBytes::new(vdso));
        }
        ReadFiles.vdso32()
    }
}

/// Returns the generation of a file's inode; 0 if it is not known.
#[cfg(target_os = "linux")]
fn generation(path: &Path) -> u64 {
    // Opening a pipe may block.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = if is_file { File::open(path).ok() } else { None };
    file.and_then(|file| perf_open::inode_generation(&file).ok()).map_or(0, u64::from)
}

/// Returns the generation of a file's inode, which is not known.
#[cfg(not(target_os = "linux"))]
fn generation(_: &Path) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_pages_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let files = MappedFiles::default();
        let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut all = Vec::new();
        for number in 0..3 {
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, &content).unwrap();
            all.push(files.read(&path, u64::MAX).unwrap());
            assert_eq!(&**all.last().unwrap(), content);
            files.maps.lock().unwrap().bytes = RELEASE;
        }
        assert!(all.iter().all(|bytes| **bytes == content));
        drop(all);
        files.read(&folder.path().join("0"), u64::MAX).unwrap();
        // Those that are in use no more are forgotten.
        assert_eq!(files.maps.lock().unwrap().list.len(), 1);
    }
}

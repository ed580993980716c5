//! Bounds of what the files of an archive take.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the files of an archive may take, on the disk or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveLimits {
    /// Number of bytes of all files and of their copies. 16 GiB by default.
    pub bytes: u64,
    /// Number of entries of the archive. At most as many files get a name by build id, folders included: an archive of links
    /// to one folder would otherwise make as many files as it has links and files multiplied. 2^20 by default.
    pub entries: usize,
    /// Number of bytes that each compressed byte may become. 4096 by default.
    pub ratio: u64,
    /// Number of bytes up to which the ratio may be higher. 64 MiB by default.
    pub ratio_from: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { bytes: 16 << 30, entries: 1 << 20, ratio: 1 << 12, ratio_from: 64 << 20 }
    }
}

/// What an archive may still take.
pub(super) struct ArchiveBudget<'a> {
    pub(super) limits: &'a ArchiveLimits,
    bytes: u64,
    names: usize,
    /// Number of bytes that were read of the archive.
    compressed: Arc<AtomicU64>,
}

impl<'a> ArchiveBudget<'a> {
    pub(super) fn new(limits: &'a ArchiveLimits, compressed: Arc<AtomicU64>) -> Self {
        Self { limits, bytes: limits.bytes, names: limits.entries, compressed }
    }

    /// Takes so many bytes.
    pub(super) fn take(&mut self, bytes: u64) -> io::Result<()> {
        let &ArchiveLimits { bytes: most, ratio, ratio_from, .. } = self.limits;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(format!("the files in the archive have more than {most} bytes"))
        })?;
        let taken = most.saturating_sub(self.bytes);
        let compressed = self.compressed.load(Ordering::Relaxed);
        if taken > ratio_from && taken > compressed.saturating_mul(ratio) {
            return Err(io::Error::other(format!(
                "the archive is compressed to less than 1/{ratio} of its size"
            )));
        }
        Ok(())
    }

    /// Reads an entry by blocks; each takes its bytes.
    pub(super) fn read(
        &mut self,
        entry: &mut dyn Read,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut block = vec![0; 1 << 16];
        loop {
            let read = match entry.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.take(read as u64)?;
            each(block.get(..read).unwrap_or_default())?;
        }
    }

    /// Takes the name of a file, and its folders.
    pub(super) fn name(&mut self, name: &Path) -> io::Result<()> {
        self.names = self.names.checked_sub(name.components().count()).ok_or_else(|| self.too_many())?;
        Ok(())
    }

    pub(super) fn too_many(&self) -> io::Error {
        io::Error::other(format!("the archive has more than {} files and folders", self.limits.entries))
    }
}

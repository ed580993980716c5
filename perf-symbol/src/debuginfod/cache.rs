//! The cache of debuginfod's client: `BUILDID/debuginfo`, `BUILDID/executable` and `BUILDID/source##usr##src##a.c`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::aside::PartialDownload;

/// A place in the cache.
///
/// elfutils: `debuginfod_query_server`, `debuginfod-client.c`.
#[derive(Debug)]
pub(super) struct DebuginfodCache<'a> {
    root: &'a Path,
    folder: PathBuf,
    path: PathBuf,
}

/// What the cache knows of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CacheAnswer {
    File,
    /// No server had it, a short time ago.
    Miss,
    Nothing,
}

impl<'a> DebuginfodCache<'a> {
    pub(super) fn of(root: &'a Path, id: &str, kind: &str) -> Self {
        let folder = root.join(id);
        Self { root, path: folder.join(kind), folder }
    }

    /// Returns where the file is, or will be.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what is known. A file without bytes says that no server had it; it is removed when it is old.
    pub(super) fn look_up(&self) -> CacheAnswer {
        let Ok(metadata) = fs::metadata(&self.path) else { return CacheAnswer::Nothing };
        if metadata.len() != 0 {
            return CacheAnswer::File;
        }
        // A time in the future is that of another clock.
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age <= self.miss_age()) {
            return CacheAnswer::Miss;
        }
        // If it cannot be removed, it is replaced.
        let _ = fs::remove_file(&self.path);
        CacheAnswer::Nothing
    }

    /// Returns how long a miss is believed: the number of seconds in `cache_miss_s`, 600 without that file.
    fn miss_age(&self) -> Duration {
        let text = fs::read_to_string(self.root.join("cache_miss_s")).unwrap_or_default();
        Duration::from_secs(text.trim().parse().unwrap_or(600))
    }

    /// Makes a file beside the place, which goes away unless it is kept, even if the program is killed.
    pub(super) fn aside(&self) -> io::Result<PartialDownload> {
        fs::create_dir_all(&self.folder)?;
        PartialDownload::new(&self.folder)
    }

    /// Gives a file its place.
    pub(super) fn keep(&self, aside: PartialDownload) -> io::Result<()> {
        aside.keep(&self.path)
    }

    /// Notes that no server has the file.
    pub(super) fn miss(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        File::create(&self.path).map(drop)
    }
}

//! Files from debuginfod servers, by build id.

mod aside;
mod cache;
mod download;
mod http;
mod limits;
mod options;
mod wanted;

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use perf_session::{BuildId, Inode};

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::decompressed::lock;
use crate::file_finder::same_id;
use crate::files::{BuildIdFile, Files};
use crate::image::ElfImage;
use cache::{CacheAnswer, DebuginfodCache};
pub use download::Download;
use download::DownloadObserver;
use limits::{DownloadBounds, DownloadTotal};
pub use options::DebuginfodOptions;
use wanted::WantedFile;

/// Files of another source, and what it does not have from debuginfod servers.
///
/// A server is asked for nothing but build ids, and for the recorded paths of sources if a program
/// [asks for them](Files::fetch_source). It is not asked again after it has failed or was too slow. A request that is
/// [cancelled](Cancellation) ends when the next bytes come, at most 64 KiB, or [`timeout`](DebuginfodOptions::timeout) ends the
/// wait for them. A file is used if it has the build id, which a source cannot show. It is kept in the cache, where the client of elfutils finds it too;
/// that a file is on no server is also kept there, for `cache_miss_s` seconds.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use perf_symbol::{Debuginfod, DebuginfodOptions, SymbolOptions, ReadFiles, Symbolizer};
///
/// let files = Debuginfod::new(ReadFiles, DebuginfodOptions::from_env());
/// let symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::new(files));
/// ```
#[derive(Debug)]
pub struct Debuginfod<F> {
    files: F,
    options: DebuginfodOptions,
    /// The servers that have failed, and how.
    failed: Mutex<HashMap<String, io::ErrorKind>>,
    total: Mutex<DownloadTotal>,
    observer: Option<DownloadObserver>,
}

impl<F: Files> Debuginfod<F> {
    /// Makes a source of files that reads them by `files`, also those of the cache.
    #[must_use]
    pub fn new(files: F, options: DebuginfodOptions) -> Self {
        Self { files, options, failed: Mutex::default(), total: Mutex::default(), observer: None }
    }

    /// Has a function called when a file starts to come, on the thread that needs the file. Files in the cache are no downloads.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::{Debuginfod, DebuginfodOptions, ReadFiles};
    ///
    /// let files = Debuginfod::new(ReadFiles, DebuginfodOptions::from_env())
    ///     .with_observer(|download| eprintln!("{} from {}", download.id, download.url));
    /// # let _ = files;
    /// ```
    #[must_use]
    pub fn with_observer(self, see: impl Fn(&Download<'_>) + Send + Sync + 'static) -> Self {
        Self { observer: Some(DownloadObserver::new(see)), ..self }
    }

    /// Returns the path of a file in the cache, into which it is fetched if it is not there.
    fn get(
        &self,
        (id, wanted): (BuildId, &WantedFile),
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let folder = self.options.cache.as_deref().ok_or(io::ErrorKind::NotFound)?;
        // One that is short does not identify a file; elfutils refuses a longer one.
        if !(8..=64).contains(&id.as_bytes().len()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let limit = limit.min(self.options.max_size);
        let cache = DebuginfodCache::of(folder, &id.to_string(), &wanted.cached);
        match cache.look_up() {
            CacheAnswer::File if self.check(cache.path(), (id, wanted), limit).is_ok() => {
                return Ok(cache.path().to_path_buf());
            }
            CacheAnswer::Miss => return Err(io::ErrorKind::NotFound.into()),
            // Another file is replaced.
            CacheAnswer::File | CacheAnswer::Nothing => {}
        }
        self.download(&cache, (id, wanted), limit, cancellation)?;
        Ok(cache.path().to_path_buf())
    }

    /// Fetches a file into the cache, within the limits of all downloads.
    fn download(
        &self,
        cache: &DebuginfodCache<'_>,
        file: (BuildId, &WantedFile),
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<()> {
        let DebuginfodOptions { total_time, total_size, .. } = self.options;
        if total_time.is_none() && total_size.is_none() {
            let bounds = DownloadTotal::default().next(&self.options, file, limit, cancellation)?;
            return self.download_within(cache, file, &bounds);
        }
        // One at a time: only then is it known what is left for the next one.
        let mut total = lock(&self.total);
        let bounds = total.next(&self.options, file, limit, cancellation)?;
        let result = self.download_within(cache, file, &bounds);
        total.add(file, &bounds, result.as_ref().err().map(io::Error::kind));
        result
    }

    /// Fetches a file into the cache.
    fn download_within(
        &self,
        cache: &DebuginfodCache<'_>,
        (id, wanted): (BuildId, &WantedFile),
        bounds: &DownloadBounds<'_>,
    ) -> io::Result<()> {
        let mut error = io::Error::from(io::ErrorKind::NotFound);
        let mut is_on_none = true;
        for url in &self.options.urls {
            if bounds.cancellation.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut aside = cache.aside()?;
            let result = match self.failure(url) {
                Some(kind) => Err(kind.into()),
                None => {
                    let started = |size| {
                        if let Some(observer) = &self.observer {
                            observer.see(&Download { id, wanted: wanted.kind, url, size });
                        }
                    };
                    let path = format!("{id}/{}", wanted.url);
                    http::get(url, &path, &self.options, bounds, &started, aside.file())
                }
            };
            let result = result.map_err(|error| bounds.error(error));
            if let Err(error) = &result {
                self.note(url, error.kind());
            }
            match result.and_then(|()| self.check(aside.path(), (id, wanted), bounds.limit)) {
                Ok(()) => return cache.keep(aside),
                Err(next) if next.kind() == io::ErrorKind::QuotaExceeded => return Err(next),
                Err(next) if next.kind() == io::ErrorKind::NotFound => {}
                Err(next) => (error, is_on_none) = (next, false),
            }
        }
        if is_on_none && !self.options.urls.is_empty() {
            cache.miss()?;
        }
        Err(error)
    }

    /// Returns how a server has failed.
    fn failure(&self, url: &str) -> Option<io::ErrorKind> {
        lock(&self.failed).get(url).copied()
    }

    /// Notes that a server has failed, unless it has answered about one file, or the request was ended by this side.
    fn note(&self, url: &str, kind: io::ErrorKind) {
        let is_of_file = matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge);
        if !is_of_file && !matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::QuotaExceeded) {
            lock(&self.failed).insert(url.to_owned(), kind);
        }
    }

    /// Checks that a file has a build id. A source has none.
    fn check(&self, path: &Path, (id, wanted): (BuildId, &WantedFile), limit: u64) -> io::Result<()> {
        if wanted.kind == BuildIdFile::Source {
            return Ok(());
        }
        let image = self.files.read(path, limit).map(ElfImage::parse)?;
        let found = image.ok().and_then(|image| image.build_id());
        if found.is_some_and(|found| same_id(found, id)) {
            Ok(())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}

impl<F: Files> Files for Debuginfod<F> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.files.read(path, limit)
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        self.files.inode(path)
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        self.files.modified(path)
    }

    fn changed(&self, path: &Path) -> Option<SystemTime> {
        self.files.changed(path)
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.files.read_kernel(path, limit)
    }

    fn read_range(&self, path: &Path, range: Range<u64>) -> io::Result<FileBytes> {
        self.files.read_range(path, range)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.files.vdso()
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        self.files.vdso32()
    }

    fn can_fetch(&self) -> bool {
        !self.options.urls.is_empty()
    }

    fn fetch(
        &self,
        id: BuildId,
        wanted: BuildIdFile,
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        if wanted == BuildIdFile::Source {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.get((id, &WantedFile::of(wanted)), limit, cancellation)
    }

    fn fetch_source(
        &self,
        id: BuildId,
        path: &[u8],
        limit: u64,
        cancellation: &Cancellation,
    ) -> io::Result<PathBuf> {
        let wanted = WantedFile::source(path).ok_or(io::ErrorKind::NotFound)?;
        self.get((id, &wanted), limit, cancellation)
    }
}

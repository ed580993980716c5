//! Files from debuginfod servers, by build id.

mod aside;
mod cache;
mod download;
mod http;
mod limits;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

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

/// Which debuginfod servers are asked, and where what they send is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DebuginfodOptions {
    /// URLs of servers, such as `http://localhost:8002`. The first one that has a file is used. Only
    /// those that [`can_ask`](Self::can_ask) names can be asked.
    pub urls: Vec<String>,
    /// Folder in which files are kept, as the client of elfutils keeps them. `None` if there is no place for it; then nothing
    /// is fetched.
    pub cache: Option<PathBuf>,
    /// Time in which a server has to answer, and then to send 100 KiB each time.
    pub timeout: Duration,
    /// Number of bytes of a file. A larger one is not fetched.
    pub max_size: u64,
    /// Time for a whole file; `None` for no limit but [`timeout`](Self::timeout).
    pub max_time: Option<Duration>,
    /// Time for all downloads together, in which servers that do not answer count too; `None` for no limit. What is not fetched
    /// then has [`NoSymbols::FetchLimit`](crate::NoSymbols::FetchLimit). Files in the cache are used nevertheless.
    pub total_time: Option<Duration>,
    /// Number of bytes of all downloads together; `None` for no limit. A file that has more than what is left is not fetched;
    /// a smaller one still is.
    pub total_size: Option<u64>,
}

impl DebuginfodOptions {
    /// Returns what the variables of the environment say that the client of elfutils has: `DEBUGINFOD_URLS`,
    /// `DEBUGINFOD_CACHE_PATH`, or else `debuginfod_client` in `XDG_CACHE_HOME` or in `~/.cache`, `DEBUGINFOD_TIMEOUT` and
    /// `DEBUGINFOD_MAXTIME` in seconds, `DEBUGINFOD_MAXSIZE` in bytes. By default, the timeout is 90 s, and a file may have
    /// 2 GiB. All downloads together have no limit.
    ///
    /// elfutils: `debuginfod-client.c`.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Self {
        const CLIENT: &str = "debuginfod_client";
        let text = |name| get(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
        let number = |name| text(name).trim().parse::<u64>().ok().filter(|&number| number != 0);
        let folder = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = folder("DEBUGINFOD_CACHE_PATH")
            .or_else(|| Some(folder("XDG_CACHE_HOME")?.join(CLIENT)))
            .or_else(|| Some(folder("HOME")?.join(".cache").join(CLIENT)));
        Self {
            urls: urls(&text("DEBUGINFOD_URLS")),
            cache,
            timeout: Duration::from_secs(number("DEBUGINFOD_TIMEOUT").unwrap_or(90)),
            max_size: number("DEBUGINFOD_MAXSIZE").unwrap_or(2 << 30),
            max_time: number("DEBUGINFOD_MAXTIME").map(Duration::from_secs),
            total_time: None,
            total_size: None,
        }
    }

    /// Replaces the URLs by those of a text, separated by blanks.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::DebuginfodOptions;
    ///
    /// let options = DebuginfodOptions::from_env().with_urls("http://localhost:8002 http://example.org");
    /// assert_eq!(options.urls.len(), 2);
    /// ```
    #[must_use]
    pub fn with_urls(self, text: &str) -> Self {
        Self { urls: urls(text), ..self }
    }

    /// Returns whether a server can be asked: its URL begins with `http://` or, with the feature `https`, with `https://`.
    #[must_use]
    pub fn can_ask(url: &str) -> bool {
        http::can_ask(url)
    }
}

/// Returns the URLs of a text. Other words, such as `ima:enforcing`, are for elfutils.
fn urls(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.contains("://")).map(str::to_owned).collect()
}

/// Files of another source, and what it does not have from debuginfod servers.
///
/// A server is asked for nothing but build ids, and not again after it has failed or was too slow. A request that is
/// [cancelled](Cancellation) ends when the next bytes come, at most 64 KiB, or [`timeout`](DebuginfodOptions::timeout) ends the
/// wait for them. A file is used if it has the build id. It is kept in the cache, where the client of elfutils finds it too;
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

    /// Fetches a file into the cache, within the limits of all downloads.
    fn download(
        &self,
        cache: &DebuginfodCache<'_>,
        file: (BuildId, BuildIdFile),
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
        (id, wanted): (BuildId, BuildIdFile),
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
                            observer.see(&Download { id, wanted, url, size });
                        }
                    };
                    let path = format!("{id}/{}", limits::kind(wanted));
                    http::get(url, &path, &self.options, bounds, &started, aside.file())
                }
            };
            let result = result.map_err(|error| bounds.error(error));
            if let Err(error) = &result {
                self.note(url, error.kind());
            }
            match result.and_then(|()| self.check(aside.path(), id, bounds.limit)) {
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

    /// Checks that a file has a build id.
    fn check(&self, path: &Path, id: BuildId, limit: u64) -> io::Result<()> {
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

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.files.read_kernel(path, limit)
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
        let folder = self.options.cache.as_deref().ok_or(io::ErrorKind::NotFound)?;
        // One that is short does not identify a file; elfutils refuses a longer one.
        if !(8..=64).contains(&id.as_bytes().len()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let limit = limit.min(self.options.max_size);
        let cache = DebuginfodCache::of(folder, &id.to_string(), limits::kind(wanted));
        match cache.look_up() {
            CacheAnswer::File if self.check(cache.path(), id, limit).is_ok() => {
                return Ok(cache.path().to_path_buf());
            }
            CacheAnswer::Miss => return Err(io::ErrorKind::NotFound.into()),
            // Another file is replaced.
            CacheAnswer::File | CacheAnswer::Nothing => {}
        }
        self.download(&cache, (id, wanted), limit, cancellation)?;
        Ok(cache.path().to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let options = |variables: &[(&str, &str)]| {
            let variables: Vec<_> =
                variables.iter().map(|(a, b)| (a.to_string(), OsString::from(b))).collect();
            DebuginfodOptions::from_variables(|name| {
                variables.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone())
            })
        };
        let it = options(&[]);
        assert_eq!((it.urls.len(), it.cache, it.timeout.as_secs(), it.max_time), (0, None, 90, None));
        let it = options(&[
            ("DEBUGINFOD_URLS", " ima:enforcing http://a  https://b/ "),
            ("HOME", "/home/u"),
            ("DEBUGINFOD_TIMEOUT", "5"),
            ("DEBUGINFOD_MAXSIZE", "1000"),
            ("DEBUGINFOD_MAXTIME", "60"),
        ]);
        assert_eq!(it.urls, ["http://a", "https://b/"]);
        assert_eq!(it.cache, Some("/home/u/.cache/debuginfod_client".into()));
        assert_eq!((it.timeout.as_secs(), it.max_size), (5, 1000));
        assert_eq!(it.max_time, Some(Duration::from_secs(60)));
        let it = options(&[("HOME", "/home/u"), ("XDG_CACHE_HOME", "/cache")]);
        assert_eq!(it.cache, Some("/cache/debuginfod_client".into()));
        let it = options(&[("DEBUGINFOD_CACHE_PATH", "/d"), ("XDG_CACHE_HOME", "/cache")]);
        assert_eq!(it.cache, Some("/d".into()));
    }
}

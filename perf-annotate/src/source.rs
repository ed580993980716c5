//! Texts of source files.
//!
//! A compiler records the path that a source file had where it was compiled. [`SourceFinder`] finds the file on this machine: the
//! text that the compiler embedded, the path below another root, the path itself, and, if that is asked for, a debuginfod server.
//!
//! Paths come from the program that was recorded. What is looked for below a folder never leaves it, except by symbolic links in the
//! folder.

mod cache;
mod options;
mod places;
mod text;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use perf_session::BuildId;
use perf_symbol::{FileFinder, Files, path_of};

use cache::SourceCache;
pub use options::{SourceLimits, SourceOptions};
pub use text::{SourceOrigin, SourceText};

/// Finds the texts of source files, and keeps them. Threads can share it.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use perf_annotate::source::{SourceFinder, SourceOptions};
/// use perf_symbol::{FileFinder, ReadFiles, SymbolOptions};
///
/// let mut options = SourceOptions::default();
/// options.dirs.push("/home/me/project".into());
/// let files = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
/// let finder = SourceFinder::new(files, options);
/// if let Some(text) = finder.source(b"/build/project/src/main.c", None, None) {
///     println!("{}: {:?}", text.path.display(), text.line(1));
/// }
/// ```
#[derive(Debug)]
pub struct SourceFinder {
    finder: FileFinder,
    options: SourceOptions,
    cache: Mutex<SourceCache>,
}

impl SourceFinder {
    /// Makes a finder that reads the files of `finder`. With its [`symfs`](perf_symbol::SymbolOptions::symfs), a path is looked for
    /// there before it is looked for on this machine. Its [`recorded_until`](perf_symbol::SymbolOptions::recorded_until) decides
    /// which files are newer than the recording.
    #[must_use]
    pub fn new(finder: FileFinder, options: SourceOptions) -> Self {
        Self { finder, options, cache: Mutex::default() }
    }

    /// Returns the files that sources are read from.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn Files> {
        self.finder.files()
    }

    /// Returns the text of a source file; `None` if it is not found, or beyond a limit.
    ///
    /// `path` is what the compiler recorded, `build_id` that of the program, which a server is asked by, and `embedded` the text in
    /// the program's DWARF: [`LineRow::source`](perf_symbol::LineRow::source). Each file is looked for once. Threads wait for each
    /// other.
    #[must_use]
    pub fn source(
        &self,
        path: &[u8],
        build_id: Option<BuildId>,
        embedded: Option<&[u8]>,
    ) -> Option<Arc<SourceText>> {
        if !self.options.enabled || path.len() > places::LONGEST || path.contains(&0) {
            return None;
        }
        let limits = &self.options.limits;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedded) = embedded {
            let embed = |limit| {
                let bytes = (embedded.len() as u64 <= limit).then(|| embedded.to_vec())?;
                Some(Found { bytes, path: path_of(path), origin: SourceOrigin::Embedded, is_newer: false })
            };
            let text = cache.embedded(path, build_id, limits, |text| text.bytes() == embedded, embed);
            if text.is_some() {
                return text;
            }
        }
        let local = cache.local(path, limits, |limit| self.find(path, limit));
        let build_id = build_id.filter(|_| self.options.fetch && self.finder.can_fetch());
        match (local, build_id) {
            (None, Some(id)) => cache.fetched(path, id, limits, |limit| self.fetch(path, id, limit)),
            (local, _) => local,
        }
    }

    /// Reads a file of this machine.
    fn find(&self, path: &[u8], limit: u64) -> Option<Found> {
        let symfs = self.finder.options().symfs.as_deref();
        places::places(path, &self.options, symfs).find_map(|place| {
            let bytes = self.read(&place.path, limit)?;
            let until = self.finder.options().recorded_until.filter(|_| !place.is_copy);
            let modified = until.and_then(|until| Some((until, self.files().modified(&place.path)?)));
            let is_newer = modified.is_some_and(|(until, modified)| modified > until);
            Some(Found { bytes, path: place.path, origin: place.origin, is_newer })
        })
    }

    /// Gets a file from a server.
    fn fetch(&self, path: &[u8], id: BuildId, limit: u64) -> Option<Found> {
        let at = self.files().fetch_source(id, path, limit, self.finder.cancellation()).ok()?;
        let bytes = self.read(&at, limit)?;
        Some(Found { bytes, path: at, origin: SourceOrigin::Fetched, is_newer: false })
    }

    /// Copies a file: one that is mapped must not change under its readers, as an editor may write it.
    fn read(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.files().read(path, limit).ok().map(|bytes| bytes.to_vec())
    }
}

/// A file that was found.
#[derive(Debug)]
struct Found {
    bytes: Vec<u8>,
    path: PathBuf,
    origin: SourceOrigin,
    is_newer: bool,
}

#[cfg(test)]
mod tests;

//! The functions of one mapped file: those that the cache has, and those that it will get.

mod folder;
mod key;
mod stored;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use perf_session::BuildId;

pub(crate) use self::key::AnswerKey;
use self::stored::{StoredAnswers, StoredFunction, encode};
use crate::decompressed::lock;
use crate::dso_files::DsoFiles;
use crate::file_finder::FileFinder;
use crate::function::Function;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
use crate::options::SymbolOptions;
use crate::symbol_cache::SymbolCache;

/// What is new may take so many times the bytes of a file: most of its texts are those of other addresses, too.
const FRESH_TIMES: u64 = 4;

/// The functions of one mapped file.
#[derive(Debug)]
pub(crate) struct DsoAnswers {
    cache: SymbolCache,
    /// The file of the cache.
    path: PathBuf,
    /// What the answers depend on.
    key: Vec<u8>,
    stored: Option<StoredAnswers>,
    is_used: AtomicBool,
    fresh: Mutex<FreshAnswers>,
    /// Number of bytes that is new of all files of the symbolizer.
    all_fresh: Arc<AtomicU64>,
}

/// The functions that the cache does not have yet.
#[derive(Debug, Default)]
struct FreshAnswers {
    functions: BTreeMap<AnswerKey, Vec<Function>>,
    /// Number of bytes that they take at most, with their texts.
    bytes: u64,
}

impl DsoAnswers {
    /// Opens the file of the cache for a mapped file with this recorded build id. `None` if there is no cache, or if nothing may be
    /// kept of the file.
    pub(crate) fn open(finder: &FileFinder, found: &DsoFiles, id: Option<BuildId>) -> Option<Self> {
        let options = finder.options();
        let cache = options.symbol_cache.clone().filter(|_| options.symfs.is_none())?;
        let key = key(finder, &cache, found, id)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&key);
        let name = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let path = cache.folder.join(format!("{name}-{:016x}.{}", hasher.finish(), folder::EXTENSION));
        let bytes = folder::read(&path, cache.file);
        let stored = bytes.and_then(|bytes| StoredAnswers::parse(bytes, &key));
        let (is_used, fresh, all_fresh) = (AtomicBool::new(false), Mutex::default(), finder.fresh_bytes());
        Some(Self { cache, path, key, stored, is_used, fresh, all_fresh })
    }

    /// Returns whether the cache has the file, and if so, why it has no symbols.
    pub(crate) fn why(&self) -> Option<Option<NoSymbols>> {
        Some(self.stored.as_ref()?.has_no_symbols().then_some(NoSymbols::NotInTable))
    }

    /// Returns the functions at an address, the innermost one first; `None` if the cache does not have the address.
    pub(crate) fn find(&self, key: AnswerKey) -> Option<Vec<StoredFunction<'_>>> {
        let found = self.stored.as_ref()?.find(key)?;
        self.is_used.store(true, Ordering::Relaxed);
        Some(found)
    }

    /// Keeps the functions at an address, which was looked up without the cache.
    pub(crate) fn add(&self, key: AnswerKey, functions: &[Function]) {
        let text = |text: &Option<Arc<[u8]>>| text.as_ref().map_or(0, |text| text.len());
        let of_function = |it: &Function| {
            let texts = [&it.name, &it.raw_name, &it.file].map(text);
            texts.into_iter().fold(size_of::<Function>(), usize::saturating_add)
        };
        let bytes = functions.iter().map(of_function).fold(size_of::<AnswerKey>(), usize::saturating_add);
        let bytes = bytes as u64;
        let mut fresh = lock(&self.fresh);
        let sum = fresh.bytes.saturating_add(bytes);
        let is_within = |sum: u64, limit: u64| sum <= limit.saturating_mul(FRESH_TIMES);
        if !is_within(sum, self.cache.file) || fresh.functions.contains_key(&key) {
            return;
        }
        // Of other threads' files, some bytes more may be added at the same time.
        if is_within(
            self.all_fresh.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            self.cache.total,
        ) {
            fresh.bytes = sum;
            fresh.functions.insert(key, functions.to_vec());
        }
    }

    /// Writes what is new. `why` tells why the file has no symbols. That something cannot be written is no error: the next program
    /// looks it up. Returns whether a file was written, so that [room is made](Self::make_room) after the last one.
    pub(crate) fn save(&self, why: Option<NoSymbols>) -> bool {
        let fresh = &lock(&self.fresh).functions;
        if fresh.is_empty() {
            if self.is_used.load(Ordering::Relaxed) {
                folder::note_use(&self.path);
            }
            return false;
        }
        let bytes = encode(
            &self.key,
            why == Some(NoSymbols::NotInTable),
            self.stored.as_ref(),
            fresh,
            self.cache.file,
        );
        bytes.is_some_and(|bytes| {
            folder::write(&self.cache, &self.path, &bytes);
            true
        })
    }

    /// Removes files that were not used for long, if there are more than there may be.
    pub(crate) fn make_room(&self) {
        folder::make_room(&self.cache);
    }
}

/// Returns what the functions of a file depend on; `None` if it is not known. Whether it is the file that was recorded is not asked: they
/// are those of the file that is there, which may be marked as guesses.
fn key(finder: &FileFinder, cache: &SymbolCache, found: &DsoFiles, id: Option<BuildId>) -> Option<Vec<u8>> {
    let image = found.image.as_deref().filter(|_| found.why.is_none())?;
    let mut key = format!("perf-symbol {}\n{}\n{id:?}\n", env!("CARGO_PKG_VERSION"), cache.producer);
    push_file(&mut key, finder, image, &found.path, id.is_some())?;
    match found.debug.as_deref() {
        Some(debug) => push_file(&mut key, finder, debug, &found.debug_path, id.is_some())?,
        None => key.push_str("no debug file\n"),
    }
    // It is searched by its build id, which is that of its contents.
    let shared = found.shared.as_deref().map(ElfImage::build_id);
    let SymbolOptions { demangle, inlines, lines, qualified, demangle_kernel, limits, .. } =
        &**finder.options();
    write!(key, "{shared:?} {demangle:?} {inlines} {lines} {qualified} {demangle_kernel} {limits:?}").ok()?;
    Some(key.into_bytes())
}

/// Adds what tells a file from others that may be at its path. One without a build id may have been written to without a new time of
/// modification.
fn push_file(
    key: &mut String,
    finder: &FileFinder,
    image: &ElfImage,
    path: &Path,
    has_id: bool,
) -> Option<()> {
    let (path, files) = (&*finder.path_on_disk(path), finder.files());
    let nanoseconds = |time: SystemTime| Some(time.duration_since(UNIX_EPOCH).ok()?.as_nanos());
    let inode = files.inode(path)?;
    let modified = nanoseconds(files.modified(path)?)?;
    let changed = if has_id { 0 } else { nanoseconds(files.changed(path)?)? };
    let size = image.bytes().len();
    writeln!(key, "{}:{} {} {size} {modified} {changed}", inode.maj, inode.min, inode.ino).ok()
}

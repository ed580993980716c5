//! A folder that keeps the functions that were found, from one program to the next.

use std::path::PathBuf;

/// A folder that keeps the functions at the addresses that were looked up.
///
/// A [`Symbolizer`](crate::Symbolizer) whose [options](crate::SymbolOptions::symbol_cache) have one finds a function at an address
/// that was looked up before without reading the symbols and the DWARF of its file. Other addresses of the file are looked up as
/// without a cache, and added when the last clone of the symbolizer is dropped. The functions are the same with a cache and
/// without one.
///
/// There is a file for each file that was mapped, with its build id in the name. It is used if all of these are the same as when it was
/// written: the build id; device, inode, size and time of modification of the file and of its debug file, and without a build id when
/// they were changed last ([`Files::changed`](crate::Files::changed)); the options; this crate's version and the
/// [`producer`](Self::producer). Nothing is kept of files below [`symfs`](crate::SymbolOptions::symfs), of the kernel, its modules and the vDSO, of guests, of archives, of generated code, of
/// split DWARF, and of what the capture itself has names of.
///
/// Files are only of the user (mode 0600). They are read and not mapped, so that one that is cut meanwhile does no harm, and one
/// with any bytes costs no more than its size: what is damaged is not used. A cache that cannot be read or written is as none.
///
/// # Examples
///
/// ```
/// use perf_symbol::{SymbolCache, SymbolOptions, Symbolizer};
///
/// # let folder = std::env::temp_dir().join(format!("perf-symbol-doc-{}", std::process::id()));
/// let mut options = SymbolOptions::default();
/// options.symbol_cache = Some(SymbolCache::new(&folder, concat!("my-profiler ", env!("CARGO_PKG_VERSION"))));
/// let symbolizer = Symbolizer::new(options);
/// # drop(symbolizer);
/// # assert!(!folder.exists(), "nothing was looked up");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolCache {
    /// The folder, which is made when there is something to keep. On Unix, it and its files must be of this user, and not be writable
    /// by others; otherwise it is not used.
    pub folder: PathBuf,
    /// The program that looks names up, and its version. What another one wrote is not used.
    pub producer: String,
    /// Number of bytes of the file for one mapped file. If the functions that were looked up until now have more, those of the last
    /// program are kept; if these alone have more, none of them.
    pub file: u64,
    /// Number of bytes of all files. Those that were not used for the longest time make room.
    pub total: u64,
    /// Number of files. Likewise.
    pub files: usize,
}

impl SymbolCache {
    /// A cache in a folder, of at most 32 MiB for a mapped file, and 256 MiB and 8,192 files in all.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, producer: impl Into<String>) -> Self {
        let (folder, producer) = (folder.into(), producer.into());
        Self { folder, producer, file: 32 << 20, total: 256 << 20, files: 1 << 13 }
    }
}

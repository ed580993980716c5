//! Options of a source finder.

use std::path::PathBuf;

/// Where source files are looked for.
///
/// # Examples
///
/// ```
/// use perf_annotate::source::SourceOptions;
///
/// let mut options = SourceOptions::default();
/// options.prefix = Some("/srv/sources".into());
/// options.strip = 2;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceOptions {
    /// Folder in front of absolute recorded paths, as `--prefix` of perf and objdump. `None` for none.
    pub prefix: Option<PathBuf>,
    /// Number of leading folders of the recorded path that are dropped before the prefix is added, as `--prefix-strip`. The name of
    /// the file stays. Without a prefix, it has no effect.
    pub strip: u32,
    /// Folders with sources. Of each, the longest end of the recorded path that exists below it is used; an end has at most 64 parts.
    pub dirs: Vec<PathBuf>,
    /// Whether sources are looked for at all.
    pub enabled: bool,
    /// Whether servers are asked for sources by build id and recorded path, if the files can be
    /// [fetched](perf_symbol::Files::fetch_source). Off by default.
    pub fetch: bool,
    /// Limits of what files may make grow.
    pub limits: SourceLimits,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            prefix: None,
            strip: 0,
            dirs: Vec::new(),
            enabled: true,
            fetch: false,
            limits: SourceLimits::default(),
        }
    }
}

/// Limits of the memory and time that sources take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLimits {
    /// Number of bytes of a file. A larger one is not used.
    pub file: u64,
    /// Number of bytes that all kept files have, with 4 bytes for each line. A file that has more than what is left is not used.
    pub total: u64,
    /// Number of lines of a file. Further ones are not known.
    pub lines: usize,
    /// Number of files that are looked for. Further ones are not found.
    pub files: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { file: 16 << 20, total: 256 << 20, lines: 1 << 20, files: 1 << 14 }
    }
}

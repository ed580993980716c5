//! The files that were found for a DSO.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::doubt::Doubt;
use crate::elf_symbols;
use crate::file_origin::FileOrigin;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
use crate::symtab::NameSource;

/// The files that have the code, the symbols and the DWARF of one mapped file.
#[derive(Clone, Debug, Default)]
pub struct DsoFiles {
    /// The file that was mapped, or one of the same build id; `None` if only its debug file was found.
    pub image: Option<Arc<ElfImage>>,
    /// The path at which [`image`](Self::image) was found.
    pub path: PathBuf,
    /// How [`image`](Self::image) was found; `None` if it was not.
    pub origin: Option<FileOrigin>,
    /// Its separate debug file.
    pub debug: Option<Arc<ElfImage>>,
    /// The path at which [`debug`](Self::debug) was found.
    pub debug_path: PathBuf,
    /// How [`debug`](Self::debug) was found; `None` if it was not.
    pub debug_origin: Option<FileOrigin>,
    /// What `.gnu_debugdata` has: symbols that are in no other table.
    pub mini: Option<Arc<ElfImage>>,
    /// The file that several debug files share, as `dwz` makes it.
    pub shared: Option<Arc<ElfImage>>,
    /// Why this may not be the file that was mapped; `None` if its build id or its inode is the recorded one.
    pub doubt: Option<Doubt>,
    /// Why there is no image and no debug file; `None` if there is one.
    pub why: Option<NoSymbols>,
    /// Whether its debug file was not fetched, because all that may be fetched was reached: see
    /// [`NoSymbols::FetchLimit`].
    pub is_beyond_limit: bool,
}

/// A file that was found.
pub(crate) struct FoundFile {
    pub(crate) image: ElfImage,
    /// The path at which it was found.
    pub(crate) path: PathBuf,
    /// How it was found.
    pub(crate) origin: FileOrigin,
}

impl DsoFiles {
    /// Sets the file that was mapped.
    pub(crate) fn set_image(&mut self, FoundFile { image, path, origin }: FoundFile) {
        (self.image, self.path, self.origin) = (Some(Arc::new(image)), path, Some(origin));
    }

    /// Returns the file whose DWARF is to be read, and its path; `None` if none has any.
    #[must_use]
    pub fn dwarf(&self) -> Option<(&Arc<ElfImage>, &Path)> {
        let debug = self.debug.as_ref().map(|image| (image, &*self.debug_path));
        let image = self.image.as_ref().map(|image| (image, &*self.path));
        debug.into_iter().chain(image).find(|(image, _)| has_dwarf(image))
    }

    /// Returns how the file was found that has the names of a source.
    pub(crate) fn origin_of(&self, source: NameSource) -> Option<FileOrigin> {
        let is_in_debug = |has: fn(&ElfImage) -> bool| self.debug.as_ref().is_some_and(|debug| has(debug));
        let is_debug = match source {
            NameSource::Symtab => is_in_debug(elf_symbols::has_symtab),
            NameSource::Dwarf => is_in_debug(has_dwarf),
            _ => false,
        };
        if is_debug { self.debug_origin } else { self.origin }
    }
}

/// Returns whether a file has DWARF.
pub(crate) fn has_dwarf(image: &ElfImage) -> bool {
    let has = |name| image.section(name).is_some_and(|section| section.has_bytes());
    has(".debug_info") || has(".zdebug_info")
}

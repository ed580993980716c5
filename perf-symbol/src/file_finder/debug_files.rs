//! The debug files of an image.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_session::BuildId;

use super::FileFinder;
use super::build_ids::{ById, same_id};
use crate::bytes::FileBytes;
use crate::debug_link::{self, DebugLink};
use crate::decompress;
use crate::dso_files::{DsoFiles, FoundFile, has_dwarf};
use crate::file_origin::FileOrigin;
use crate::files::{BuildIdFile, below, path_of};
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;

/// Returns whether a file itself tells how its frames are unwound.
fn has_unwind_tables(image: &ElfImage) -> bool {
    [".eh_frame", ".debug_frame", ".ARM.exidx"]
        .iter()
        .any(|name| image.section(name).is_some_and(|section| section.has_bytes()))
}

impl FileFinder {
    /// Adds what belongs to the image of `found`, or to the recorded build id.
    pub(super) fn add_debug_files(&self, found: &mut DsoFiles, recorded: Option<BuildId>) {
        let image = found.image.clone();
        let image = image.as_deref();
        if !image.is_some_and(|image| has_dwarf(image) && image.section(".symtab").is_some()) {
            let id = recorded.or_else(|| image.and_then(ElfImage::build_id));
            let by_id = id.and_then(|id| self.by_build_id(id, ById::Debug).ok());
            let by_link = || image.and_then(|image| self.by_debug_link(image, &found.path));
            let is_needless = self.is_for_unwinding && image.is_some_and(has_unwind_tables);
            let fetched = || {
                let id = id.filter(|_| !is_needless);
                let fetched = self.fetch(id, BuildIdFile::DebugInfo, NoSymbols::NotFound);
                found.is_beyond_limit |= matches!(fetched, Err(NoSymbols::FetchLimit));
                fetched.ok()
            };
            let debug = by_id.or_else(by_link).or_else(fetched);
            if let Some(FoundFile { image, path, origin }) = debug {
                (found.debug, found.debug_path, found.debug_origin) =
                    (Some(Arc::new(image)), path, Some(origin));
            }
        }
        let has_symtab =
            |image: &Arc<ElfImage>| image.section(".symtab").is_some_and(|section| section.has_bytes());
        if !found.debug.as_ref().is_some_and(has_symtab) {
            found.mini = image.and_then(|image| self.mini_debug_info(image)).map(Arc::new);
        }
        let shared = found.dwarf().and_then(|(image, path)| self.shared(image, path));
        found.shared = shared.map(Arc::new);
    }

    /// The debug file that `.gnu_debuglink` names, checked by its checksum, and by its build id if both have one.
    fn by_debug_link(&self, image: &ElfImage, at: &Path) -> Option<FoundFile> {
        let DebugLink { name, crc } = debug_link::of(image)?;
        let name = path_of(&name);
        // A name, not a path.
        let name = name.file_name().filter(|_| name.components().count() == 1)?;
        let folder = at.parent()?;
        self.debug_link_places(folder, name).find_map(|path| {
            let (bytes, reservation) = self.read_reserved(|limit| self.files.read(&path, limit)).ok()?;
            if debug_link::crc(&bytes) != crc {
                return None;
            }
            let debug = ElfImage::parse(bytes).ok()?.reserved(reservation);
            let of_gnu = image.build_id().zip(debug.build_id());
            let of_go = image.go_build_id().zip(debug.go_build_id());
            let is_other = of_gnu.is_some_and(|(one, other)| !same_id(one, other))
                || of_go.is_some_and(|(one, other)| one != other);
            (!is_other).then_some(FoundFile { image: debug, path, origin: FileOrigin::DebugLink })
        })
    }

    /// The folder of the file, its folder `.debug`, and the folder of the same path below the global ones.
    fn debug_link_places(&self, folder: &Path, name: &OsStr) -> impl Iterator<Item = PathBuf> {
        let recorded = match &self.options.symfs {
            Some(root) => Path::new("/").join(folder.strip_prefix(root).unwrap_or(folder)),
            None => folder.to_path_buf(),
        };
        let global = self.build_id_folders().filter_map(move |root| below(&root, &recorded));
        let folders: Vec<_> =
            [folder.to_path_buf(), folder.join(".debug")].into_iter().chain(global).collect();
        let name = name.to_os_string();
        folders.into_iter().map(move |folder| folder.join(&name))
    }

    /// What `.gnu_debugdata` has: an ELF file, compressed by xz.
    fn mini_debug_info(&self, image: &ElfImage) -> Option<ElfImage> {
        let data = image.raw_data(image.section(".gnu_debugdata")?);
        let bytes = decompress::xz(&data, self.options.limits.decompressed, &self.cancellation).ok()?;
        let reservation = self.reserve(bytes.len()).ok()?;
        Some(ElfImage::parse(FileBytes::new(bytes)).ok()?.reserved(reservation))
    }

    /// The file that `.gnu_debugaltlink` names, by its build id or at its path.
    fn shared(&self, image: &ElfImage, at: &Path) -> Option<ElfImage> {
        let (path, id) = debug_link::shared(image)?;
        let path = path_of(&path);
        if let Ok(shared) = self.by_build_id(id, ById::Debug) {
            return Some(shared.image);
        }
        let beside = at.parent().map(|folder| folder.join(&path));
        let of_symfs = self.options.symfs.as_ref().and_then(|root| below(root, &path));
        beside.into_iter().chain(of_symfs).find_map(|path| self.open(&path, Some(id)).ok())
    }
}

//! The search by build id, in perf's cache and in the folders of debug packages.

use std::path::{Path, PathBuf};

use perf_session::BuildId;

use super::FileFinder;
use crate::bytes::FileBytes;
use crate::dso_files::FoundFile;
use crate::file_origin::FileOrigin;
use crate::files::below;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;

/// What is looked for by build id.
#[derive(Clone, Copy)]
pub(super) enum ById {
    Image,
    Debug,
    Vdso,
}

impl ById {
    /// Names below `.build-id/xx`, where the rest of the build id is `rest`: those of perf's cache, then those of debug
    /// packages.
    ///
    /// perf: `build_id_cache__linkname`, `__dso__build_id_filename`, `tools/perf/util/build-id.c`.
    fn names(self, rest: &str) -> Vec<String> {
        match self {
            // Before Linux 4.5, perf's cache had the file itself.
            Self::Image => vec![format!("{rest}/elf"), rest.into()],
            Self::Debug => vec![format!("{rest}/debug"), format!("{rest}.debug")],
            Self::Vdso => vec![format!("{rest}/vdso"), rest.into()],
        }
    }
}

impl FileFinder {
    /// Reads a file in perf's cache: `kallsyms` beside the kernel's build id.
    pub(crate) fn cached_text(&self, build_id: BuildId, name: &str) -> Option<FileBytes> {
        self.build_id_folders().find_map(|folder| {
            let path = build_id_path(&folder, build_id, |rest| format!("{rest}/{name}"))?;
            self.read(&path).ok()
        })
    }

    /// Folders that have a folder `.build-id`, or are one.
    pub(super) fn build_id_folders(&self) -> impl Iterator<Item = PathBuf> {
        let options = &self.options;
        let packages = Path::new(PACKAGES);
        let (cache, packages) = match &options.symfs {
            Some(root) => (None, below(root, packages)),
            None => (options.cache.clone(), Some(packages.to_path_buf())),
        };
        options.debug_dirs.iter().cloned().chain(cache).chain(packages)
    }

    /// Finds a debug file, or a file that is not stripped, by its build id alone.
    pub(crate) fn debug_of(&self, id: BuildId) -> Option<FoundFile> {
        self.by_build_id(id, ById::Debug).or_else(|_| self.by_build_id(id, ById::Image)).ok()
    }

    /// Finds a file by its build id in the folders.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::NotFound`] if there is none. If one could not be read, why: it may be the right one.
    pub(super) fn by_build_id(&self, id: BuildId, wanted: ById) -> Result<FoundFile, NoSymbols> {
        let mut result = Err(NoSymbols::NotFound);
        for folder in self.build_id_folders() {
            for name in 0..wanted.names("").len() {
                let path = build_id_path(&folder, id, |rest| wanted.names(rest).swap_remove(name));
                let Some(path) = path else { continue };
                match self.open(&path, Some(id)) {
                    Ok(image) => return Ok(FoundFile { image, path, origin: FileOrigin::BuildId }),
                    Err(
                        why @ (NoSymbols::Unreadable(_)
                        | NoSymbols::TooLarge
                        | NoSymbols::NoRoom
                        | NoSymbols::Cancelled),
                    ) => {
                        result = Err(why);
                    }
                    Err(_) => {}
                }
            }
        }
        result
    }
}

/// Where debug packages have their files.
const PACKAGES: &str = "/usr/lib/debug";

/// Returns a path below `.build-id` of a folder, or below the folder if it is one. `None` for a build id that is too short.
fn build_id_path(folder: &Path, id: BuildId, name: impl Fn(&str) -> String) -> Option<PathBuf> {
    let text = id.to_string();
    let (start, rest) = text.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    let folder = if folder.ends_with(".build-id") { folder.to_path_buf() } else { folder.join(".build-id") };
    Some(folder.join(start).join(name(rest)))
}

/// Checks the build id of a file against the recorded one, if one was recorded.
pub(super) fn checked(image: ElfImage, recorded: Option<BuildId>) -> Result<ElfImage, NoSymbols> {
    match (recorded, image.build_id()) {
        (None, _) => Ok(image),
        (Some(recorded), Some(id)) if same_id(recorded, id) => Ok(image),
        (Some(_), id) => Err(NoSymbols::WrongBuildId(id)),
    }
}

/// Whether two build ids are the same. Older captures have 20 bytes for each, filled with zeros.
///
/// perf: `dso__build_id_equal`, `tools/perf/util/dso.c`.
pub(crate) fn same_id(one: BuildId, other: BuildId) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let Some((start, rest)) = long.split_at_checked(short.len()) else { return false };
    !short.is_empty()
        && start == short
        && (rest.is_empty() || long.len() == 20 && rest.iter().all(|&byte| byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_filled_with_zeros() {
        let id = |bytes: &[u8]| BuildId::new(bytes);
        let mut long = [0; 20];
        long[..8].copy_from_slice(b"abcdefgh");
        assert!(same_id(id(b"abcdefgh"), id(&long)));
        assert!(same_id(id(&long), id(b"abcdefgh")));
        assert!(!same_id(id(b"abcdefgi"), id(&long)));
        assert!(!same_id(id(b""), id(&[0; 20])));
        // Of 16 bytes, and not filled.
        assert!(!same_id(id(b"abcdefgh"), id(&long[..16])));
        long[19] = 1;
        assert!(!same_id(id(b"abcdefgh"), id(&long)));
    }
}

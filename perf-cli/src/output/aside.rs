//! The renaming of an earlier recording to `PATH.old`: a file, or a folder with a capture, which has `data`, the files
//! `data.N` of the rings, and `kcore_dir` with the code of the kernel. Other folders stay as they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::escape::shown;

/// The folder in a capture that has the code of the kernel and its symbols: `perf record --kcore`.
pub(crate) const KCORE_DIR: &str = "kcore_dir";

/// Returns whether a folder has nothing but the files of a capture. An empty folder has none.
pub(crate) fn is_capture(folder: &Path) -> bool {
    let is_part = |name: &str| {
        name == "data"
            || name == KCORE_DIR
            || name.strip_prefix("data.").is_some_and(|it| it.parse::<u32>().is_ok())
    };
    let names = names(folder).unwrap_or_default();
    names.contains(&"data".to_owned()) && names.iter().all(|name| is_part(name))
}

/// Returns the names in a folder. One that is not UTF-8 is changed, and so no part of a capture.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Renames the file or the folder with a capture at `path` to `PATH.old`, and returns the new path; `None` if there is
/// nothing. A capture that has that name is removed.
pub(crate) fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    if !path.is_file() && !is_capture(path) {
        return Ok(None);
    }
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if is_folder(&old) {
        remove(&old)?;
    } else if is_folder(path) && old.symlink_metadata().is_ok() {
        fs::remove_file(&old)?;
    }
    fs::rename(path, &old)?;
    Ok(Some(old))
}

/// Removes a folder with a capture, and nothing else.
fn remove(folder: &Path) -> io::Result<()> {
    if !is_capture(folder) {
        let why = format!("{} is a folder without a capture, and is not removed", shown(folder));
        return Err(io::Error::other(why));
    }
    let kcore = folder.join(KCORE_DIR);
    if kcore.is_dir() {
        for name in ["kcore", "kallsyms", "modules"] {
            match fs::remove_file(kcore.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::remove_dir(&kcore)?;
    }
    for name in names(folder)? {
        fs::remove_file(folder.join(name))?;
    }
    fs::remove_dir(folder)
}

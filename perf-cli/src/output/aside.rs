//! The renaming of an earlier recording to `PATH.old`: a file, or a folder with a capture, which has `data`, the files
//! `data.N` of the rings, and `kcore_dir` with the code of the kernel. Other folders stay as they are.

use std::fs::{self, File};
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

/// A recording that was renamed.
#[derive(Debug)]
pub(crate) struct SetAside {
    /// The new path.
    pub(crate) path: PathBuf,
    /// The files of the capture that had this path. They are removed, but their blocks are freed when these are closed.
    pub(crate) removed: Vec<File>,
}

/// Renames the file or the folder with a capture at `path` to `PATH.old`; `None` if there is nothing. A capture that has that name is
/// removed.
pub(crate) fn set_aside(path: &Path) -> io::Result<Option<SetAside>> {
    if !path.is_file() && !is_capture(path) {
        return Ok(None);
    }
    let old = old(path);
    let removed = open_files(&old);
    match old.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => remove(&old)?,
        // Before a file replaces another one, ext4 gives it its blocks: 0.3 s for one of 400 MB that was just written.
        Ok(_) => fs::remove_file(&old)?,
        Err(_) => {}
    }
    fs::rename(path, &old)?;
    Ok(Some(SetAside { path: old, removed }))
}

/// Opens the files of a capture. One that cannot be opened is left out.
fn open_files(capture: &Path) -> Vec<File> {
    let files = match is_capture(capture) {
        true => names(capture).unwrap_or_default().iter().map(|name| capture.join(name)).collect(),
        false => vec![capture.to_owned()],
    };
    // A pipe would wait for its writer.
    let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    files.into_iter().filter(is_file).filter_map(|path| File::open(path).ok()).collect()
}

fn old(path: &Path) -> PathBuf {
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    old.into()
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_removed_is_there_until_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf.data");
        assert!(set_aside(&path).unwrap().is_none());
        let contents = |files: Vec<File>| {
            let mut texts: Vec<String> = files
                .into_iter()
                .map(|mut file| {
                    let mut text = String::new();
                    file.read_to_string(&mut text).unwrap();
                    text
                })
                .collect();
            texts.sort();
            texts
        };
        fs::write(&path, "new").unwrap();
        fs::write(old(&path), "old").unwrap();
        let removed = set_aside(&path).unwrap().unwrap().removed;
        assert_eq!(contents(removed), ["old"]);
        assert_eq!(fs::read_to_string(old(&path)).unwrap(), "new");
        // A folder, with a folder in it.
        fs::write(&path, "new").unwrap();
        fs::remove_file(old(&path)).unwrap();
        fs::create_dir_all(old(&path).join(KCORE_DIR)).unwrap();
        for name in ["data", "data.0"] {
            fs::write(old(&path).join(name), name).unwrap();
        }
        let removed = set_aside(&path).unwrap().unwrap().removed;
        assert_eq!(contents(removed), ["data", "data.0"]);
        assert_eq!(fs::read_to_string(old(&path)).unwrap(), "new");
    }
}

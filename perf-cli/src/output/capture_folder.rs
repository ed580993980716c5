//! Folders with captures: `data`, the files `data.N` of the rings, and `kcore_dir` with the code of the kernel.
//!
//! A folder is filled beside its final name and renamed. What has the name becomes `NAME.old`, as with a file that is
//! recorded.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::aside::{is_capture, set_aside};
use super::stale::{HeldFolder, PREFIX};
use crate::escape::shown;
use crate::outcome::Failure;

/// A folder with a capture that is being written. It is removed unless it is [published](Self::publish).
#[derive(Debug)]
pub(crate) struct CaptureFolder {
    /// The path on the command line.
    path: PathBuf,
    /// `None` after it was published.
    unfinished: Option<HeldFolder>,
}

impl CaptureFolder {
    /// Creates a folder that only its owner can read.
    ///
    /// # Errors
    ///
    /// If something at `path` is neither a file nor a folder with a capture, or a folder cannot be created there.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let failure = |what: &dyn core::fmt::Display| Failure(format!("{}: {what}", shown(path)));
        // Ends with `.` in `.`: a folder needs a name.
        if path.file_name().is_none() {
            return Err(failure(&"is not a name for a folder"));
        }
        match fs::symlink_metadata(path) {
            Ok(_) if path.is_file() || is_capture(path) => {}
            Ok(_) => return Err(failure(&"is no capture; give --output another name")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failure(&error)),
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
        let unfinished = HeldFolder::create(&builder, parent, PREFIX);
        let unfinished =
            unfinished.map_err(|error| failure(&format!("cannot create a folder beside it: {error}")))?;
        Ok(Self { path: path.to_owned(), unfinished: Some(unfinished) })
    }

    /// Returns the present path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.unfinished.as_ref().map_or(&self.path, HeldFolder::path)
    }

    /// Creates a file in the folder that only its owner can read.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub(crate) fn file(&self, name: &str) -> Result<File, Failure> {
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        options
            .open(self.path().join(name))
            .map_err(|error| Failure(format!("{}: {error}", shown(&self.path.join(name)))))
    }

    /// Gives the folder its name. The caller may continue to write to its files. Returns the files of an earlier recording that were
    /// [removed](super::aside::SetAside::removed).
    ///
    /// # Errors
    ///
    /// If the folder, or what has its name, cannot be renamed.
    pub(crate) fn publish(&mut self) -> Result<Vec<File>, Failure> {
        let Some(unfinished) = self.unfinished.take() else { return Ok(Vec::new()) };
        let publish = || -> io::Result<Vec<File>> {
            let old = set_aside(&self.path)?;
            fs::rename(unfinished.path(), &self.path).inspect_err(|_| {
                if let Some(old) = &old {
                    let _ = fs::rename(&old.path, &self.path);
                }
            })?;
            Ok(old.map_or_else(Vec::new, |old| old.removed))
        };
        let removed = publish().map_err(|error| Failure(format!("{}: {error}", shown(&self.path))))?;
        // Nothing has that name any more.
        unfinished.keep();
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::aside::{KCORE_DIR, names};

    /// Records a folder to `path`, with a file that contains `text`.
    fn record(path: &Path, text: &str) {
        let mut folder = CaptureFolder::create(path).unwrap();
        fs::write(folder.path().join("data"), text).unwrap();
        fs::create_dir(folder.path().join(KCORE_DIR)).unwrap();
        fs::write(folder.path().join(KCORE_DIR).join("modules"), text).unwrap();
        drop(folder.file("data.0").unwrap());
        assert!(folder.file("data.0").is_err(), "it exists");
        folder.publish().unwrap();
    }

    #[test]
    fn what_was_there_becomes_old() {
        let parent = tempfile::tempdir().unwrap();
        let [path, old] = ["perf.data", "perf.data.old"].map(|name| parent.path().join(name));
        fs::write(&path, "a file").unwrap();
        record(&path, "1");
        assert_eq!(fs::read_to_string(&old).unwrap(), "a file");
        record(&path, "2");
        record(&path, "3");
        let text = |folder: &Path| fs::read_to_string(folder.join("data")).unwrap();
        assert_eq!((text(&path), text(&old)), ("3".to_owned(), "2".to_owned()));
        assert_eq!(names(parent.path()).unwrap().len(), 2, "nothing else is left");
    }

    #[test]
    fn what_is_no_capture_stays() {
        let parent = tempfile::tempdir().unwrap();
        let [path, old] = ["perf.data", "perf.data.old"].map(|name| parent.path().join(name));
        fs::create_dir(&path).unwrap();
        assert!(CaptureFolder::create(&path).unwrap_err().0.contains("is no capture"));
        fs::write(path.join("data"), "").unwrap();
        fs::write(path.join("notes"), "").unwrap();
        assert!(CaptureFolder::create(&path).is_err());
        fs::remove_file(path.join("notes")).unwrap();

        fs::create_dir(&old).unwrap();
        let mut folder = CaptureFolder::create(&path).unwrap();
        assert!(folder.publish().unwrap_err().0.contains("without a capture"));
        assert!(path.join("data").exists() && old.exists());
    }

    #[test]
    fn an_unpublished_folder_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = CaptureFolder::create(&parent.path().join("perf.data")).unwrap();
        drop(folder.file("data.0").unwrap());
        drop(folder);
        assert!(names(parent.path()).unwrap().is_empty());
        assert!(CaptureFolder::create(Path::new("/")).is_err());
    }
}

//! A file that is downloaded. On Linux it has no name until it is complete, so that a killed program leaves no file.

use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use tempfile::NamedTempFile;

/// A file that is not complete yet.
#[derive(Debug)]
pub(super) enum PartialDownload {
    /// A file without a name, and a path that reaches it.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    Named(NamedTempFile),
}

impl PartialDownload {
    /// Creates a file in a folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;

            let file = tempfile::tempfile_in(folder)?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            // Without /proc, no path reaches it.
            if path.exists() {
                return Ok(Self::Unnamed(file, path));
            }
        }
        NamedTempFile::new_in(folder).map(Self::Named)
    }

    /// Returns the open file.
    pub(super) fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Returns a path that reaches the file.
    pub(super) fn path(&self) -> &Path {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(_, path) => path,
            Self::Named(file) => file.path(),
        }
    }

    /// Gives the file a name in its folder. What has the name is replaced.
    pub(super) fn keep(self, name: &Path) -> io::Result<()> {
        let named = match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, path) => {
                if is_linked(&path, name) {
                    return Ok(());
                }
                copied(file, name.parent().unwrap_or(Path::new("")))?
            }
            Self::Named(file) => file,
        };
        named.persist(name).map(drop).map_err(|error| error.error)
    }
}

/// Links a file without a name. Returns whether it is linked: some file systems cannot, and a name that exists is not replaced.
#[cfg(target_os = "linux")]
fn is_linked(path: &Path, name: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, linkat};

    linkat(CWD, path, CWD, name, AtFlags::SYMLINK_FOLLOW).is_ok()
}

/// Copies a file without a name to one that has a temporary one.
#[cfg(target_os = "linux")]
fn copied(mut file: File, folder: &Path) -> io::Result<NamedTempFile> {
    use std::io::Seek;

    file.rewind()?;
    let mut named = NamedTempFile::new_in(folder)?;
    io::copy(&mut file, named.as_file_mut())?;
    Ok(named)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn written(folder: &Path, text: &str) -> PartialDownload {
        let mut aside = PartialDownload::new(folder).unwrap();
        aside.file().write_all(text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(aside.path()).unwrap(), text);
        aside
    }

    #[test]
    fn a_file_is_there_when_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, name) = (folder.path(), folder.path().join("debuginfo"));
        let names = || fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name()).collect::<Vec<_>>();
        let aside = written(folder, "first");
        assert_eq!(names().len(), usize::from(!cfg!(target_os = "linux")), "a killed program leaves it");
        aside.keep(&name).unwrap();
        assert_eq!(
            (fs::read_to_string(&name).unwrap(), names()),
            ("first".to_owned(), vec!["debuginfo".into()])
        );
        // What has the name is replaced.
        written(folder, "second").keep(&name).unwrap();
        assert_eq!(
            (fs::read_to_string(&name).unwrap(), names()),
            ("second".to_owned(), vec!["debuginfo".into()])
        );
        drop(written(folder, "third"));
        assert_eq!(names().len(), 1);
    }
}

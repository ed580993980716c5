//! Archives that are read: those of `perfdata archive`, which have a capture, and those of `perf archive`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use perf_profile::archive::{ArchiveLimits, UnpackedArchive, is_archive};

use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::InputFile;

/// An archive, unpacked into a folder of its own, which is removed with it.
#[derive(Debug)]
pub(crate) struct OpenArchive {
    pub(crate) unpacked: UnpackedArchive,
    /// The archive itself, which no output may be.
    pub(crate) input: InputFile,
    pub(crate) folder: Folder,
}

impl OpenArchive {
    /// Unpacks an archive.
    ///
    /// # Errors
    ///
    /// If the file is no archive, is damaged, or has more than the limits.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let failure = |error: io::Error| Failure(format!("{}: {error}", shown(path)));
        let file = File::open(path).map_err(failure)?;
        let input = InputFile::new(path, &file.metadata().map_err(failure)?).without_time();
        let folder = folder().map_err(failure)?;
        let limits = ArchiveLimits::default();
        let unpacked =
            perf_profile::archive::unpack(BufReader::with_capacity(1 << 16, file), folder.path(), &limits);
        Ok(Self { unpacked: unpacked.map_err(failure)?, input, folder })
    }

    /// Unpacks the archive that is named in place of a capture; `None` if the file is no archive.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and if it has no capture.
    pub(crate) fn of_capture(path: &Path) -> Result<Option<Self>, Failure> {
        // Opening a pipe may block. What cannot be read is reported by the reader of captures.
        if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        if !File::open(path).and_then(is_archive).unwrap_or(false) {
            return Ok(None);
        }
        let archive = Self::open(path)?;
        if archive.unpacked.capture().is_none() {
            let what = "the archive has no capture; name the capture, and give the archive to --debug-dir";
            return Err(Failure(format!("{}: {what}", shown(path))));
        }
        Ok(Some(archive))
    }
}

/// The folder that an archive is unpacked to. It is removed when it is dropped, when a signal ends the program, or else by the
/// next run that unpacks an archive.
#[cfg(target_os = "linux")]
pub(crate) type Folder = crate::output::stale::HeldFolder;

/// The folder that an archive is unpacked to, which is removed when it is dropped.
#[cfg(not(target_os = "linux"))]
pub(crate) type Folder = tempfile::TempDir;

/// Creates a folder to unpack an archive to.
fn folder() -> io::Result<Folder> {
    const PREFIX: &str = "perfdata-archive-";
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(target_os = "linux")]
    {
        crate::output::remove_unfinished_on_signals();
        let create = || Folder::create(&builder, &std::env::temp_dir(), PREFIX);
        crate::output::create_unfinished(create, Folder::path)
    }
    #[cfg(not(target_os = "linux"))]
    builder.tempdir()
}

//! Files that are written. They never replace an input or another output, and get their name only when they are
//! complete.
//!
//! A regular file is written to a temporary file in the same folder and renamed when it is complete. A failure leaves
//! an existing file unchanged. For a symbolic link, the target is replaced and the link stays. Other hard links keep
//! the old content. Standard output, and anything that is not a regular file (a pipe, `/dev/null`), is written
//! directly.
//!
//! Only the owner can read a file that contains a capture (mode 0600), and its permissions never exceed those of the
//! input captures.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf, is_separator};

#[cfg(target_os = "linux")]
use tempfile::NamedTempFile;
use tempfile::TempPath;

use super::aside;
use super::file_id::{FileId, InputFile, standard_outputs};
use crate::escape::shown;
use crate::outcome::Failure;

#[cfg(target_os = "linux")]
use super::stale::PREFIX;

/// The start of the names of temporary files.
#[cfg(not(target_os = "linux"))]
const PREFIX: &str = ".perfdata-";

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    Capture,
    /// A capture as a stream, which a pipe may receive.
    Stream,
    /// A hardware trace.
    Trace,
    /// The index of a capture.
    Index,
    /// Code that a recorded program generated.
    Code,
    /// A capture with the files of its names.
    #[cfg(target_os = "linux")]
    Archive,
    /// A capture that is being recorded. An existing file is renamed to `FILE.old`.
    Recording,
    /// Content that need not be secret.
    Report,
}

/// The files of a run: its inputs and its outputs.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    inputs: Vec<InputFile>,
    /// The outputs, each with the option that names it.
    claimed: Vec<(OutputIdentity, &'static str)>,
}

/// The identity of an output.
#[derive(Debug, PartialEq, Eq)]
enum OutputIdentity {
    File(FileId),
    /// A file that does not exist yet: its folder, and its name in the folder.
    New(FileId, PathBuf),
}

/// Permission to write a file.
#[derive(Debug)]
pub(crate) struct OutputClaim {
    /// The path on the command line.
    path: PathBuf,
    /// The path with links resolved; `None` for a file that is written directly.
    target: Option<PathBuf>,
    /// The metadata of the existing file.
    existing: Option<Metadata>,
    /// The permissions that all inputs have in common.
    #[cfg(unix)]
    mode: u32,
}

impl Outputs {
    /// Returns the outputs of a run that reads these files.
    pub(crate) fn of(inputs: impl IntoIterator<Item = InputFile>) -> Self {
        Self { inputs: inputs.into_iter().collect(), claimed: Vec::new() }
    }

    /// Claims standard output, which may be a file, for printed records.
    pub(crate) fn print(&mut self) {
        let [stdout, _] = standard_outputs();
        self.claimed.extend(stdout.map(|id| (OutputIdentity::File(id), "standard output")));
    }

    /// Claims `path`, which `option` names, as an output. Creates nothing yet.
    ///
    /// # Errors
    ///
    /// If `path` is an input, would become a part of an input, or is another output. If it is a folder, or its folder
    /// does not exist.
    pub(crate) fn claim(&mut self, option: &'static str, path: &Path) -> Result<OutputClaim, Failure> {
        self.claim_over(option, path, false)
    }

    /// Claims `path` for a [recording](FileContent::Recording), as [`claim`](Self::claim). A folder with a capture is allowed,
    /// as it will be renamed.
    ///
    /// # Errors
    ///
    /// Those of [`claim`](Self::claim).
    #[cfg(target_os = "linux")]
    pub(crate) fn claim_recording(
        &mut self,
        option: &'static str,
        path: &Path,
    ) -> Result<OutputClaim, Failure> {
        self.claim_over(option, path, aside::is_capture(path))
    }

    fn claim_over(
        &mut self,
        option: &'static str,
        path: &Path,
        over_folder: bool,
    ) -> Result<OutputClaim, Failure> {
        let failure = |what: &str| Failure(format!("{}: {what}", shown(path)));
        let (target, existing) = target(path).map_err(|error| failure(&error.to_string()))?;
        let (claimed, is_straight) = match &existing {
            Some(metadata) if metadata.is_dir() && !over_folder => {
                return Err(failure(&format!("is a folder; give {option} the name of a file")));
            }
            Some(metadata) => {
                let id = FileId::new(&target, metadata);
                let is_standard = id.is_some() && standard_outputs().contains(&id);
                (id.map(OutputIdentity::File), is_standard || !metadata.is_file() && !over_folder)
            }
            None => (Some(new(&target).map_err(|error| failure(&error.to_string()))?), false),
        };
        if let Some(claimed) = claimed {
            if let Some(input) = self.inputs.iter().find(|input| input.is(&claimed)) {
                let what = match &input.name {
                    name if *name == shown(path).to_string() => "is read as input".to_owned(),
                    name => format!("is the same file as {name}, which is read as input"),
                };
                let what = format!("{what}; give {option} another name");
                return Err(failure(&what));
            }
            if let Some(input) = self.inputs.iter().find(|input| input.takes_in(&claimed)) {
                let what = format!("would become a data file of {}; give {option} another name", input.name);
                return Err(failure(&what));
            }
            if let Some((_, other)) = self.claimed.iter().find(|(other, _)| *other == claimed) {
                let what = format!("is also the output of {other}; give {option} another name");
                return Err(failure(&what));
            }
            self.claimed.push((claimed, option));
        }
        Ok(OutputClaim {
            path: path.to_owned(),
            target: (!is_straight).then_some(target),
            existing,
            #[cfg(unix)]
            mode: self.inputs.iter().filter_map(|input| input.mode).fold(0o777, |all, mode| all & mode),
        })
    }
}

impl InputFile {
    fn is(&self, output: &OutputIdentity) -> bool {
        matches!((output, &self.id), (OutputIdentity::File(output), Some(id)) if output == id)
    }

    /// Returns whether this is a folder, and `output` would become one of its data files.
    fn takes_in(&self, output: &OutputIdentity) -> bool {
        let is_data = |name: &Path| name.as_os_str().as_encoded_bytes().starts_with(b"data.");
        matches!((output, &self.id), (OutputIdentity::New(folder, name), Some(id)) if folder == id && is_data(name))
    }
}

/// Returns the path that a write to `path` reaches, and the metadata of the file there. Follows links, even to a file
/// that does not exist yet.
fn target(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok((path.canonicalize()?, Some(metadata))),
        Ok(metadata) => Ok((path.to_owned(), Some(metadata))),
        Err(_)
            if path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| is_separator(last.into())) =>
        {
            Err(io::ErrorKind::IsADirectory.into())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut path = path.to_owned();
            // Ends: a cycle of links gives another error than NotFound.
            while let Ok(link) = fs::read_link(&path) {
                path = folder(&path).join(link);
            }
            let Some(name) = path.file_name() else { return Err(error) };
            Ok((folder(&path).canonicalize()?.join(name), None))
        }
        Err(error) => Err(error),
    }
}

/// Returns the folder that contains a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the identity of a file that does not exist yet.
fn new(target: &Path) -> io::Result<OutputIdentity> {
    let folder = folder(target);
    let id = FileId::new(folder, &fs::metadata(folder)?).ok_or(io::ErrorKind::NotADirectory)?;
    Ok(OutputIdentity::New(id, target.file_name().unwrap_or_default().into()))
}

impl OutputClaim {
    /// Creates the file. It gets its name when the returned [`UnfinishedFile`] is [published](UnfinishedFile::publish).
    ///
    /// # Errors
    ///
    /// If the folder, or the file to replace, is not writable. A capture cannot be written to a pipe.
    pub(crate) fn create(self, holds: FileContent) -> Result<(File, UnfinishedFile), Failure> {
        let failure = |what: &dyn core::fmt::Display| Failure(format!("{}: {what}", shown(&self.path)));
        let Some(target) = &self.target else {
            let mut file = File::create(&self.path).map_err(|error| failure(&error))?;
            if matches!(holds, FileContent::Capture | FileContent::Recording)
                && file.seek(SeekFrom::Start(0)).is_err()
            {
                return Err(failure(
                    &"a perf.data file cannot be written to a pipe, because its header is written last; give the name \
                      of a file",
                ));
            }
            return Ok((file, UnfinishedFile { path: self.path, beside: None }));
        };
        if self.existing.is_some() && holds != FileContent::Recording {
            // A file that is not writable must not be replaced either.
            File::options().write(true).open(target).map_err(|error| failure(&error))?;
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        if holds == FileContent::Report {
            // The usual mode of a new file, before the umask.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        #[cfg(target_os = "linux")]
        let created = super::signals::create_unfinished(
            || super::stale::create_file(&builder, folder(target)),
            NamedTempFile::path,
        );
        #[cfg(not(target_os = "linux"))]
        let created = builder.tempfile_in(folder(target));
        let temporary = created.map_err(|error| {
            failure(&format!("cannot create a temporary file in the same folder: {error}"))
        })?;
        let (file, temporary) = temporary.into_parts();
        let copy = file.try_clone().map_err(|error| failure(&error))?;
        let beside = TemporaryFile { temporary, file: copy, claim: self, holds };
        let path = beside.claim.path.clone();
        Ok((file, UnfinishedFile { path, beside: Some(beside) }))
    }
}

/// A file that is being written. It is removed unless it is published.
#[derive(Debug)]
pub(crate) struct UnfinishedFile {
    path: PathBuf,
    /// `None` for a file that is written directly.
    beside: Option<TemporaryFile>,
}

/// A temporary file in the folder of its final name.
#[derive(Debug)]
struct TemporaryFile {
    temporary: TempPath,
    file: File,
    claim: OutputClaim,
    holds: FileContent,
}

impl UnfinishedFile {
    /// Gives the file its name. The caller may continue to write to it. Returns the files of an earlier recording that were
    /// [removed](aside::SetAside::removed).
    ///
    /// # Errors
    ///
    /// If the file, or the existing file, cannot be renamed. The existing file is then unchanged.
    pub(crate) fn publish(self) -> Result<Vec<File>, Failure> {
        let Self { path, beside } = self;
        let Some(beside) = beside else { return Ok(Vec::new()) };
        beside.publish().map_err(|error| Failure(format!("{}: {error}", shown(&path))))
    }
}

impl TemporaryFile {
    fn publish(self) -> io::Result<Vec<File>> {
        let Self { temporary, file, claim, holds } = self;
        let target = claim.target.as_deref().unwrap_or(&claim.path);
        #[cfg(unix)]
        claim.permissions(&file, holds)?;
        if claim.existing.is_some() && holds != FileContent::Recording {
            // The new file must be on the disk before the old one is replaced. Otherwise a full disk or a power failure
            // could lose both.
            file.sync_all()?;
        }
        let old = if holds == FileContent::Recording { aside::set_aside(target)? } else { None };
        temporary.persist(target).map_err(|error| {
            if let Some(old) = &old {
                let _ = fs::rename(&old.path, target);
            }
            error.error
        })?;
        Ok(old.map_or_else(Vec::new, |old| old.removed))
    }
}

#[cfg(unix)]
impl OutputClaim {
    /// Sets the permissions. A new file gets no more than those it was created with.
    fn permissions(&self, file: &File, holds: FileContent) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let mode = match (holds, &self.existing) {
            (FileContent::Report, Some(existing)) => existing.mode() & 0o777,
            (FileContent::Report, None) => return Ok(()),
            _ => 0o600 & self.mode,
        };
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
}

#[cfg(all(test, unix))]
mod tests;

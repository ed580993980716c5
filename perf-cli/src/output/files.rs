//! Files that are written: never over an input or another output, and under their name only when they are whole.
//!
//! A regular file is written beside its name, in the same folder, and renamed when it is whole: what fails leaves the
//! file that was there as it was. Of a symbolic link the target is replaced and the link stays; a hard link elsewhere
//! keeps the old content. What is no regular file (a pipe, `/dev/null`), or is our standard output, is written straight.
//!
//! What holds a capture is for its owner alone (mode 0600), and no more open than the captures that it was made of.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf, is_separator};

use tempfile::TempPath;

use super::file_id::{FileId, InputFile, standard_outputs};
use crate::Failure;
use crate::render::escape::shown;

/// What a file is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A capture.
    Capture,
    /// What the hardware traced.
    Trace,
    /// A capture as it is recorded: the file that was there becomes `FILE.old`.
    Recording,
    /// What need not be secret.
    Report,
}

/// The files of a run: those that are read, and those that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    inputs: Vec<InputFile>,
    /// What will be written, and the option that asks for it.
    claimed: Vec<(Claimed, &'static str)>,
}

/// What tells an output from others.
#[derive(Debug, PartialEq, Eq)]
enum Claimed {
    File(FileId),
    /// A file that is not there yet: its folder, and its name in it.
    New(FileId, PathBuf),
}

/// A file that may be written.
#[derive(Debug)]
pub(crate) struct Claim {
    /// As the command line has it.
    path: PathBuf,
    /// Without links; `None` for what is written straight.
    target: Option<PathBuf>,
    /// What is there.
    existing: Option<Metadata>,
    /// The permissions that all inputs have.
    #[cfg(unix)]
    mode: u32,
}

impl Outputs {
    /// The outputs of a run that reads these files.
    pub(crate) fn of(inputs: impl IntoIterator<Item = InputFile>) -> Self {
        Self { inputs: inputs.into_iter().collect(), claimed: Vec::new() }
    }

    /// Records are printed too: standard output may be a file.
    pub(crate) fn print(&mut self) {
        let [stdout, _] = standard_outputs();
        self.claimed.extend(stdout.map(|id| (Claimed::File(id), "standard output")));
    }

    /// Claims `path`, which `option` names, as an output. Nothing is created yet.
    ///
    /// # Errors
    ///
    /// It is an input, would become a part of one, or is another output; it is a folder, or in none.
    pub(crate) fn claim(&mut self, option: &'static str, path: &Path) -> Result<Claim, Failure> {
        let failure = |what: &str| Failure(format!("{}: {what}", shown(path)));
        let (target, existing) = target(path).map_err(|error| failure(&error.to_string()))?;
        let (claimed, is_straight) = match &existing {
            Some(metadata) if metadata.is_dir() => {
                return Err(failure(&format!("is a folder; give {option} the name of a file")));
            }
            Some(metadata) => {
                let id = FileId::new(&target, metadata);
                let is_standard = id.is_some() && standard_outputs().contains(&id);
                (id.map(Claimed::File), is_standard || !metadata.is_file())
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
                let what = format!("is also what {other} writes; give {option} another name");
                return Err(failure(&what));
            }
            self.claimed.push((claimed, option));
        }
        Ok(Claim {
            path: path.to_owned(),
            target: (!is_straight).then_some(target),
            existing,
            #[cfg(unix)]
            mode: self.inputs.iter().filter_map(|input| input.mode).fold(0o777, |all, mode| all & mode),
        })
    }
}

impl InputFile {
    fn is(&self, output: &Claimed) -> bool {
        matches!((output, &self.id), (Claimed::File(output), Some(id)) if output == id)
    }

    /// Whether this is a folder that has a new output for one of its data files.
    fn takes_in(&self, output: &Claimed) -> bool {
        let is_data = |name: &Path| name.as_os_str().as_encoded_bytes().starts_with(b"data.");
        matches!((output, &self.id), (Claimed::New(folder, name), Some(id)) if folder == id && is_data(name))
    }
}

/// Where writing to `path` ends up, and what is there: links are followed, also those to what is not there yet.
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
            // It ends: links in a circle are another error than NotFound.
            while let Ok(link) = fs::read_link(&path) {
                path = folder(&path).join(link);
            }
            let Some(name) = path.file_name() else { return Err(error) };
            Ok((folder(&path).canonicalize()?.join(name), None))
        }
        Err(error) => Err(error),
    }
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What tells a file from others that is not there yet.
fn new(target: &Path) -> io::Result<Claimed> {
    let folder = folder(target);
    let id = FileId::new(folder, &fs::metadata(folder)?).ok_or(io::ErrorKind::NotADirectory)?;
    Ok(Claimed::New(id, target.file_name().unwrap_or_default().into()))
}

impl Claim {
    /// Creates the file. It has its name when the second is [published](Unfinished::publish).
    ///
    /// # Errors
    ///
    /// The folder, or the file that is to be replaced, cannot be written to; a capture cannot be written to a pipe.
    pub(crate) fn create(self, holds: Holds) -> Result<(File, Unfinished), Failure> {
        let failure = |what: &dyn core::fmt::Display| Failure(format!("{}: {what}", shown(&self.path)));
        let Some(target) = &self.target else {
            let mut file = File::create(&self.path).map_err(|error| failure(&error))?;
            if matches!(holds, Holds::Capture | Holds::Recording) && file.seek(SeekFrom::Start(0)).is_err() {
                return Err(failure(
                    &"a perf.data cannot be written to a pipe, as its header is completed last; give the name of a file",
                ));
            }
            return Ok((file, Unfinished { path: self.path, beside: None }));
        };
        if self.existing.is_some() && holds != Holds::Recording {
            // A file that may not be written to is not replaced either.
            File::options().write(true).open(target).map_err(|error| failure(&error))?;
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".perfdata-");
        #[cfg(unix)]
        if holds == Holds::Report {
            // As of any file; the umask takes away from it.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let temporary = builder
            .tempfile_in(folder(target))
            .map_err(|error| failure(&format!("cannot write a file beside it, to be renamed: {error}")))?;
        #[cfg(target_os = "linux")]
        super::signals::unfinished(temporary.path());
        let (file, temporary) = temporary.into_parts();
        let copy = file.try_clone().map_err(|error| failure(&error))?;
        let beside = Beside { temporary, file: copy, claim: self, holds };
        let path = beside.claim.path.clone();
        Ok((file, Unfinished { path, beside: Some(beside) }))
    }
}

/// A file that is being written. It is removed if it is not published.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// `None` of what is written straight.
    beside: Option<Beside>,
}

/// A file beside the name that it is to have.
#[derive(Debug)]
struct Beside {
    temporary: TempPath,
    file: File,
    claim: Claim,
    holds: Holds,
}

impl Unfinished {
    /// Where it is until it is published; `None` of what is written straight, and holds nothing that could be read.
    #[cfg(target_os = "linux")]
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.beside.as_ref().map(|beside| &*beside.temporary)
    }

    /// Gives the file its name. It may be written on.
    ///
    /// # Errors
    ///
    /// It cannot be renamed, or what was there cannot. That is as it was then.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { path, beside } = self;
        let Some(beside) = beside else { return Ok(()) };
        beside.publish().map_err(|error| Failure(format!("{}: {error}", shown(&path))))
    }
}

impl Beside {
    fn publish(self) -> io::Result<()> {
        let Self { temporary, file, claim, holds } = self;
        let target = claim.target.as_deref().unwrap_or(&claim.path);
        #[cfg(unix)]
        claim.permissions(&file, holds)?;
        if claim.existing.is_some() && holds != Holds::Recording {
            // What is replaced must not be lost to a disk that is full, or power that fails, before this is on it.
            file.sync_all()?;
        }
        let old = (holds == Holds::Recording && target.is_file()).then(|| {
            let mut old = target.as_os_str().to_owned();
            old.push(".old");
            PathBuf::from(old)
        });
        if let Some(old) = &old {
            fs::rename(target, old)?;
        }
        temporary.persist(target).map_err(|error| {
            if let Some(old) = &old {
                let _ = fs::rename(old, target);
            }
            error.error
        })
    }
}

#[cfg(unix)]
impl Claim {
    /// Sets the permissions, which are the most that a new file has so far.
    fn permissions(&self, file: &File, holds: Holds) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let mode = match (holds, &self.existing) {
            (Holds::Report, Some(existing)) => existing.mode() & 0o777,
            (Holds::Report, None) => return Ok(()),
            _ => 0o600 & self.mode,
        };
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
}

#[cfg(all(test, unix))]
mod tests;

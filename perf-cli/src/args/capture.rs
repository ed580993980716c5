//! The captures that a verb reads.

use core::ops::Deref;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};

/// The path of the capture: the one that the command line names, or the default. `-` is standard input.
#[derive(Debug)]
pub(crate) struct Capture(PathBuf);

impl Deref for Capture {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// The arguments that name the capture.
#[derive(Debug, clap::Args)]
struct CaptureArguments {
    /// Capture to read: a file, also one compressed by gzip, xz or zstd, a folder written by perf record --threads, an archive
    /// of perfdata archive, or - for standard input [default: standard input if it is a pipe, else perf.data]
    file: Option<PathBuf>,

    /// Same as FILE, for compatibility with perf
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    input: Option<PathBuf>,
}

/// The name of the file that perf record writes by default.
const DEFAULT: &str = "perf.data";

impl Capture {
    fn of(named: CaptureArguments) -> Result<Self, clap::Error> {
        named.file.or(named.input).map_or_else(default, Ok).map(Self)
    }
}

/// Returns the capture of a command line that names none.
fn default() -> Result<PathBuf, clap::Error> {
    if stdin_is_a_pipe() {
        return Ok("-".into());
    }
    if Path::new(DEFAULT).exists() {
        return Ok(DEFAULT.into());
    }
    let what =
        "there is no perf.data in this folder, and standard input is not a pipe; name the capture <FILE>\n";
    Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, what))
}

#[cfg(unix)]
fn stdin_is_a_pipe() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;

    // `File` closes its descriptor, so it gets a duplicate.
    let descriptor = std::io::stdin().as_fd().try_clone_to_owned();
    let metadata = descriptor.and_then(|descriptor| std::fs::File::from(descriptor).metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// On other systems, only `-` selects standard input.
#[cfg(not(unix))]
fn stdin_is_a_pipe() -> bool {
    false
}

impl clap::Args for Capture {
    fn augment_args(command: clap::Command) -> clap::Command {
        CaptureArguments::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        CaptureArguments::augment_args_for_update(command)
    }
}

impl FromArgMatches for Capture {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::of(CaptureArguments::from_arg_matches(matches)?)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The paths of captures: those that the command line names, or the default. `-` is standard input.
#[derive(Debug)]
pub(crate) struct Captures(pub(crate) Vec<PathBuf>);

/// The arguments that name captures.
#[derive(Debug, clap::Args)]
struct AllNamed {
    /// Captures to read: files, also compressed by gzip, xz or zstd, folders written by perf record --threads, archives of
    /// perfdata archive, or - for standard input [default: standard input if it is a pipe, else perf.data]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Same as FILE, for compatibility with perf
    #[arg(short, long, value_name = "FILE", conflicts_with = "files")]
    input: Option<PathBuf>,
}

impl clap::Args for Captures {
    fn augment_args(command: clap::Command) -> clap::Command {
        AllNamed::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        AllNamed::augment_args_for_update(command)
    }
}

impl FromArgMatches for Captures {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let AllNamed { mut files, input } = AllNamed::from_arg_matches(matches)?;
        files.extend(input);
        if files.is_empty() {
            files.push(default()?);
        }
        Ok(Self(files))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

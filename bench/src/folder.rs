//! A folder for files that a race makes, and runs of programs in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::status;

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) time: Duration,
    /// The most anonymous memory that was seen, in bytes.
    pub(crate) anonymous: u64,
}

/// A folder among the temporary files, which is removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or if `room` bytes are not free there.
    pub(crate) fn new(room: u64) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("perfdata-bench-{}", std::process::id()));
        fs::create_dir(&path)?;
        let folder = Self(path);
        if available(&folder.0)? < room {
            return Err(Failure(format!("{} has not {room} bytes of free space", folder.0.display())));
        }
        Ok(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs the program on a capture.
    ///
    /// # Errors
    ///
    /// If it cannot be run, or fails.
    pub(crate) fn run_on(&self, program: &Path, arguments: &[&str], capture: &Path) -> Result<Used, Failure> {
        let arguments = arguments.iter().map(OsStr::new).chain([OsStr::new("-i"), capture.as_os_str()]);
        self.run(Command::new(program).args(arguments))
    }

    /// Runs a command, with its output to nowhere. perfdata keeps names in this folder.
    ///
    /// # Errors
    ///
    /// If it cannot be run, or fails.
    pub(crate) fn run(&self, command: &mut Command) -> Result<Used, Failure> {
        command
            .env("XDG_CACHE_HOME", &self.0)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn()?;
        let status = format!("/proc/{}/status", child.id());
        let mut anonymous = 0;
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            anonymous = anonymous.max(status::bytes(&status, "RssAnon:"));
            // Long enough not to disturb, and a small part of the run.
            std::thread::sleep((start.elapsed() / 50).min(Duration::from_millis(2)));
        };
        let time = start.elapsed();
        if !ended.success() {
            return Err(Failure::of(format!("{command:?}"), ended));
        }
        Ok(Used { time, anonymous })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the number of free bytes on the file system of a folder.
fn available(folder: &Path) -> Result<u64, Failure> {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let bytes = text.lines().last().and_then(|line| line.trim().parse().ok());
    bytes.ok_or_else(|| Failure::of("df", "reports no number of free bytes"))
}

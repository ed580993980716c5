//! A folder for one test, and runs of a program in it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The output and exit status of a run.
#[derive(Debug)]
pub struct Run {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = status.code().unwrap_or_else(|| panic!("{command:?}: {status}"));
        Self { status, out: text(stdout), err: text(stderr) }
    }

    /// Checks that the exit status is 1 and that standard error contains these texts.
    pub fn fails(&self, why: &[&str]) {
        assert_eq!(self.status, 1, "{self:?}");
        assert!(why.iter().all(|why| self.err.contains(why)), "{self:?} lacks one of {why:?}");
        assert!(self.err.lines().last().is_some_and(|last| last.starts_with("perfdata: ")), "{self:?}");
    }

    /// Checks that the exit status is 0.
    pub fn succeeds(&self) {
        assert_eq!(self.status, 0, "{self:?}");
    }
}

/// An empty folder for one test.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    program: &'static Path,
}

impl Folder {
    /// Creates the folder for runs of `program`.
    #[must_use]
    pub fn new(program: &'static str, name: &str) -> Self {
        let path = crate::folder().join(name);
        fs::create_dir(&path).unwrap();
        Self { path, program: Path::new(program) }
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the permissions of a file.
    #[must_use]
    pub fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Returns the names in the folder, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command of the program with these arguments in this folder, not started yet.
    pub fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(self.program);
        command.current_dir(&self.path).env("HOME", crate::home()).args(args);
        command
    }

    /// Runs the program with these arguments in this folder.
    pub fn run(&self, args: &[impl AsRef<OsStr>]) -> Run {
        Run::of(&mut self.command(args))
    }

    /// Runs the program with these arguments after a line of shell code, such as `umask 0`.
    pub fn run_after(&self, shell: &str, args: &[&str]) -> Run {
        let mut command = Command::new("sh");
        command
            .current_dir(&self.path)
            .env("HOME", crate::home())
            .args(["-c", &format!("{shell} && exec \"$0\" \"$@\"")]);
        Run::of(command.arg(self.program).args(args))
    }

    /// Opens a file.
    #[must_use]
    pub fn open(&self, name: &str) -> File {
        File::open(self.path(name)).unwrap()
    }
}

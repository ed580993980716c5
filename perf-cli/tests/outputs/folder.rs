//! A folder for one test, and runs of `perfdata` in it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The output and exit status of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = status.code().unwrap_or_else(|| panic!("{command:?}: {status}"));
        Self { status, out: text(stdout), err: text(stderr) }
    }

    /// Checks that the exit status is 1 and that standard error contains these texts.
    pub(crate) fn fails(&self, why: &[&str]) {
        assert_eq!(self.status, 1, "{self:?}");
        assert!(why.iter().all(|why| self.err.contains(why)), "{self:?} does not say {why:?}");
        assert!(self.err.lines().last().is_some_and(|last| last.starts_with("perfdata: ")), "{self:?}");
    }

    pub(crate) fn succeeds(&self) {
        assert_eq!(self.status, 0, "{self:?}");
    }
}

/// An empty folder for one test.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = needs::folder().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Creates a folder that contains a capture, `in.data`.
    pub(crate) fn with_capture(name: &str) -> Self {
        let folder = Self::new(name);
        fs::copy(testdata::path("plain.data"), folder.path("in.data")).unwrap();
        folder
    }

    /// Creates a folder that contains two recorded rings, `0.ring` and `1.ring`, and their events, `attr.data`.
    pub(crate) fn with_rings(name: &str) -> Self {
        let folder = Self::new(name);
        let rings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/rings");
        for (from, to) in
            [("pair-0.ring", "0.ring"), ("pair-1.ring", "1.ring"), ("pair.attr.data", "attr.data")]
        {
            fs::copy(rings.join(from), folder.path(to)).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Returns the names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command `perfdata` with these arguments in this folder, not started yet.
    pub(crate) fn perfdata(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
        command.current_dir(&self.0).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[impl AsRef<OsStr>]) -> Run {
        Run::of(&mut self.perfdata(args))
    }

    /// Runs `perfdata` with these arguments after a line of shell code, such as `umask 0`.
    pub(crate) fn run_after(&self, shell: &str, args: &[&str]) -> Run {
        let mut command = Command::new("sh");
        command.current_dir(&self.0).args(["-c", &format!("{shell} && exec \"$0\" \"$@\"")]);
        Run::of(command.arg(env!("CARGO_BIN_EXE_perfdata")).args(args))
    }

    pub(crate) fn open(&self, name: &str) -> File {
        File::open(self.path(name)).unwrap()
    }
}

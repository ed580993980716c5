//! Tests with a machine in a temporary folder, with this machine, and with the real perf.
//!
//! If perf is not installed, the tests that compare with it print that and pass.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what a test does not expect fails it"
)]

mod build_ids;
mod host;
mod maps;
mod synthesize;

use core::sync::atomic::{AtomicU32, Ordering};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A new folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("perfdata-test-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Creates a folder with files, given by their paths and contents.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(path, content)| folder.put(path, content.as_bytes()));
        folder
    }

    fn put(&self, path: &str, content: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that waits until it is dropped.
struct Idle(Child);

impl Idle {
    fn start() -> Self {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat runs");
        // When it answers, everything that it needs is mapped.
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        Self(child)
    }

    fn pid(&self) -> i32 {
        self.0.id().try_into().unwrap()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs perf and returns what it prints. If it does not run, prints that and returns `None`.
fn perf(arguments: &[&str]) -> Option<String> {
    let home = std::env::temp_dir();
    let output = Command::new("perf")
        .args(arguments)
        .env("HOME", home)
        .envs([("PERF_CONFIG", "/dev/null"), ("LC_ALL", "C")])
        .output();
    match output {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            eprintln!("skipped: perf {} does not run here", arguments.join(" "));
            None
        }
    }
}

/// Runs `perf record` and returns the bytes of its capture. If it fails, prints that and returns `None`.
fn perf_record(folder: &Folder, arguments: &[&str]) -> Option<Vec<u8>> {
    let path = folder.0.join("perf.data");
    let output = path.to_str().unwrap();
    let always = ["record", "-q", "-N", "-e", "cpu-clock", "-o", output];
    perf(&[&always, arguments, &["--", "sleep", "0.1"]].concat())?;
    Some(fs::read(path).unwrap())
}

/// The root folder of this machine.
fn here() -> &'static Path {
    Path::new("/")
}

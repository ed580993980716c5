//! The shared parts of the workspace's tests: captures, an encoder, the [`oracle`], and a counter of [`memory`].

pub mod amd_ibs;
pub mod annotated;
pub mod arm_spe;
pub mod bytes;
pub mod c2c;
pub mod coresight;
pub mod elf;
pub mod features;
pub mod file;
pub mod index;
pub mod intel_pt;
pub mod jitdump;
pub mod memory;
pub mod oracle;
pub mod stack_sample;
pub mod zip;

pub use bytes::Bytes;
pub use jitdump::JitdumpBytes;

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of the capture `name` under `testdata/captures`.
///
/// # Examples
///
/// ```
/// assert!(testdata::path("a.data").ends_with("testdata/captures/a.data"));
/// ```
#[must_use]
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name)
}

/// Returns the files of all captures: those recorded here, those of other projects, and the handmade ones. Some of the
/// files are not captures but text about them.
///
/// # Examples
///
/// ```
/// assert!(testdata::captures().contains(&testdata::path("plain.data")));
/// ```
#[must_use]
pub fn captures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["captures", "foreign", "synthetic"].iter().flat_map(|folder| files_below(&root.join(folder))).collect()
}

/// The variable that has the slow tests take all captures, sizes and mutations.
pub const THOROUGH: &str = "PERF_TESTS_THOROUGH";

/// Returns whether the slow tests take all captures, sizes and mutations, as `.ci/all thorough` does. Otherwise they take some
/// of each kind.
///
/// # Examples
///
/// ```
/// let mutations = if testdata::is_thorough() { 10_000 } else { 2_500 };
/// assert!(mutations > 0);
/// ```
#[must_use]
pub fn is_thorough() -> bool {
    std::env::var_os(THOROUGH).is_some_and(|value| value == "1")
}

/// Returns the files in a folder and below it, in ascending order.
///
/// # Panics
///
/// If the folder cannot be read.
#[must_use]
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<_> =
        paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

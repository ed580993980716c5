//! The shared parts of the workspace's tests: captures, and the [`oracle`].

pub mod oracle;

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

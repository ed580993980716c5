//! The shared parts of the workspace's tests: captures, an encoder, the [`oracle`], and a counter of [`memory`].

pub mod bytes;
pub mod features;
pub mod file;
pub mod memory;
pub mod oracle;

pub use bytes::Bytes;

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

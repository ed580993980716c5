//! What the tests of the workspace share: captures with their recipes, and the [`oracle`].

pub mod oracle;

use std::path::{Path, PathBuf};

/// The path of the capture `name`: that file under `testdata/captures`.
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

//! The captures: our own and those of other projects.

use std::fs;
use std::path::Path;

use testdata::files_below;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign");

pub(crate) struct Capture {
    /// Path below the folder of all captures.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns all captures of at most `most` bytes in ascending order of names.
pub(crate) fn captures(most: usize) -> Vec<Capture> {
    let mut all = below(Path::new(TESTDATA), &["captures", "synthetic"]);
    assert!(all.len() > 80, "the repository's captures are not in {TESTDATA}");
    all.extend(below(Path::new(CORPUS), &["fuzz", "linux-perf-data", "quipper", "LinuxTracepoints"]));
    all.retain(|it| it.bytes.len() <= most);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Returns the files in folders of `root` that are not text.
fn below(root: &Path, folders: &[&str]) -> Vec<Capture> {
    let paths = folders.iter().flat_map(|folder| files_below(&root.join(folder)));
    let named = paths.map(|path| (path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), path));
    let is_text = |name: &str| {
        name.contains("LICENSE")
            || ["txt", "json", "md", "pb_text", "buildids"].iter().any(|end| name.ends_with(end))
    };
    let captures = named.filter(|(name, _)| !is_text(name));
    captures.map(|(name, path)| Capture { name, bytes: fs::read(path).unwrap() }).collect()
}

//! The captures: those of the repository, and those of `../shared/corpus` beside it where that is.

use std::fs;
use std::path::{Path, PathBuf};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");

pub(crate) struct Capture {
    /// Its path below the folder of all captures.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// All captures of at most `most` bytes, by rising name.
pub(crate) fn captures(most: usize) -> Vec<Capture> {
    let mut all = below(Path::new(TESTDATA), &["captures", "synthetic"]);
    assert!(all.len() > 80, "the repository's captures are not in {TESTDATA}");
    if Path::new(CORPUS).is_dir() {
        all.extend(below(Path::new(CORPUS), &["fuzz", "linux-perf-data", "quipper", "LinuxTracepoints"]));
    } else {
        println!("the captures of other machines are left out: {CORPUS} is no folder");
    }
    all.retain(|it| it.bytes.len() <= most);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The files in folders of `root` that are no text.
fn below(root: &Path, folders: &[&str]) -> Vec<Capture> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let is_text = ["txt", "json", "md", "pb_text", "buildids"].iter().any(|end| name.ends_with(end));
            if path.is_dir() {
                left.push(path);
            } else if !is_text && !name.contains("LICENSE") {
                found.push(Capture { name, bytes: fs::read(path).unwrap() });
            }
        }
    }
    found
}

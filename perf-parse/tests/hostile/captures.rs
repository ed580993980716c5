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

/// The largest captures of simpleperf take seconds each, so that they are for the thorough tests.
const LARGE: usize = 100_000;

/// Returns all captures of at most `most` bytes in ascending order of names: of other writers than `perf record`, some.
pub(crate) fn captures(most: usize) -> Vec<Capture> {
    let mut all = below(Path::new(TESTDATA), &["captures", "synthetic"]);
    assert!(all.len() > 80, "the repository's captures are not in {TESTDATA}");
    all.extend(below(Path::new(CORPUS), &["fuzz", "linux-perf-data", "quipper", "LinuxTracepoints"]));
    let writers = [below(Path::new(CORPUS), &["simpleperf"]), below(Path::new(TESTDATA), &["writers"])];
    let captures = writers.into_iter().flatten().filter(|it| it.name.ends_with(".data"));
    let is_taken = |number: usize, it: &Capture| {
        let is_sampled = !it.name.starts_with("writers") || number.is_multiple_of(3);
        testdata::is_thorough() || (is_sampled && it.bytes.len() <= LARGE)
    };
    all.extend(captures.enumerate().filter(|(number, it)| is_taken(*number, it)).map(|(_, it)| it));
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

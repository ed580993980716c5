//! Runs the bodies of the fuzz targets on every file of the fuzz corpora and every input that once failed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folder of the fuzz targets.
fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Returns the names in a folder, without their extensions.
fn names(folder: &Path) -> HashSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Runs a body on each file of a folder. Returns the number of files.
fn replay(folder: &Path, body: bodies::Body) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        if std::panic::catch_unwind(|| body(&bytes)).is_err() {
            panic!("{} fails", path.display());
        }
        count += 1;
    }
    count
}

fn targets() -> HashSet<String> {
    bodies::TARGETS.iter().map(|&(name, _)| name.to_owned()).collect()
}

#[test]
fn every_target_has_a_program_and_a_corpus() {
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets());
    assert_eq!(names(&fuzz().join("corpus")), targets());
    assert!(names(&fuzz().join("regressions")).is_subset(&targets()));
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let listed: HashSet<_> = manifest.split("[[bin]]\nname = \"").skip(1).collect();
    let listed = listed.iter().map(|rest| rest.split('"').next().unwrap().to_owned());
    assert_eq!(listed.collect::<HashSet<_>>(), targets());
}

#[test]
fn every_corpus_replays() {
    for &(name, body) in bodies::TARGETS {
        let count = replay(&fuzz().join("corpus").join(name), body);
        println!("{name}: {count} files");
        assert!(count >= 10, "{name} has a corpus of {count} files");
    }
}

#[test]
fn every_regression_replays() {
    let folder = fuzz().join("regressions");
    let mut count = 0;
    for &(name, body) in bodies::TARGETS {
        let folder = folder.join(name);
        if folder.exists() {
            count += replay(&folder, body);
        }
    }
    // Each target has a row in the table of the README.
    let readme = fs::read_to_string(fuzz().join("README.md")).unwrap();
    assert_eq!(readme.matches("| `regressions/").count(), count);
}

//! Runs the bodies of the fuzz targets on every input of the fuzz corpora and every input that once failed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::Archive;

/// Returns the folder of the fuzz targets.
fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Returns the names in a folder, up to their first dot. An archive may also be unpacked, under the same name.
fn names(folder: &Path) -> HashSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: io::Result<fs::DirEntry>| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.split('.').next().unwrap().to_owned()
    };
    entries.map(name).collect()
}

/// Runs a body on an input.
fn replay(path: &Path, bytes: &[u8], body: bodies::Body) {
    if std::panic::catch_unwind(|| body(bytes)).is_err() {
        panic!("{} fails", path.display());
    }
}

/// Returns the path of the archive with the corpus of a target.
fn archive(target: &str) -> PathBuf {
    fuzz().join("corpus").join(format!("{target}.tar.gz"))
}

fn targets() -> HashSet<String> {
    bodies::TARGETS.iter().map(|&(name, _)| name.to_owned()).collect()
}

#[test]
fn every_target_has_a_program_and_a_corpus() {
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets());
    assert_eq!(names(&fuzz().join("corpus")), targets());
    assert!(targets().iter().all(|name| archive(name).is_file()));
    assert!(names(&fuzz().join("regressions")).is_subset(&targets()));
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let listed: HashSet<_> = manifest.split("[[bin]]\nname = \"").skip(1).collect();
    let listed = listed.iter().map(|rest| rest.split('"').next().unwrap().to_owned());
    assert_eq!(listed.collect::<HashSet<_>>(), targets());
}

#[test]
fn every_corpus_replays() {
    for &(name, body) in bodies::TARGETS {
        let file = File::open(archive(name)).unwrap();
        let mut count = 0;
        for entry in Archive::new(MultiGzDecoder::new(file)).entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            replay(&Path::new(name).join(path), &bytes, body);
            count += 1;
        }
        println!("{name}: {count} inputs");
        assert!(count >= 10, "{name} has a corpus of {count} inputs");
    }
}

#[test]
fn every_regression_replays() {
    let folder = fuzz().join("regressions");
    let mut count = 0;
    for &(name, body) in bodies::TARGETS {
        // Not every target has failed.
        for entry in fs::read_dir(folder.join(name)).into_iter().flatten() {
            let path = entry.unwrap().path();
            replay(&path, &fs::read(&path).unwrap(), body);
            count += 1;
        }
    }
    // Each target has a row in the table of the README.
    let readme = fs::read_to_string(fuzz().join("README.md")).unwrap();
    assert_eq!(readme.matches("| `regressions/").count(), count);
}

//! The files that recordings replace, and when, in separate folders.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Returns the names in a folder, with the content and mode of each file.
fn files(folder: &Path) -> Vec<(String, String, u32)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            (name, fs::read_to_string(&path).unwrap(), mode)
        })
        .collect();
    files.sort();
    files
}

fn file(name: &str, content: &str, mode: u32) -> (String, String, u32) {
    (name.to_owned(), content.to_owned(), mode)
}

fn begin(path: &Path) -> (File, UnfinishedFile) {
    let (mut file, unfinished) =
        Outputs::default().claim("-o", path).unwrap().create(FileContent::Recording).unwrap();
    file.write_all(b"new").unwrap();
    (file, unfinished)
}

#[test]
fn a_recording_replaces_nothing_before_it_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let (mut first, unfinished) = begin(&path);
    assert!(files(folder.path()).len() == 1 && !path.exists(), "another name, in the same folder");
    unfinished.publish().unwrap();
    assert_eq!(files(folder.path()), [file("perf.data", "new", 0o600)]);
    // The caller continues to write to it.
    first.write_all(b"er").unwrap();
    fs::write(folder.path().join("perf.data.old"), "oldest").unwrap();
    fs::set_permissions(folder.path().join("perf.data.old"), Permissions::from_mode(0o600)).unwrap();
    let before = files(folder.path());
    assert_eq!(before, [file("perf.data", "newer", 0o600), file("perf.data.old", "oldest", 0o600)]);
    drop(begin(&path));
    assert_eq!(files(folder.path()), before, "one that is given up leaves all as it was");
    begin(&path).1.publish().unwrap();
    assert_eq!(
        files(folder.path()),
        [file("perf.data", "new", 0o600), file("perf.data.old", "newer", 0o600)]
    );
}

#[test]
fn a_recording_that_cannot_move_what_is_there_leaves_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    fs::write(&path, "what was there").unwrap();
    fs::create_dir_all(folder.path().join("perf.data.old/full")).unwrap();
    assert!(begin(&path).1.publish().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "what was there");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_recording_goes_where_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("deep");
    fs::create_dir(&deep).unwrap();
    fs::write(deep.join("x"), "what was there").unwrap();
    fs::set_permissions(deep.join("x"), Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("perf.data");
    symlink("deep/x", &link).unwrap();
    begin(&link).1.publish().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(files(&deep), [file("x", "new", 0o600), file("x.old", "what was there", 0o640)]);
}

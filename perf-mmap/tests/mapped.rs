//! Mapped files have the bytes of the files, and captures in them the same records.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};

use perf_mmap::FileMapping;
use perf_parse::Reader;

#[test]
fn every_capture_reads_the_same_mapped_and_by_windows() {
    let mut opened = 0;
    for path in testdata::captures() {
        let file = FileMapping::open(&path).unwrap();
        assert!(*file == *fs::read(&path).unwrap(), "{path:?}");
        let (mapped, by_windows) = (Reader::new(&file), Reader::open(&path));
        let (Ok(mapped), Ok(by_windows)) = (mapped, by_windows) else { continue };
        let (mut one, mut other) = (mapped.records(), by_windows.records());
        loop {
            match (one.next(), other.next()) {
                (None, None) => break,
                (Some(Ok(one)), Some(Ok(other))) => {
                    assert_eq!(one.position(), other.position(), "{path:?}");
                    assert_eq!(one.raw().as_bytes(), other.raw().as_bytes(), "{path:?}");
                }
                (one, other) => {
                    assert_eq!(one.unwrap().unwrap_err(), other.unwrap().unwrap_err(), "{path:?}");
                }
            }
        }
        assert_eq!(one.account(), other.account(), "{path:?}");
        opened += 1;
    }
    assert!(opened > 50);
}

#[test]
fn released_pages_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(&path, &content).unwrap();
    let file = FileMapping::open(&path).unwrap();
    for _ in 0..2 {
        assert!(*file == *content);
        file.release();
    }
    assert!(file.as_ref() == content);
}

#[test]
fn the_position_of_the_file_and_its_end_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "content").unwrap();
    let mut file = File::open(&path).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let mapped = FileMapping::new(&file).unwrap();
    drop(file);
    assert_eq!(&*mapped, b"content");
    // What is appended is not mapped.
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b" and more").unwrap();
    assert_eq!(&*mapped, b"content");
    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        assert_eq!(&*mapped, b"content");
    }
}

#[test]
fn what_cannot_be_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    let mapped = FileMapping::open(&empty).unwrap();
    assert!(mapped.is_empty());
    mapped.release();
    let missing = FileMapping::open(folder.path().join("missing")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    #[cfg(unix)]
    for path in [folder.path(), std::path::Path::new("/dev/null")] {
        let refused = FileMapping::open(path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{path:?}");
        assert_eq!(refused.to_string(), "only regular files can be mapped");
    }
    #[cfg(unix)]
    {
        let writing = OpenOptions::new().write(true).open(testdata_copy(&folder)).unwrap();
        assert_eq!(FileMapping::new(&writing).unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
}

/// Returns the path of a file with bytes.
#[cfg(unix)]
fn testdata_copy(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let path = folder.path().join("copy");
    fs::copy(testdata::path("plain.data"), &path).unwrap();
    path
}

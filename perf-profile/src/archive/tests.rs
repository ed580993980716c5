//! Archives, unpacked to a folder and read into memory: both have the same files, or fail alike.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use perf_symbol::{Files, SymbolOptions};
use tar::EntryType;
use tempfile::TempDir;

use super::entries::EntryStore;
use super::limits::ArchiveBudget;
use super::unpack::UnpackFolder;
use super::{ArchiveLimits, MemoryArchive, file_list, is_archive, unpack};

const ID: &str = ".build-id/ab/cdef";

/// Makes an archive of files and links, as `perf archive` does.
fn archive(files: &[(&str, &[u8])], links: &[(&str, &str)]) -> Vec<u8> {
    let out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    let mut builder = tar::Builder::new(out);
    for (name, target) in links {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        // Unlike `append_link`, this accepts any path.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_link_name_literal(target).unwrap();
        header.set_cksum();
        builder.append(&header, io::empty()).unwrap();
    }
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

const ANY: ArchiveLimits =
    ArchiveLimits { bytes: 1 << 30, entries: 1 << 20, ratio: 1 << 12, ratio_from: 1 << 20 };

fn unpacked(archive: &[u8], limits: ArchiveLimits) -> io::Result<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = unpack(archive, folder.path(), &limits).map(|_| folder);
    match (&unpacked, MemoryArchive::read(archive, &limits)) {
        (Ok(folder), Ok(memory)) => {
            for (name, content) in memory.files.iter() {
                assert_eq!(
                    fs::read(folder.path().join(name)).unwrap(),
                    content.to_vec(),
                    "{}",
                    name.display()
                );
            }
        }
        (Err(error), Err(in_memory)) => assert_eq!(error.to_string(), in_memory.to_string()),
        (unpacked, memory) => panic!("{unpacked:?}, {memory:?}"),
    }
    unpacked
}

#[test]
fn files_are_found_by_build_id() {
    let files: &[(&str, &[u8])] = &[
        ("usr/bin/ls/abcdef/elf", b"ls"),
        ("usr/bin/ls/abcdef/probes", b""),
        (".build-id/12/34.debug", b"debug"),
    ];
    let archive = archive(files, &[(ID, "../../usr/bin/ls/abcdef")]);
    let folder = unpacked(&archive, ANY).unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read(".build-id/ab/cdef/elf"), b"ls");
    assert_eq!(read(".build-id/12/34.debug"), b"debug");
}

#[test]
fn nothing_is_written_elsewhere() {
    let files: &[(&str, &[u8])] = &[("../out/elf", b"a"), ("/tmp/perfdata-out/elf", b"b"), ("in/elf", b"c")];
    let links = [(ID, "../../../out"), (".build-id/00/1", "/etc"), ("../.build-id/x", "in")];
    let folder = unpacked(&archive(files, &links), ANY).unwrap();
    assert!(!folder.path().join(".build-id").exists());
    assert!(!folder.path().parent().unwrap().join("out").exists());
    assert!(!Path::new("/tmp/perfdata-out").exists());
}

#[test]
fn limits() {
    let archive = archive(&[("f/elf", &[7; 1000])], &[(ID, "../../f")]);
    let limits = |bytes, entries| unpacked(&archive, ArchiveLimits { bytes, entries, ..ANY }).map(drop);
    assert!(limits(1000, 4).is_ok() && limits(1001, 5).is_ok());
    assert!(limits(999, 2).unwrap_err().to_string().contains("more than 999 bytes"));
    assert!(limits(1000, 1).unwrap_err().to_string().contains("more than 1 files and folders"));
}

/// Each link gives each file of its folder a name: 30 entries would become 200 files in 20 folders.
#[test]
fn links_multiplied_by_files() {
    let paths = |count: usize, start: &str| (0..count).map(|it| format!("{start}{it}")).collect::<Vec<_>>();
    let (files, links) = (paths(10, "f/"), paths(20, ".build-id/00/"));
    let files: Vec<(&str, &[u8])> = files.iter().map(|name| (&**name, &b"content"[..])).collect();
    let links: Vec<_> = links.iter().map(|name| (&**name, "../../f")).collect();
    let archive = archive(&files, &links);
    // Each name has four parts.
    let limits = |entries| unpacked(&archive, ArchiveLimits { bytes: 70, entries, ..ANY }).map(drop);
    assert!(limits(800).is_ok());
    let error = limits(799).unwrap_err().to_string();
    assert!(error.contains("more than 799 files and folders"), "{error}");
}

#[test]
fn copies_count() {
    let unpacked = |bytes| -> io::Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("0");
        fs::write(&from, b"content").unwrap();
        let limits = ArchiveLimits { bytes, ..ANY };
        let mut budget = ArchiveBudget::new(&limits, Arc::new(AtomicU64::new(1)));
        let link = |_: &Path, _: &Path| Err(io::ErrorKind::TooManyLinks.into());
        let mut it = UnpackFolder { path: folder.path(), link };
        it.place(&from, Path::new("a/b"), &mut budget)?;
        it.place(&from, Path::new("c"), &mut budget)
    };
    assert!(unpacked(14).is_ok());
    assert!(unpacked(13).unwrap_err().to_string().contains("more than 13 bytes"));
}

/// They are decompressed to get to the next one.
#[test]
fn what_is_passed_over_counts() {
    let archive = archive(&[("../f/elf", &[7; 1000])], &[]);
    let limits = |bytes| unpacked(&archive, ArchiveLimits { bytes, entries: 2, ..ANY }).map(drop);
    assert!(limits(1000).is_ok());
    assert!(limits(999).unwrap_err().to_string().contains("more than 999 bytes"));
}

/// As GNU tar and POSIX write names of more than 100 bytes.
#[test]
fn long_names() {
    let folder = format!("{}/abcdef", "long/".repeat(30));
    let archive = |is_posix: bool, file: &str| {
        let out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        let mut builder = tar::Builder::new(out);
        let target = format!("../../{folder}");
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        if is_posix {
            builder.append_pax_extensions([("linkpath", target.as_bytes())]).unwrap();
            header.set_path(ID).unwrap();
            header.set_cksum();
            builder.append(&header, io::empty()).unwrap();
            builder.append_pax_extensions([("path", file.as_bytes()), ("mtime", b"0")]).unwrap();
            let mut header = tar::Header::new_ustar();
            header.set_size(2);
            header.set_path("short").unwrap();
            header.set_cksum();
            builder.append(&header, &b"ls"[..]).unwrap();
        } else {
            builder.append_link(&mut header, ID, target).unwrap();
            let mut header = tar::Header::new_gnu();
            header.set_size(2);
            builder.append_data(&mut header, file, &b"ls"[..]).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    };
    for is_posix in [false, true] {
        let folder = unpacked(&archive(is_posix, &format!("{folder}/elf")), ANY).unwrap();
        assert_eq!(fs::read(folder.path().join(ID).join("elf")).unwrap(), b"ls");
        let error = unpacked(&archive(is_posix, &"n".repeat(9000)), ANY).unwrap_err();
        assert!(error.to_string().contains("bytes, more than 8192"), "{error}");
    }
}

/// Makes a tar file as [`FileCollection::write`](super::super::FileCollection::write) does, with a list of these lines.
fn tar_of(list: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let list = format!("perfdata files 1\n{list}");
    for (name, content) in [(file_list::NAME, list.as_bytes())].iter().chain(files) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Checks what the files of the archive in the next test answer.
fn files_answer(folder: &Path, files: impl Fn(&mut SymbolOptions) -> Arc<dyn Files>) {
    let mut options = SymbolOptions::default();
    let files = files(&mut options);
    let read = |path: &str| files.read(Path::new(path), 100).map(|bytes| bytes.to_vec());
    assert_eq!(read("/tmp/perf-7.map").unwrap(), b"1000 10 f\n");
    assert_eq!(files.inode(Path::new("/tmp/perf-7.map")).map(|inode| inode.ino), Some(77));
    assert_eq!(files.inode(Path::new("/usr/bin/only-its-inode")).map(|inode| inode.ino), Some(78));
    assert_eq!(read("/usr/bin/only-its-inode").unwrap_err().kind(), io::ErrorKind::NotFound);
    // What this machine has is not that of the other one.
    assert_eq!(read("/etc/passwd").unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(files.inode(Path::new("/etc/passwd")), None);
    assert_eq!(files.modified(Path::new("/etc/passwd")), None);
    assert!(files.read_kernel(Path::new("/proc/version"), 1000).is_err() && files.vdso().is_err());
    let by_id = options.debug_dirs.last().unwrap().join(".build-id/ab/cdef/elf");
    assert_eq!(files.read(&by_id, 100).unwrap().to_vec(), b"ls");
    let out = folder.join("../../../../etc/passwd");
    assert_eq!(files.read(&out, 1 << 20).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn captures_and_files_by_path() {
    let files: &[(&str, &[u8])] = &[
        ("perf.data", b"PERFILE2"),
        ("files/tmp/perf-7.map", b"1000 10 f\n"),
        (".build-id/ab/cdef/elf", b"ls"),
    ];
    let list = "perf.data\t-\t1500000000\tperf.data\n\
                files/tmp/perf-7.map\t8:1:77:0\t-\t/tmp/perf-7.map\n\
                -\t8:1:78:0\t-\t/usr/bin/only-its-inode\n";
    let tar = tar_of(list, files);
    // Also in several frames.
    let frames = [&tar[..100], &tar[100..]]
        .map(|part| ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest));
    for archive in [tar, frames.concat()] {
        assert!(is_archive(&*archive).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let unpacked = unpack(&*archive, folder.path(), &ANY).unwrap();
        let capture = unpacked.capture().unwrap();
        assert_eq!(fs::read(&capture).unwrap(), b"PERFILE2");
        let modified = fs::metadata(capture).unwrap().modified().unwrap();
        assert_eq!(modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(), 1500);
        let in_folder =
            |options: &mut SymbolOptions| unpacked.files(Arc::new(perf_symbol::ReadFiles), options);
        files_answer(folder.path(), in_folder);
        let memory = MemoryArchive::read(&*archive, &ANY).unwrap();
        assert_eq!(memory.data_files().iter().map(|it| it.to_vec()).collect::<Vec<_>>(), [b"PERFILE2"]);
        files_answer(folder.path(), |options| memory.files(options));
    }
}

#[test]
fn lists_that_name_other_files() {
    let list = "/etc/passwd\t-\t-\t/a\n\
                files/../../../etc/passwd\t-\t-\t/b\n\
                files/absent\t-\t-\t/c\n\
                other\t-\t-\t/d\n\
                files/there\t-\t-\t/e\n";
    let archive = tar_of(list, &[("files/there", b"1"), ("other", b"2")]);
    let folder = tempfile::tempdir().unwrap();
    let unpacked = unpack(&*archive, folder.path(), &ANY).unwrap();
    assert_eq!(unpacked.list.keys().collect::<Vec<_>>(), [Path::new("/e")]);
    assert_eq!(unpacked.capture(), None);
}

#[test]
fn what_is_compressed_too_far() {
    let tar = tar_of("", &[("files/zeros", &[0; 100_000])]);
    let archive = ruzstd::encoding::compress_to_vec(&*tar, ruzstd::encoding::CompressionLevel::Fastest);
    let limits = |ratio, ratio_from| unpacked(&archive, ArchiveLimits { ratio, ratio_from, ..ANY }).map(drop);
    assert!(limits(1, 200_000).is_ok() && limits(1 << 12, 1000).is_ok());
    assert!(limits(1, 1000).unwrap_err().to_string().contains("less than 1/1 of its size"));
}

#[test]
fn zeros_are_holes() {
    let content = [&[0; 200_000][..], &[7; 10], &[0; 100_000]].concat();
    let folder = unpacked(&tar_of("", &[("files/a", &content)]), ANY).unwrap();
    assert_eq!(fs::read(folder.path().join("files/a")).unwrap(), content);
}

#[test]
fn the_data_files_of_a_folder_are_in_order() {
    let files: Vec<_> =
        ["data.1", "data", "data.10", "data.0", "data.2"].map(|it| (format!("perf.data/{it}"), it)).into();
    let files: Vec<_> = files.iter().map(|(name, it)| (&**name, it.as_bytes())).collect();
    let memory = MemoryArchive::read(&*tar_of("", &files), &ANY).unwrap();
    let expected = ["data", "data.0", "data.1", "data.2"].map(|it| it.as_bytes().to_vec());
    assert_eq!(memory.data_files().iter().map(|it| it.to_vec()).collect::<Vec<_>>(), expected);
}

#[test]
fn other_and_damaged_files_are_refused() {
    let whole = archive(&[("f/elf", &[7; 100_000])], &[(ID, "../../f")]);
    for wrong in [&b"BZh9 and then something else"[..], b"\x7fELF", &whole[..whole.len() / 2]] {
        let error = unpacked(wrong, ANY).unwrap_err().to_string();
        assert!(!error.is_empty());
    }
}

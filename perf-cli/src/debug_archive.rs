//! Archives of `perf archive`: files by build id in a compressed tar file.

use alloc::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use tar::{Archive, EntryType};
use tempfile::TempDir;

use crate::Failure;
use crate::escape::shown;

/// What an archive may take on the disk.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Number of bytes of all files.
    bytes: u64,
    /// Number of files and links.
    entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 << 30, entries: 1 << 20 }
    }
}

/// Unpacks an archive into a folder of its own, which is removed with the returned value. The folder has the files by build
/// id, as `~/.debug` has.
///
/// # Errors
///
/// If the file is no archive of `perf archive`, is damaged, or has more than the limits.
pub(crate) fn unpack(path: &Path) -> Result<TempDir, Failure> {
    let failure = |error: io::Error| Failure(format!("{}: {error}", shown(path)));
    let file = File::open(path).map_err(failure)?;
    unpack_within(BufReader::new(file), Limits::default()).map_err(failure)
}

fn unpack_within(file: impl Read, limits: Limits) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("perfdata-archive-").tempdir()?;
    let mut archive = Archive::new(MultiBzDecoder::new(file));
    let (mut links, mut files) = (BTreeMap::new(), BTreeMap::new());
    let mut room = limits.bytes;
    let not_one = |error: io::Error| {
        io::Error::new(error.kind(), format!("not an archive that perf archive made: {error}"))
    };
    for entry in archive.entries()? {
        let mut entry = entry.map_err(not_one)?;
        if links.len() + files.len() >= limits.entries {
            return Err(io::Error::other(format!("the archive has more than {} files", limits.entries)));
        }
        // A path that leaves the archive is nobody's build id.
        let Some(name) = normal(Path::new(""), &entry.path()?) else { continue };
        match entry.header().entry_type() {
            EntryType::Symlink => {
                let Some(target) = entry.link_name()? else { continue };
                if let Some(target) = normal(name.parent().unwrap_or(Path::new("")), &target) {
                    links.insert(name, target);
                }
            }
            EntryType::Regular => {
                let unpacked = folder.path().join(format!("{}", files.len()));
                let copied = io::copy(&mut (&mut entry).take(room + 1), &mut File::create_new(&unpacked)?)?;
                room = room.checked_sub(copied).ok_or_else(|| {
                    io::Error::other(format!(
                        "the files in the archive have more than {} bytes",
                        limits.bytes
                    ))
                })?;
                files.insert(name, unpacked);
            }
            _ => {}
        }
    }
    // A build id is a link to the folder of a file, which has it as `elf`.
    for (name, target) in &links {
        let inside = files.range(target.clone()..).take_while(|(file, _)| file.starts_with(target));
        for (file, unpacked) in inside {
            let rest = file.strip_prefix(target).unwrap_or(file);
            place(unpacked, &folder.path().join(name).join(rest))?;
        }
    }
    for (name, unpacked) in files.iter().filter(|(name, _)| name.starts_with(".build-id")) {
        place(unpacked, &folder.path().join(name))?;
    }
    Ok(folder)
}

/// Gives a file another name.
fn place(unpacked: &Path, name: &Path) -> io::Result<()> {
    if let Some(folder) = name.parent() {
        fs::create_dir_all(folder)?;
    }
    // Not all file systems have links.
    fs::hard_link(unpacked, name).or_else(|_| fs::copy(unpacked, name).map(drop))
}

/// Returns a path from the top of the archive; `None` if it is not below it.
fn normal(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut normal = folder.to_path_buf();
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            _ => return None,
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn unpacked(archive: &[u8], limits: Limits) -> io::Result<TempDir> {
        unpack_within(archive, limits)
    }

    #[test]
    fn files_are_found_by_build_id() {
        let files: &[(&str, &[u8])] = &[
            ("usr/bin/ls/abcdef/elf", b"ls"),
            ("usr/bin/ls/abcdef/probes", b""),
            (".build-id/12/34.debug", b"debug"),
        ];
        let archive = archive(files, &[(ID, "../../usr/bin/ls/abcdef")]);
        let folder = unpacked(&archive, Limits::default()).unwrap();
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert_eq!(read(".build-id/ab/cdef/elf"), b"ls");
        assert_eq!(read(".build-id/12/34.debug"), b"debug");
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn nothing_is_written_elsewhere() {
        let files: &[(&str, &[u8])] =
            &[("../out/elf", b"a"), ("/tmp/perfdata-out/elf", b"b"), ("in/elf", b"c")];
        let links = [(ID, "../../../out"), (".build-id/00/1", "/etc"), ("../.build-id/x", "in")];
        let folder = unpacked(&archive(files, &links), Limits::default()).unwrap();
        assert!(!folder.path().join(".build-id").exists());
        assert!(!folder.path().parent().unwrap().join("out").exists());
        assert!(!Path::new("/tmp/perfdata-out").exists());
    }

    #[test]
    fn limits() {
        let archive = archive(&[("f/elf", &[7; 1000])], &[(ID, "../../f")]);
        let limits = |bytes, entries| unpacked(&archive, Limits { bytes, entries }).map(drop);
        assert!(limits(1000, 2).is_ok() && limits(1001, 3).is_ok());
        assert!(limits(999, 2).unwrap_err().to_string().contains("more than 999 bytes"));
        assert!(limits(1000, 1).unwrap_err().to_string().contains("more than 1 files"));
    }

    #[test]
    fn other_and_damaged_files_are_refused() {
        let whole = archive(&[("f/elf", &[7; 100_000])], &[(ID, "../../f")]);
        for wrong in [&b"BZh9 and then something else"[..], b"\x7fELF", &whole[..whole.len() / 2]] {
            let error = unpacked(wrong, Limits::default()).unwrap_err().to_string();
            assert!(!error.is_empty());
        }
    }
}

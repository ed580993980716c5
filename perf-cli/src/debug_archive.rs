//! Archives of `perf archive`: files by build id in a compressed tar file.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::mem;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use crate::escape::shown;
use crate::outcome::Failure;
use bzip2::read::MultiBzDecoder;
use tar::{Archive, EntryType};

/// What an archive may take on the disk.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Number of bytes of all files and of their copies.
    bytes: u64,
    /// Number of entries of the archive. At most as many files get a name by build id, folders included: an archive of links
    /// to one folder would otherwise make as many files as it has links and files multiplied.
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
pub(crate) fn unpack(path: &Path) -> Result<Folder, Failure> {
    let failure = |error: io::Error| Failure(format!("{}: {error}", shown(path)));
    let file = File::open(path).map_err(failure)?;
    unpack_within(BufReader::new(file), Limits::default()).map_err(failure)
}

fn unpack_within(file: impl Read, limits: Limits) -> io::Result<Folder> {
    let mut unpacked = UnpackFolder {
        folder: folder()?,
        limits,
        bytes: limits.bytes,
        names: limits.entries,
        link: |from, to| fs::hard_link(from, to),
    };
    let mut archive = Archive::new(MultiBzDecoder::new(file));
    let (mut links, mut files) = (BTreeMap::new(), BTreeMap::new());
    let not_one = |error: io::Error| {
        io::Error::new(error.kind(), format!("not an archive that perf archive made: {error}"))
    };
    let mut long = LongNames::default();
    // Raw, because the tar crate would read a long name of any size into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let mut entry = entry.map_err(not_one)?;
        if number >= limits.entries {
            return Err(unpacked.too_many());
        }
        if long.read(&mut entry)? {
            continue;
        }
        let LongNames { name, target } = mem::take(&mut long);
        let name = name.map_or_else(|| entry.path().map(Cow::into_owned), Ok)?;
        let target =
            target.map_or_else(|| entry.link_name().map(|it| it.map(Cow::into_owned)), |it| Ok(Some(it)))?;
        // A path that leaves the archive is nobody's build id.
        let name = normal(Path::new(""), &name);
        match (entry.header().entry_type(), name) {
            (EntryType::Symlink, Some(name)) => {
                let folder = name.parent().unwrap_or(Path::new(""));
                if let Some(target) = target.and_then(|target| normal(folder, &target)) {
                    links.insert(name, target);
                }
            }
            (EntryType::Regular, Some(name)) => {
                files.insert(name, unpacked.unpack(number, &mut entry)?);
            }
            // To get to the next one, it is decompressed.
            _ => unpacked.take(entry.size())?,
        }
    }
    let by_id = Path::new(".build-id");
    // A build id is a link to the folder of a file, which has it as `elf`.
    for (name, target) in links.iter().filter(|(name, _)| name.starts_with(by_id)) {
        let inside = files.range(target.clone()..).take_while(|(file, _)| file.starts_with(target));
        for (file, from) in inside {
            let rest = file.strip_prefix(target).unwrap_or(file);
            unpacked.place(from, &name.join(rest))?;
        }
    }
    for (name, from) in files.iter().filter(|(name, _)| name.starts_with(by_id)) {
        unpacked.place(from, name)?;
    }
    Ok(unpacked.folder)
}

/// The folder that an archive is unpacked to. It is removed when it is dropped, when a signal ends the program, or else by the
/// next run that unpacks an archive.
#[cfg(target_os = "linux")]
pub(crate) type Folder = crate::output::stale::HeldFolder;

/// The folder that an archive is unpacked to, which is removed when it is dropped.
#[cfg(not(target_os = "linux"))]
pub(crate) type Folder = tempfile::TempDir;

/// Creates a folder to unpack an archive to.
fn folder() -> io::Result<Folder> {
    const PREFIX: &str = "perfdata-archive-";
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(target_os = "linux")]
    {
        crate::output::remove_unfinished_on_signals();
        let create = || Folder::create(&builder, &std::env::temp_dir(), PREFIX);
        crate::output::create_unfinished(create, Folder::path)
    }
    #[cfg(not(target_os = "linux"))]
    builder.tempdir()
}

/// The folder that an archive is unpacked to, and what may still be added to it.
struct UnpackFolder {
    folder: Folder,
    limits: Limits,
    bytes: u64,
    names: usize,
    /// Gives a file another name. Some file systems cannot, and some can no more than 65,000 times.
    link: fn(&Path, &Path) -> io::Result<()>,
}

impl UnpackFolder {
    /// Writes a file, and returns its path.
    fn unpack(&mut self, number: usize, entry: &mut impl Read) -> io::Result<PathBuf> {
        let path = self.folder.path().join(number.to_string());
        let most = self.bytes.saturating_add(1);
        let copied = io::copy(&mut entry.take(most), &mut File::create_new(&path)?)?;
        self.take(copied)?;
        Ok(path)
    }

    /// Gives a file a name in the folder.
    fn place(&mut self, from: &Path, name: &Path) -> io::Result<()> {
        self.names = self.names.checked_sub(name.components().count()).ok_or_else(|| self.too_many())?;
        let name = self.folder.path().join(name);
        if let Some(folder) = name.parent() {
            fs::create_dir_all(folder)?;
        }
        if (self.link)(from, &name).is_err() {
            self.take(fs::metadata(from)?.len())?;
            fs::copy(from, &name)?;
        }
        Ok(())
    }

    fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(format!("the files in the archive have more than {} bytes", self.limits.bytes))
        })?;
        Ok(())
    }

    fn too_many(&self) -> io::Error {
        io::Error::other(format!("the archive has more than {} files and folders", self.limits.entries))
    }
}

/// The long name and the long target of a link that the next entry has. Both GNU's and POSIX's form is read.
#[derive(Default)]
struct LongNames {
    name: Option<PathBuf>,
    target: Option<PathBuf>,
}

impl LongNames {
    /// Reads an entry that has a name of the next one; returns whether it is one.
    fn read(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
        /// Linux has no longer path, and a form of it has no longer text.
        const LONGEST: u64 = 1 << 13;
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader) {
            return Ok(false);
        }
        if entry.size() > LONGEST {
            return Err(io::Error::other(format!(
                "the archive has a name of {} bytes, more than {LONGEST}",
                entry.size()
            )));
        }
        let mut text = Vec::new();
        entry.read_to_end(&mut text)?;
        let path = |text: &[u8]| {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            text.get(..end).map(path_of)
        };
        match kind {
            EntryType::GNULongName => self.name = path(&text),
            EntryType::GNULongLink => self.target = path(&text),
            _ => {
                for field in tar::PaxExtensions::new(&text) {
                    let field = field?;
                    match field.key_bytes() {
                        b"path" => self.name = path(field.value_bytes()),
                        b"linkpath" => self.target = path(field.value_bytes()),
                        _ => {}
                    }
                }
            }
        }
        Ok(true)
    }
}

#[cfg(unix)]
fn path_of(text: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(text).into()
}

#[cfg(not(unix))]
fn path_of(text: &[u8]) -> PathBuf {
    String::from_utf8_lossy(text).as_ref().into()
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

    fn unpacked(archive: &[u8], limits: Limits) -> io::Result<Folder> {
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
        assert!(limits(1000, 4).is_ok() && limits(1001, 5).is_ok());
        assert!(limits(999, 2).unwrap_err().to_string().contains("more than 999 bytes"));
        assert!(limits(1000, 1).unwrap_err().to_string().contains("more than 1 files and folders"));
    }

    /// Each link gives each file of its folder a name: 30 entries would become 200 files in 20 folders.
    #[test]
    fn links_multiplied_by_files() {
        let paths =
            |count: usize, start: &str| (0..count).map(|it| format!("{start}{it}")).collect::<Vec<_>>();
        let (files, links) = (paths(10, "f/"), paths(20, ".build-id/00/"));
        let files: Vec<(&str, &[u8])> = files.iter().map(|name| (&**name, &b"content"[..])).collect();
        let links: Vec<_> = links.iter().map(|name| (&**name, "../../f")).collect();
        let archive = archive(&files, &links);
        // Each name has four parts.
        let limits = |entries| unpacked(&archive, Limits { bytes: 70, entries }).map(drop);
        assert!(limits(800).is_ok());
        let error = limits(799).unwrap_err().to_string();
        assert!(error.contains("more than 799 files and folders"), "{error}");
    }

    #[test]
    fn copies_count() {
        let unpacked = |bytes| {
            let folder = super::folder().unwrap();
            let from = folder.path().join("0");
            fs::write(&from, b"content").unwrap();
            let limits = Limits { bytes, entries: 100 };
            let link = |_: &Path, _: &Path| Err(io::ErrorKind::TooManyLinks.into());
            let mut it = UnpackFolder { folder, limits, bytes, names: 100, link };
            it.place(&from, Path::new("a/b")).and_then(|()| it.place(&from, Path::new("c")))
        };
        assert!(unpacked(14).is_ok());
        assert!(unpacked(13).unwrap_err().to_string().contains("more than 13 bytes"));
    }

    /// They are decompressed to get to the next one.
    #[test]
    fn what_is_passed_over_counts() {
        let archive = archive(&[("../f/elf", &[7; 1000])], &[]);
        let limits = |bytes| unpacked(&archive, Limits { bytes, entries: 2 }).map(drop);
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
            let folder = unpacked(&archive(is_posix, &format!("{folder}/elf")), Limits::default()).unwrap();
            assert_eq!(fs::read(folder.path().join(ID).join("elf")).unwrap(), b"ls");
            let error = unpacked(&archive(is_posix, &"n".repeat(9000)), Limits::default()).unwrap_err();
            assert!(error.to_string().contains("bytes, more than 8192"), "{error}");
        }
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

//! The reader of archives: of [`FileCollection::write`](super::FileCollection::write), and of `perf archive`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bzip2::read::MultiBzDecoder;
use perf_symbol::{Files, SymbolOptions};
use tar::{Archive, EntryType};

use super::compressed::{CountedBytes, ZstdFrames};
use super::file_list::{self, ListedFile};
use super::listed_files::ListedFiles;
use super::long_names::LongNames;
use super::write::CAPTURE;

/// The first bytes of Zstandard and of bzip2.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BZIP2: &[u8] = b"BZh";

/// Returns whether a file that begins with these bytes, at least 262, may be an archive: a tar file, or what is compressed by
/// Zstandard or bzip2. A capture is none.
#[must_use]
pub fn is_archive(start: &[u8]) -> bool {
    start.starts_with(ZSTD) || start.starts_with(BZIP2) || start.get(257..262) == Some(b"ustar")
}

/// What an archive may take on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveLimits {
    /// Number of bytes of all files and of their copies. 16 GiB by default.
    pub bytes: u64,
    /// Number of entries of the archive. At most as many files get a name by build id, folders included: an archive of links
    /// to one folder would otherwise make as many files as it has links and files multiplied. 2^20 by default.
    pub entries: usize,
    /// Number of bytes that each compressed byte may become. 4096 by default.
    pub ratio: u64,
    /// Number of bytes up to which the ratio may be higher. 64 MiB by default.
    pub ratio_from: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { bytes: 16 << 30, entries: 1 << 20, ratio: 1 << 12, ratio_from: 64 << 20 }
    }
}

/// An archive that was unpacked to a folder.
#[derive(Debug)]
pub struct UnpackedArchive {
    folder: PathBuf,
    list: HashMap<PathBuf, ListedFile>,
}

impl UnpackedArchive {
    /// Returns the folder. It has the files by build id, as `~/.debug` has.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the capture, a file or a folder; `None` for an archive of `perf archive`, which has none.
    #[must_use]
    pub fn capture(&self) -> Option<PathBuf> {
        Some(self.folder.join(CAPTURE)).filter(|path| path.exists())
    }

    /// Returns the files of the archive at the paths that they had on the recording machine, with inodes and times. Adds the folder
    /// to [`SymbolOptions::debug_dirs`]. The files of this machine, which `files` has, are read only below the folders and at the
    /// paths of `options`, by build id, and if they were fetched. What this machine runs is not used.
    #[must_use]
    pub fn files(&self, files: Arc<dyn Files>, options: &mut SymbolOptions) -> Arc<dyn Files> {
        options.debug_dirs.push(self.folder.clone());
        let SymbolOptions { symfs, debug_dirs, cache, vmlinux, kallsyms, .. } = &*options;
        let given = [symfs, cache, vmlinux, kallsyms].into_iter().flatten().chain(debug_dirs).cloned();
        let given = given.chain(["/usr/lib/debug/.build-id".into()]).collect();
        let (folder, list) = (self.folder.clone(), self.list.clone());
        Arc::new(ListedFiles { files, folder, list, given, fetched: Mutex::default() })
    }
}

/// Unpacks an archive into a folder, which must be empty and belong to the caller alone. Links are not followed and not made;
/// entries that lead out of the folder are left out.
///
/// # Errors
///
/// If it is no archive, is damaged, or has more than the limits; if the folder cannot be written.
///
/// # Examples
///
/// ```no_run
/// use std::{fs, io};
/// use std::sync::Arc;
///
/// use perf_profile::archive::{ArchiveLimits, unpack};
/// use perf_symbol::{ReadFiles, SymbolOptions};
///
/// fs::create_dir("unpacked")?;
/// let file = io::BufReader::new(fs::File::open("perf.data.tar.zst")?);
/// let archive = unpack(file, "unpacked".as_ref(), &ArchiveLimits::default())?;
/// let capture = archive.capture().ok_or(io::ErrorKind::NotFound)?;
/// let mut options = SymbolOptions::default();
/// // For `Symbols::with_files`.
/// let files = archive.files(Arc::new(ReadFiles), &mut options);
/// # let _ = (capture, files);
/// # Ok::<(), io::Error>(())
/// ```
pub fn unpack(archive: impl BufRead, folder: &Path, limits: &ArchiveLimits) -> io::Result<UnpackedArchive> {
    let folder = UnpackFolder {
        path: folder,
        limits,
        bytes: limits.bytes,
        names: limits.entries,
        compressed: Arc::default(),
        link: |from, to| fs::hard_link(from, to),
    };
    let mut archive = CountedBytes { from: archive, count: Arc::clone(&folder.compressed) };
    let start = archive.fill_buf()?;
    if start.starts_with(ZSTD) {
        unpack_tar(ZstdFrames::new(archive), folder)
    } else if start.starts_with(BZIP2) {
        unpack_tar(MultiBzDecoder::new(archive), folder)
    } else {
        unpack_tar(archive, folder)
    }
}

fn unpack_tar(tar: impl Read, mut unpacked: UnpackFolder<'_>) -> io::Result<UnpackedArchive> {
    let mut archive = Archive::new(tar);
    let (mut links, mut files) = (BTreeMap::new(), BTreeMap::new());
    let not_one = |error: io::Error| {
        io::Error::new(error.kind(), format!("not an archive that perf or perfdata made: {error}"))
    };
    let mut long = LongNames::default();
    // Raw, because the tar crate would read a long name of any size into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let mut entry = entry.map_err(not_one)?;
        if number >= unpacked.limits.entries {
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
    let is_placed =
        |name: &Path| [by_id, "files".as_ref(), CAPTURE.as_ref()].iter().any(|it| name.starts_with(it));
    for (name, from) in files.iter().filter(|(name, _)| is_placed(name)) {
        unpacked.place(from, name)?;
    }
    let list = files.get(Path::new(file_list::NAME)).map(|path| unpacked.list(path)).transpose()?;
    let mut list = list.flatten().unwrap_or_default();
    // Another name could be that of a file of this machine.
    let has = |entry: &str| is_placed(Path::new(entry)) && files.contains_key(Path::new(entry));
    list.retain(|_, file| file.entry.as_deref().is_none_or(has));
    for name in files.keys().filter(|name| name.starts_with(CAPTURE)) {
        if let Some(modified) = list.get(name).and_then(|file| file.modified) {
            File::options().write(true).open(unpacked.path.join(name))?.set_modified(modified)?;
        }
    }
    Ok(UnpackedArchive { folder: unpacked.path.to_owned(), list })
}

/// The folder that an archive is unpacked to, and what may still be added to it.
struct UnpackFolder<'a> {
    path: &'a Path,
    limits: &'a ArchiveLimits,
    bytes: u64,
    names: usize,
    /// Number of bytes that were read of the archive.
    compressed: Arc<AtomicU64>,
    /// Gives a file another name. Some file systems cannot, and some can no more than 65,000 times.
    link: fn(&Path, &Path) -> io::Result<()>,
}

impl UnpackFolder<'_> {
    /// Writes a file, and returns its path. Blocks of zeros become holes.
    fn unpack(&mut self, number: usize, entry: &mut impl Read) -> io::Result<PathBuf> {
        let path = self.path.join(number.to_string());
        let mut file = File::create_new(&path)?;
        let mut block = vec![0; 1 << 16];
        let mut size = 0_u64;
        loop {
            let read = match entry.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let block = block.get(..read).unwrap_or_default();
            self.take(block.len() as u64)?;
            size = size.saturating_add(block.len() as u64);
            if block.iter().all(|&byte| byte == 0) {
                file.seek(SeekFrom::Start(size))?;
            } else {
                file.write_all(block)?;
            }
        }
        file.set_len(size)?;
        Ok(path)
    }

    /// Gives a file a name in the folder.
    fn place(&mut self, from: &Path, name: &Path) -> io::Result<()> {
        self.names = self.names.checked_sub(name.components().count()).ok_or_else(|| self.too_many())?;
        let mut folder = self.path.to_owned();
        for part in name.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            // `create_dir_all` would also create the folder of the archive again that was removed to end the unpacking.
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let name = self.path.join(name);
        if (self.link)(from, &name).is_err() {
            self.take(fs::metadata(from)?.len())?;
            fs::copy(from, &name)?;
        }
        Ok(())
    }

    /// Reads the list of paths.
    fn list(&self, path: &Path) -> io::Result<Option<HashMap<PathBuf, ListedFile>>> {
        /// Number of bytes of the list of some 300,000 files.
        const LONGEST: u64 = 64 << 20;
        let size = fs::metadata(path)?.len();
        if size > LONGEST {
            let what = format!("the list of files has {size} bytes, more than {LONGEST}");
            return Err(io::Error::other(what));
        }
        Ok(file_list::decode(&fs::read(path)?))
    }

    fn take(&mut self, bytes: u64) -> io::Result<()> {
        let &ArchiveLimits { bytes: most, ratio, ratio_from, .. } = self.limits;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(format!("the files in the archive have more than {most} bytes"))
        })?;
        let taken = most.saturating_sub(self.bytes);
        let compressed = self.compressed.load(Ordering::Relaxed);
        if taken > ratio_from && taken > compressed.saturating_mul(ratio) {
            return Err(io::Error::other(format!(
                "the archive is compressed to less than 1/{ratio} of its size"
            )));
        }
        Ok(())
    }

    fn too_many(&self) -> io::Error {
        io::Error::other(format!("the archive has more than {} files and folders", self.limits.entries))
    }
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
    use tempfile::TempDir;

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

    const ANY: ArchiveLimits =
        ArchiveLimits { bytes: 1 << 30, entries: 1 << 20, ratio: 1 << 12, ratio_from: 1 << 20 };

    fn unpacked(archive: &[u8], limits: ArchiveLimits) -> io::Result<TempDir> {
        let folder = tempfile::tempdir().unwrap();
        unpack(archive, folder.path(), &limits).map(|_| folder)
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
        let files: &[(&str, &[u8])] =
            &[("../out/elf", b"a"), ("/tmp/perfdata-out/elf", b"b"), ("in/elf", b"c")];
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
        let paths =
            |count: usize, start: &str| (0..count).map(|it| format!("{start}{it}")).collect::<Vec<_>>();
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
        let unpacked = |bytes| {
            let folder = tempfile::tempdir().unwrap();
            let from = folder.path().join("0");
            fs::write(&from, b"content").unwrap();
            let limits = ArchiveLimits { bytes, entries: 100, ..ANY };
            let link = |_: &Path, _: &Path| Err(io::ErrorKind::TooManyLinks.into());
            let (path, compressed) = (folder.path(), Arc::new(AtomicU64::new(1)));
            let mut it = UnpackFolder { path, limits: &limits, bytes, names: 100, compressed, link };
            it.place(&from, Path::new("a/b")).and_then(|()| it.place(&from, Path::new("c")))
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
            assert!(is_archive(&archive));
            let folder = tempfile::tempdir().unwrap();
            let unpacked = unpack(&*archive, folder.path(), &ANY).unwrap();
            let capture = unpacked.capture().unwrap();
            assert_eq!(fs::read(&capture).unwrap(), b"PERFILE2");
            let modified = fs::metadata(capture).unwrap().modified().unwrap();
            assert_eq!(modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(), 1500);
            let mut options = SymbolOptions::default();
            let files = unpacked.files(Arc::new(perf_symbol::ReadFiles), &mut options);
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
            let out = folder.path().join("../../../../etc/passwd");
            assert_eq!(files.read(&out, 1 << 20).unwrap_err().kind(), io::ErrorKind::NotFound);
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
        let limits =
            |ratio, ratio_from| unpacked(&archive, ArchiveLimits { ratio, ratio_from, ..ANY }).map(drop);
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
    fn other_and_damaged_files_are_refused() {
        let whole = archive(&[("f/elf", &[7; 100_000])], &[(ID, "../../f")]);
        for wrong in [&b"BZh9 and then something else"[..], b"\x7fELF", &whole[..whole.len() / 2]] {
            let error = unpacked(wrong, ANY).unwrap_err().to_string();
            assert!(!error.is_empty());
        }
    }
}

//! The writer of archives.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tar::{Builder, Header};

use super::collection::FileCollection;
use super::file_list::{self, ListedFile};
use super::slim::{self, FileDetail};

/// The entry of the capture.
pub(super) const CAPTURE: &str = "perf.data";

/// A file of a capture, or the capture itself.
#[derive(Debug)]
pub struct CapturePart {
    /// The name of the entry.
    name: String,
    file: File,
    size: u64,
    modified: Option<SystemTime>,
}

impl CapturePart {
    /// Opens the capture at a path: a file, or a folder with `data`, the files `data.N`, and `kcore_dir`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is neither.
    pub fn of(path: &Path) -> io::Result<Vec<Self>> {
        let mut parts = Vec::new();
        if !path.is_dir() {
            parts.push(Self::open(path, CAPTURE.to_owned())?);
            return Ok(parts);
        }
        for name in names(path)? {
            if name == "data" || name.starts_with("data.") {
                parts.push(Self::open(&path.join(&name), format!("{CAPTURE}/{name}"))?);
            }
        }
        const KCORE: &str = "kcore_dir";
        let kcore = path.join(KCORE);
        for name in if kcore.is_dir() { names(&kcore)? } else { Vec::new() } {
            parts.push(Self::open(&kcore.join(&name), format!("{CAPTURE}/{KCORE}/{name}"))?);
        }
        Ok(parts)
    }

    fn open(path: &Path, name: String) -> io::Result<Self> {
        // Opening a pipe may block.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "is neither a file nor a folder with a capture",
            ));
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok(Self { name, file, size: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// Returns the names in a folder, in their order.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
    let mut names: Vec<String> = names.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect();
    names.sort_unstable();
    Ok(names)
}

impl FileCollection {
    /// Writes an archive of the capture and the files, as a tar file that is not compressed. The same files give the same bytes.
    ///
    /// # Errors
    ///
    /// Those of `out`, and of reading the capture: also if it became shorter since it was opened.
    pub fn write(&self, capture: &mut [CapturePart], detail: FileDetail, out: impl Write) -> io::Result<()> {
        let mut tar = Builder::new(out);
        let parts = capture.iter().map(|part| {
            let (entry, modified) = (Some(part.name.clone()), part.modified);
            (PathBuf::from(&part.name), ListedFile { entry, inode: None, modified })
        });
        let parts: Vec<_> = parts.collect();
        let listed = parts.iter().map(|(path, file)| (&**path, file));
        let list = file_list::encode(listed.chain(self.list.iter().map(|(path, file)| (&**path, file))));
        append(&mut tar, file_list::NAME, list.len() as u64, &*list)?;
        for CapturePart { name, file, size, .. } in capture {
            append(&mut tar, name, *size, Exactly { from: file, left: *size })?;
        }
        for (name, bytes) in &self.entries {
            let bytes = slim::of(bytes, detail);
            append(&mut tar, name, bytes.len() as u64, &*bytes)?;
        }
        tar.into_inner()?.flush()
    }
}

fn append(tar: &mut Builder<impl Write>, name: &str, size: u64, from: impl Read) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    header.set_mtime(0);
    tar.append_data(&mut header, name, from)
}

/// Reads a number of bytes; it is an error if there are fewer.
struct Exactly<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        let read = self.from.read(buffer)?;
        if read == 0 && self.left > 0 && most > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the capture became shorter while it was read",
            ));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_that_becomes_shorter_is_an_error() {
        let mut exactly = Exactly { from: &b"abc"[..], left: 3 };
        let mut read = Vec::new();
        exactly.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"abc");
        // Longer ones are cut: the recorder may still write.
        let mut exactly = Exactly { from: &b"abcd"[..], left: 3 };
        read.clear();
        exactly.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"abc");
        let error = Exactly { from: &b"abc"[..], left: 4 }.read_to_end(&mut read).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn parts_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir(path.join("kcore_dir")).unwrap();
        for name in ["data", "data.1", "data.0", "notes", "kcore_dir/kallsyms"] {
            fs::write(path.join(name), name).unwrap();
        }
        let parts = CapturePart::of(path).unwrap();
        let names: Vec<_> = parts.iter().map(|part| (&*part.name, part.size)).collect();
        let expected = [
            ("perf.data/data", 4),
            ("perf.data/data.0", 6),
            ("perf.data/data.1", 6),
            ("perf.data/kcore_dir/kallsyms", 18),
        ];
        assert_eq!(names, expected);
        assert_eq!(CapturePart::of(Path::new("/dev/null")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

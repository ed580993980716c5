//! Tests with a machine in a temporary folder, and with this machine. `tests/live` compares with the real perf.

mod attrs;
mod aux_area;
mod build_id_cache;
mod build_ids;
mod host;
mod kcore;
mod kernel;
mod maps;
mod sideband;
mod stack_trim;
mod survey;
mod synthesize;
mod terms;
mod thread_spec;

use std::fs;
use std::path::PathBuf;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use tempfile::TempDir;

/// A mapping of code by process 5.
fn mapping(id: FileId, filename: &[u8]) -> Mmap2<'_> {
    let (prot_flags, reading) = (Some((5, 2)), Reading::Certain);
    Mmap2 { pid: 5, tid: 5, addr: 0x1000, len: 0x1000, pgoff: 0, id, prot_flags, reading, filename }
}

/// A new folder that is removed when dropped.
struct Folder(PathBuf, #[expect(dead_code, reason = "removes the folder")] TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self(folder.path().to_owned(), folder)
    }

    /// Creates a folder with files, given by their paths and contents.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(path, content)| folder.put(path, content.as_bytes()));
        folder
    }

    fn put(&self, path: &str, content: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

//! Files in memory, in which names are looked up.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use perf_session::Inode;
use perf_symbol::{ElfImage, FileBytes, Files};

/// Files that were given with a path, or with a name alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryFiles {
    /// By path, without its first slash, or by name.
    by_name: HashMap<String, FileBytes>,
    /// By the hexadecimal digits of the build id.
    by_build_id: HashMap<String, FileBytes>,
}

impl MemoryFiles {
    /// Adds a file. Returns its build id, if it is an ELF file that has one.
    pub(crate) fn add(&mut self, name: &str, bytes: Vec<u8>) -> Option<String> {
        let bytes = FileBytes::new(bytes);
        let build_id = ElfImage::parse(bytes.clone()).ok().and_then(|image| image.build_id());
        let build_id = build_id.map(|id| id.to_string());
        if let Some(id) = &build_id {
            self.by_build_id.insert(id.clone(), bytes.clone());
        }
        self.by_name.insert(name.trim_start_matches('/').to_owned(), bytes);
        build_id
    }

    fn get(&self, path: &str) -> Option<&FileBytes> {
        // As perf's cache and debug packages have it: .build-id/xx/yyyy.debug, .build-id/xx/yyyy/elf.
        if let Some((_, id)) = path.split_once("/.build-id/") {
            let id: String = id.chars().filter(|it| *it != '/').take_while(char::is_ascii_hexdigit).collect();
            return self
                .by_build_id
                .iter()
                .find(|(known, _)| id.starts_with(&***known))
                .map(|(_, file)| file);
        }
        let path = path.trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        self.by_name.get(path).or_else(|| self.by_name.get(name))
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let file = path.to_str().and_then(|path| self.get(path)).ok_or(io::ErrorKind::NotFound)?;
        file.clone().within(limit)
    }
}

/// Files that were added to those of an archive, which they take precedence over.
pub(crate) struct AddedFiles {
    pub(crate) added: MemoryFiles,
    pub(crate) archived: Arc<dyn Files>,
}

impl Files for AddedFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.added.read(path, limit).or_else(|_| self.archived.read(path, limit))
    }

    fn inode(&self, path: &Path) -> Option<Inode> {
        self.archived.inode(path)
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        self.archived.modified(path)
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.archived.read_kernel(path, limit)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.archived.vdso()
    }

    fn vdso32(&self) -> io::Result<FileBytes> {
        self.archived.vdso32()
    }
}

//! perf-symbol.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use perf_mmap::FileMapping;
use perf_symbol::{Demangle, FileBytes, Files, Function, ReadFiles, SymbolOptions, Symbolizer};

use super::{BATCH, OnFunction, OpenedFile};
use crate::failure::Failure;

/// Files that are mapped, as perfdata and the peers do it.
struct MappingFiles;

impl Files for MappingFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        // Opening a pipe may block.
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        FileBytes::new(FileMapping::open(path)?).within(limit)
    }
}

/// Looks up many addresses at once.
pub(super) struct FileSymbols {
    symbolizer: Symbolizer,
    path: Vec<u8>,
}

impl FileSymbols {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Self::open_with(path, Arc::new(MappingFiles))
    }

    /// Opens a file that is read into memory as a whole.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        Self::open_with(path, Arc::new(ReadFiles))
    }

    fn open_with(path: &Path, files: Arc<dyn Files>) -> Result<Self, Failure> {
        let mut options = SymbolOptions::default();
        options.demangle = Demangle::Never;
        let path = path.to_str().ok_or_else(|| Failure::of(path.display(), "is not UTF-8"))?;
        Ok(Self { symbolizer: Symbolizer::with_files(options, files), path: path.into() })
    }
}

impl OpenedFile for FileSymbols {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        for (batch, addresses) in addresses.chunks(BATCH).enumerate() {
            let found = self.symbolizer.functions_of(&self.path, addresses)?;
            for (number, functions) in found.iter().enumerate() {
                show(batch * BATCH + number, functions, each);
            }
        }
        Ok(())
    }
}

/// Looks up one address after the other.
pub(super) struct SingleAddresses(FileSymbols);

impl SingleAddresses {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        FileSymbols::open(path).map(Self)
    }
}

impl OpenedFile for SingleAddresses {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        for (number, &address) in addresses.iter().enumerate() {
            show(number, &self.0.symbolizer.functions_in(&self.0.path, address), each);
        }
        Ok(())
    }
}

fn show(number: usize, functions: &[Function], each: &mut OnFunction<'_>) {
    for function in functions {
        each(number, function.raw_name.as_deref().unwrap_or_default(), function.line.unwrap_or_default());
    }
}

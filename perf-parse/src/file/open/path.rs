//! Opening a capture by its path, without mapping it.

use alloc::vec::Vec;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::super::reader::Reader;
use super::storage::failed;
use crate::error::FileError;
use crate::limits::Limits;

impl Reader<'static> {
    /// Opens a capture by its path: a file, a pipe that was saved, a folder with `data` and `data.*`, a FIFO, or
    /// standard input for `-`.
    ///
    /// A walk reads files by windows of 64 KiB; opening reads the bytes outside of the records. A program that maps
    /// files, as the crate `perf-mmap` does, should pass the mapping to [`new`](Reader::new), which is faster and permits
    /// [`blocks`](Reader::blocks). Standard input, and a FIFO, can be walked once: see [`stream`](Reader::stream).
    ///
    /// # Errors
    ///
    /// Those of [`new`](Reader::new) and of [`stream`](Reader::stream);
    /// [`FileErrorKind::Io`](crate::file::FileErrorKind::Io) if the file cannot be read;
    /// [`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit) if it has more bytes outside of its records than
    /// [`Limits::metadata`](crate::file::Limits::metadata).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// for record in reader.records().in_time_order() {
    ///     println!("{}", record?.kind());
    /// }
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::open_within(path, &Limits::default())
    }

    /// Opens a capture as [`open`](Self::open), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_within(path: impl AsRef<Path>, limits: &Limits) -> Result<Self, FileError> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Self::stream_within(io::stdin(), limits);
        }
        let open = |path: &Path| File::open(path).map_err(|error| failed(&error));
        let metadata = fs::metadata(path).map_err(|error| failed(&error))?;
        if !metadata.is_dir() {
            return Self::from_file_within(open(path)?, limits);
        }
        let mut reader = Self::from_file_within(open(&path.join("data"))?, limits)?;
        for file in data_files(path).map_err(|error| failed(&error))? {
            reader.add_file(open(&file)?)?;
        }
        Ok(reader)
    }
}

/// Returns the data files of a folder other than `data`, in the order of their numbers.
fn data_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("data.")?.parse::<u64>().ok());
        files.extend(number.map(|number| (number, folder.join(name))));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

//! Opening a capture by its path, without mapping it.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::super::header::{self, FileHeader};
use super::super::image::Image;
use super::super::reader::{Data, Mode, Reader};
use super::super::source::{Stream, Window};
use super::{PIPE_HEADER, head_of_file, head_of_pipe};
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::limits::Limits;

impl Reader<'static> {
    /// Opens a capture by its path: a file, a pipe that was saved, a folder with `data` and `data.*`, a FIFO, or
    /// standard input for `-`.
    ///
    /// A walk reads files by windows of 64 KiB; opening reads the bytes outside of the records. A program that maps
    /// files should pass the mapping to [`new`](Reader::new), which is faster and permits [`blocks`](Reader::blocks).
    /// Standard input, and a FIFO, can be walked once: see [`stream`](Reader::stream).
    ///
    /// # Errors
    ///
    /// Those of [`new`](Reader::new) and of [`stream`](Reader::stream); [`FileErrorKind::Io`] if the file cannot be
    /// read; [`FileErrorKind::Limit`] if it has more bytes outside of its records than
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
        let metadata = fs::metadata(path).map_err(|error| failed(&error))?;
        if !metadata.is_dir() {
            return open_file(path, limits);
        }
        let mut reader = open_file(&path.join("data"), limits)?;
        for file in data_files(path).map_err(|error| failed(&error))? {
            let (file, len) = open(&file)?;
            if let Data::Windows(windows) = reader.data_mut() {
                windows.push(Window::new(&file, 0..len));
            }
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

fn open_file(path: &Path, limits: &Limits) -> Result<Reader<'static>, FileError> {
    let (file, len) = open(path)?;
    if !file.metadata().map_err(|error| failed(&error))?.is_file() {
        return Reader::stream_within(Taken(file), limits);
    }
    let magic = read(&file, 0..len.min(104))?;
    match header::endianness(&magic)? {
        Endianness::Little => open_windows::<LittleEndian>(&file, len, &magic, limits),
        Endianness::Big => open_windows::<BigEndian>(&file, len, &magic, limits),
    }
}

fn open_windows<O: Endian>(
    file: &Arc<File>,
    len: u64,
    magic: &[u8],
    limits: &Limits,
) -> Result<Reader<'static>, FileError> {
    let mut account = Account::new(limits);
    if header::is_pipe::<O>(magic) {
        let start = PIPE_HEADER as u64;
        let window = Window::new(file, start..len.max(start));
        let mut source = Stream::new(window.clone(), start);
        let knowledge = head_of_pipe::<O, _>(&mut source, limits, &mut account)?;
        let data = Data::Windows(vec![window]);
        return Ok(Reader::of(O::ENDIANNESS, Mode::Pipe, knowledge, data, account, limits));
    }
    let header = FileHeader::read::<O>(magic)?;
    let range = header.data_range(len, &mut account)?;
    let outside = range.start.saturating_add(len.saturating_sub(range.end));
    if outside > limits.metadata {
        let (limit, of) = (limits.metadata, "bytes outside of the records");
        return Err(FileError::new(FileErrorKind::Limit { field: "file", limit, of }, 0));
    }
    let (head, tail) = (read(file, 0..range.start)?, read(file, range.end..len)?);
    let window = Window::new(file, range.clone());
    let mut source = Stream::new(window.clone(), range.start);
    let image = Image::of_parts(&head, &tail, len);
    let (events, features, applied) =
        head_of_file::<O, _>(&header, image, &mut source, limits, &mut account)?;
    let knowledge = (events, features.into_owned(), applied);
    let data = Data::Windows(vec![window]);
    Ok(Reader::of(O::ENDIANNESS, Mode::File(header), knowledge, data, account, limits))
}

/// A file that can only be read once.
struct Taken(Arc<File>);

impl Read for Taken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

fn open(path: &Path) -> Result<(Arc<File>, u64), FileError> {
    let file = File::open(path).map_err(|error| failed(&error))?;
    let len = file.metadata().map_err(|error| failed(&error))?.len();
    Ok((Arc::new(file), len))
}

/// Reads a range of a file; fewer bytes if the file ends before.
fn read(file: &Arc<File>, range: Range<u64>) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    Window::new(file, range).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

fn failed(error: &io::Error) -> FileError {
    FileError::new(FileErrorKind::Io(error.kind()), 0)
}

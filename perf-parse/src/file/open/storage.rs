//! Opening a capture in storage that is read by windows: an open file, or anything that can seek.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use std::fs::File;
use std::io::{self, Read, Seek};

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::super::header::{self, FileHeader};
use super::super::image::FileImage;
use super::super::reader::{DataFiles, Mode, Reader};
use super::super::source::{BufferedStream, RandomAccess, Seekable, Window, of_file};
use super::{PIPE_HEADER, head_of_file, head_of_pipe};
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::limits::Limits;

impl<'a> Reader<'a> {
    /// Opens a capture in an open file, as [`open`](Reader::open) does by its path: for programs that may not open files
    /// themselves, or that got this one from another process.
    ///
    /// Reads from the start of the file, whatever its position. A file that is not a regular one, such as a FIFO, is read
    /// from its position on and can be walked once: see [`stream`](Self::stream). A folder cannot be opened this way: open
    /// its `data`, and pass the others to [`add_file`](Self::add_file).
    ///
    /// # Errors
    ///
    /// Those of [`open`](Reader::open).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::fs::File;
    ///
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::from_file(File::open(path)?)?;
    /// let samples = reader.records().filter_map(Result::ok).filter(|record| record.sample().is_some());
    /// assert!(samples.count() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_file(file: File) -> Result<Self, FileError> {
        Self::from_file_within(file, &Limits::default())
    }

    /// Opens an open file as [`from_file`](Self::from_file), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`from_file`](Self::from_file).
    pub fn from_file_within(file: File, limits: &Limits) -> Result<Self, FileError> {
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if !metadata.is_file() {
            return Self::stream_within(file, limits);
        }
        Self::of_storage(&of_file(file), metadata.len(), limits)
    }

    /// Opens a capture in anything that can be read and can seek: a member of an archive, a blob of a browser, a file of a
    /// sandbox.
    ///
    /// Reads it from its start, whatever its position, as [`open`](Reader::open) reads a file: the bytes outside of the
    /// records now, the records by windows of 64 KiB during each walk. Walks that read at the same time wait for each
    /// other at each window, because `source` has one position. Its size must not change.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Reader::open); [`FileErrorKind::Io`] if `source` cannot be read or cannot seek.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::from_seekable(Cursor::new(&bytes))?;
    /// assert_eq!(reader.records().count(), Reader::new(&bytes)?.records().count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_seekable(source: impl Read + Seek + Send + 'a) -> Result<Self, FileError> {
        Self::from_seekable_within(source, &Limits::default())
    }

    /// Opens a source as [`from_seekable`](Self::from_seekable), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`from_seekable`](Self::from_seekable).
    pub fn from_seekable_within(
        source: impl Read + Seek + Send + 'a,
        limits: &Limits,
    ) -> Result<Self, FileError> {
        let (source, len) = Seekable::new(source).map_err(|error| failed(&error))?;
        Self::of_storage(&(Arc::new(source) as _), len, limits)
    }

    /// Adds a data file of a folder capture, as [`add_data`](Self::add_data) does with bytes.
    ///
    /// If the other data files are in memory, they are read by windows from now on, too.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if the size of the file cannot be found, if it is no regular file, and of kind `Unsupported`
    /// for the reader of a stream, which has no data files.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::fs::File;
    ///
    /// use perf_parse::Reader;
    ///
    /// # let folder = std::path::Path::new("../testdata/captures/threads.dir");
    /// # if folder.exists() {
    /// let mut reader = Reader::from_file(File::open(folder.join("data"))?)?;
    /// reader.add_file(File::open(folder.join("data.0"))?)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_file(&mut self, file: File) -> Result<(), FileError> {
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if !metadata.is_file() {
            return Err(FileError::new(FileErrorKind::Io(io::ErrorKind::InvalidInput), 0));
        }
        self.add_storage(&of_file(file), metadata.len())
    }

    /// Adds a data file of a folder capture, as [`add_file`](Self::add_file) does with a file.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if `source` cannot seek, and of kind `Unsupported` for the reader of a stream, which has no
    /// data files.
    pub fn add_seekable(&mut self, source: impl Read + Seek + Send + 'a) -> Result<(), FileError> {
        let (source, len) = Seekable::new(source).map_err(|error| failed(&error))?;
        self.add_storage(&(Arc::new(source) as _), len)
    }

    fn add_storage(&mut self, storage: &Arc<dyn RandomAccess + 'a>, len: u64) -> Result<(), FileError> {
        let unsupported = FileError::new(FileErrorKind::Io(io::ErrorKind::Unsupported), 0);
        self.windows_mut().ok_or(unsupported)?.push(Window::new(storage, 0..len));
        Ok(())
    }

    /// Opens storage of `len` bytes.
    fn of_storage(
        storage: &Arc<dyn RandomAccess + 'a>,
        len: u64,
        limits: &Limits,
    ) -> Result<Self, FileError> {
        let magic = read(storage, 0..len.min(104))?;
        match header::endianness(&magic)? {
            Endianness::Little => Self::by_windows::<LittleEndian>(storage, len, &magic, limits),
            Endianness::Big => Self::by_windows::<BigEndian>(storage, len, &magic, limits),
        }
    }

    fn by_windows<O: Endian>(
        storage: &Arc<dyn RandomAccess + 'a>,
        len: u64,
        magic: &[u8],
        limits: &Limits,
    ) -> Result<Self, FileError> {
        let mut account = Account::new(limits);
        if header::is_pipe::<O>(magic) {
            let start = PIPE_HEADER as u64;
            let window = Window::new(storage, start..len.max(start));
            let mut source = BufferedStream::of_window(&window);
            let knowledge = head_of_pipe::<O, _>(&mut source, limits, &mut account)?;
            let data = DataFiles::Windows(vec![window]);
            return Ok(Self::of(O::ENDIANNESS, Mode::Pipe, knowledge, data, account, limits));
        }
        let header = FileHeader::read::<O>(magic)?;
        let range = header.data_range(len, &mut account)?;
        let outside = range.start.saturating_add(len.saturating_sub(range.end));
        if outside > limits.metadata {
            let (limit, of) = (limits.metadata, "bytes outside of the records");
            return Err(FileError::new(FileErrorKind::Limit { field: "file", limit, of }, 0));
        }
        let (head, tail) = (read(storage, 0..range.start)?, read(storage, range.end..len)?);
        let window = Window::new(storage, range.clone());
        let mut source = BufferedStream::of_window(&window);
        let image = FileImage::of_parts(&head, &tail, len);
        let (events, features, applied) =
            head_of_file::<O, _>(&header, image, &mut source, limits, &mut account)?;
        let knowledge = (events, features.into_owned(), applied);
        let data = DataFiles::Windows(vec![window]);
        Ok(Self::of(O::ENDIANNESS, Mode::File(header), knowledge, data, account, limits))
    }
}

/// Reads a range of the storage; fewer bytes if it ends before.
fn read(storage: &Arc<dyn RandomAccess + '_>, range: Range<u64>) -> Result<Vec<u8>, FileError> {
    Window::new(storage, range).read_all().map_err(|error| failed(&error))
}

/// Returns the error for a file that cannot be read.
pub(super) fn failed(error: &io::Error) -> FileError {
    FileError::new(FileErrorKind::Io(error.kind()), 0)
}

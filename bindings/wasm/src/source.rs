//! The bytes of a capture.

use std::io::{self, BufReader, Read};

use perf_parse::{FileError, Reader};
use perf_profile::archive::{ArchiveLimits, MemoryArchive, is_archive};
use perf_symbol::FileBytes;

use crate::slices::SlicedFile;

/// Number of bytes of the files of an archive, at most: WebAssembly has memory of 4 GiB.
const ARCHIVE_BYTES: u64 = 1 << 30;

/// Bytes that are in memory, or read when they are needed.
#[derive(Debug)]
pub(crate) enum CaptureSource {
    Bytes(Vec<u8>),
    Slices(SlicedFile),
    Archive(ArchivedCapture),
}

/// The capture in an archive, whose files are in memory.
#[derive(Debug)]
pub(crate) struct ArchivedCapture {
    pub(crate) archive: MemoryArchive,
    /// The first one, and the others of a folder.
    data_files: (FileBytes, Vec<FileBytes>),
}

impl ArchivedCapture {
    fn read(archive: impl Read) -> io::Result<Self> {
        let mut limits = ArchiveLimits::default();
        limits.bytes = ARCHIVE_BYTES;
        let archive = MemoryArchive::read(BufReader::with_capacity(1 << 16, archive), &limits)?;
        let mut data_files = archive.data_files().into_iter();
        let first = data_files.next().ok_or_else(|| {
            io::Error::other("the archive has no capture; unpack it, and add its files to the capture")
        })?;
        Ok(Self { archive, data_files: (first, data_files.collect()) })
    }
}

impl CaptureSource {
    /// Returns the capture in an archive, or what it was given if that is none.
    pub(crate) fn unpacked(self) -> io::Result<Self> {
        // Opening a capture reports that it cannot be read.
        match &self {
            Self::Bytes(bytes) if is_archive(&**bytes).unwrap_or(false) => {
                ArchivedCapture::read(&**bytes).map(Self::Archive)
            }
            Self::Slices(file) if is_archive(file.open()).unwrap_or(false) => {
                ArchivedCapture::read(file.open()).map(Self::Archive)
            }
            _ => Ok(self),
        }
    }

    /// Opens the capture. Costs little: its records are not read.
    pub(crate) fn open(&self) -> Result<Reader<'_>, FileError> {
        match self {
            Self::Bytes(bytes) => Reader::new(bytes),
            Self::Slices(file) => Reader::from_seekable(file.open()),
            Self::Archive(ArchivedCapture { data_files: (first, others), .. }) => {
                let mut reader = Reader::new(first)?;
                others.iter().for_each(|data| reader.add_data(data));
                Ok(reader)
            }
        }
    }

    /// Returns the number of bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Slices(file) => file.size(),
            Self::Archive(ArchivedCapture { data_files: (first, others), .. }) => {
                others.iter().fold(first.len() as u64, |size, data| size + data.len() as u64)
            }
        }
    }
}

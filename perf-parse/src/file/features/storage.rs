//! How the records are kept: compressed, in several files, with AUX data between them.

use perf_abi::auxtrace::IndexEntry;
use perf_abi::endian::Endian;
use perf_abi::file::{CompressType, DirVersion};

use super::FeatureSection;
use super::fields::number;
use crate::file::error::FileError;

impl<'a> FeatureSection<'a> {
    /// `AUXTRACE`: where the AUXTRACE records are. Allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn auxtrace<O: Endian>(&self) -> Result<&'a [IndexEntry<O>], FileError> {
        self.whole(|at| {
            let nr = at.word::<O>("nr")?;
            at.array(nr, "entries")
        })
    }

    /// `DIR_FORMAT`: whether the recording is a folder of files.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn dir_format<O: Endian>(&self) -> Result<DirVersion, FileError> {
        self.whole(|at| at.word::<O>("version").map(DirVersion))
    }

    /// `COMPRESSED`: how the records are compressed.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn compressed<O: Endian>(&self) -> Result<Compression, FileError> {
        self.whole(|at| {
            Ok(Compression {
                version: number::<O>(at, "version")?,
                kind: CompressType(number::<O>(at, "type")?),
                level: number::<O>(at, "level")?,
                ratio: number::<O>(at, "ratio")?,
                mmap_len: number::<O>(at, "mmap_len")?,
            })
        })
    }
}

/// How the records of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Version of the compression; perf writes 0.
    pub version: u32,
    /// The algorithm.
    pub kind: CompressType,
    /// Its level.
    pub level: u32,
    /// How many times smaller the records became, rounded; 0 in a pipe, where that is not known in time.
    pub ratio: u32,
    /// Bytes of the recorder's rings: the most that one COMPRESSED record becomes.
    pub mmap_len: u32,
}

//! How the records are stored: compressed, in several files, with AUX data between them.

use perf_abi::auxtrace::IndexEntry;
use perf_abi::endian::Endian;
use perf_abi::file::{CompressType, DirVersion};

use super::FeatureSection;
use super::fields::number;
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `AUXTRACE`: the offsets and sizes of the AUXTRACE records. Allocates nothing.
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

    /// Decodes `DIR_FORMAT`: whether the recording is a folder of files.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn dir_format<O: Endian>(&self) -> Result<DirVersion, FileError> {
        self.whole(|at| at.word::<O>("version").map(DirVersion))
    }

    /// Decodes `COMPRESSED`: how the records are compressed.
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
    /// Level of the algorithm.
    pub level: u32,
    /// Ratio of the size before to the size after compression, rounded; 0 in a pipe, where the ratio is not known in
    /// time.
    pub ratio: u32,
    /// Size of the recorder's rings in bytes: the most that one COMPRESSED record expands to.
    pub mmap_len: u32,
}

//! No compression: built without `zstd`.

use std::io;

use crate::file::write::WriteFileError;

/// A zstd stream; none can exist.
#[derive(Debug)]
pub(super) enum NoCompressor {}

impl NoCompressor {
    pub(super) fn new(_level: u8) -> Result<Self, WriteFileError> {
        let must = "None: perf-parse is built without its feature `zstd`, which compresses";
        Err(WriteFileError::Option { option: "zstd", must })
    }

    pub(super) fn compress(&mut self, _bytes: &[u8], _packed: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

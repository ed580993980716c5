//! The zstd stream, with the C library.

use std::io;

use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};

use crate::file::write::WriteFileError;

/// A zstd stream that never ends.
pub(super) struct LibzstdCompressor(Encoder<'static>);

impl core::fmt::Debug for LibzstdCompressor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("LibzstdCompressor")
    }
}

impl LibzstdCompressor {
    pub(super) fn new(level: u8) -> Result<Self, WriteFileError> {
        Ok(Self(Encoder::new(i32::from(level))?))
    }

    /// Compresses all of `bytes` into `packed`, as the next part of the stream. Returns the length of that part.
    pub(super) fn compress(&mut self, bytes: &[u8], packed: &mut [u8]) -> io::Result<usize> {
        let mut input = InBuffer::around(bytes);
        let mut output = OutBuffer::around(packed);
        let mut left = bytes.len();
        while left != 0 && output.pos() < output.capacity() {
            self.0.run(&mut input, &mut output)?;
            left = bytes.len().saturating_sub(input.pos());
        }
        if left == 0 && self.0.flush(&mut output)? == 0 {
            return Ok(output.pos());
        }
        Err(io::Error::other("a compressed record would be longer than 65535 bytes"))
    }
}

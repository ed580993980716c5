//! Compresses records into one zstd stream, and splits the stream into records.

#[cfg(not(feature = "zstd"))]
mod none;
#[cfg(feature = "zstd")]
mod zstd;

use alloc::vec;
use alloc::vec::Vec;
use std::io::Write;

use perf_abi::endian::Endianness;
use perf_abi::record::{Misc, RecordType};

#[cfg(feature = "zstd")]
use self::zstd::LibzstdCompressor as ZstdCompressor;
use super::error::WriteFileError;
use super::sink::CountedOutput;
use super::{ZstdOptions, header};
#[cfg(not(feature = "zstd"))]
use none::NoCompressor as ZstdCompressor;

/// Maximum number of bytes compressed at once.
///
/// The output for this many bytes always fits into one record. perf refuses a record without decompressed output, such
/// as the first part of a longer zstd block.
const CHUNK: usize = 60 * 1024;

/// Size of the buffer that a reader needs to decompress one record, in bytes: `mmap_len` of the feature `COMPRESSED`,
/// which perf requires to be whole pages.
pub(super) const MMAP_LEN: u32 = 64 * 1024;

/// Maximum number of compressed bytes in one record: a multiple of 8 that leaves room for COMPRESSED2, its header and
/// size.
const PACKED: usize = 65528 - HEADER - 8;

/// Size of a record's header in bytes.
const HEADER: usize = 8;

/// Collects records and writes them compressed.
#[derive(Debug)]
pub(super) struct Packer {
    zstd: ZstdOptions,
    stream: ZstdCompressor,
    /// Bytes that are not compressed yet: fewer than [`CHUNK`] between records.
    pending: Vec<u8>,
    /// Room for the compressed bytes of one record.
    packed: Vec<u8>,
    bytes_in: u64,
    bytes_out: u64,
    endianness: Endianness,
}

impl Packer {
    pub(super) fn new(zstd: ZstdOptions, endianness: Endianness) -> Result<Self, WriteFileError> {
        let invalid = |option, must| Err(WriteFileError::Option { option, must });
        if !(1..=22).contains(&zstd.level) {
            return invalid("zstd.level", "1 to 22");
        }
        if zstd.record != RecordType::COMPRESSED && zstd.record != RecordType::COMPRESSED2 {
            return invalid("zstd.record", "COMPRESSED or COMPRESSED2");
        }
        Ok(Self {
            zstd,
            stream: ZstdCompressor::new(zstd.level)?,
            pending: Vec::new(),
            packed: vec![0; PACKED],
            bytes_in: 0,
            bytes_out: 0,
            endianness,
        })
    }

    pub(super) fn zstd(&self) -> ZstdOptions {
        self.zstd
    }

    /// Returns the ratio of the size before to the size after compression, rounded; 0 for no records.
    pub(super) fn ratio(&self) -> u32 {
        let half = self.bytes_out / 2;
        let ratio = self.bytes_in.saturating_add(half).checked_div(self.bytes_out).unwrap_or_default();
        u32::try_from(ratio).unwrap_or(u32::MAX)
    }

    pub(super) fn push<W: Write>(
        &mut self,
        sink: &mut CountedOutput<W>,
        mut bytes: &[u8],
    ) -> Result<(), WriteFileError> {
        while !bytes.is_empty() {
            let room = CHUNK.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() >= CHUNK {
                self.flush(sink)?;
            }
        }
        Ok(())
    }

    /// Writes the collected records. A reader that has the written record can decompress them.
    pub(super) fn flush<W: Write>(&mut self, sink: &mut CountedOutput<W>) -> Result<(), WriteFileError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        // A stream that failed halfway cannot be continued, like an output that failed.
        let len = sink.with(|_| self.stream.compress(&self.pending, &mut self.packed))?;
        self.bytes_in = self.bytes_in.saturating_add(self.pending.len() as u64);
        self.bytes_out = self.bytes_out.saturating_add(len as u64);
        self.pending.clear();

        let packed = self.packed.get(..len).unwrap_or_default();
        let data_size = match self.endianness {
            Endianness::Little => (len as u64).to_le_bytes(),
            Endianness::Big => (len as u64).to_be_bytes(),
        };
        let (front, padding) = match self.zstd.record {
            RecordType::COMPRESSED2 => (&data_size[..], len.wrapping_neg() % 8),
            _ => (&[][..], 0),
        };
        let parts = [front, packed, [0; 8].get(..padding).unwrap_or_default()];
        let size = parts.iter().fold(HEADER, |size, part| size.saturating_add(part.len()));
        // PACKED is small enough for this to fit.
        let size = u16::try_from(size).unwrap_or(u16::MAX);
        sink.put(&header(self.endianness, self.zstd.record, Misc(0), size))?;
        parts.into_iter().try_for_each(|part| sink.put(part))
    }
}

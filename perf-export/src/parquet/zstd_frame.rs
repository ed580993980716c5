//! Compression of pages as zstd frames.

use std::io;

/// Level of the compression.
const LEVEL: i32 = 1;

/// Maximum number of bytes of a block of a frame.
const BLOCK: usize = 1 << 17;

/// Number of pages of a column that are stored after one that hardly shrank: a third of a row group of samples. If compression
/// does not pay in one page, it seldom pays in the next.
const SKIPPED: u32 = 15;

/// Compresses bytes into frames of zstd.
pub(super) struct PageCompressor {
    zstd: zstd::bulk::Compressor<'static>,
    out: Vec<u8>,
}

impl core::fmt::Debug for PageCompressor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Zstd").finish_non_exhaustive()
    }
}

/// Decides which pages of a column are compressed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompressionGain {
    /// Number of the next pages that are stored.
    skip: u32,
}

impl PageCompressor {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { zstd: zstd::bulk::Compressor::new(LEVEL)?, out: Vec::new() })
    }

    /// Returns a frame of the bytes.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.out.clear();
        self.out.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        self.zstd.compress_to_buffer(bytes, &mut self.out)?;
        Ok(self.out.as_slice().into())
    }

    /// Returns a frame of the bytes, compressed unless a recent page of the column shrank by less than a sixteenth.
    pub(super) fn compress_if_worth(
        &mut self,
        bytes: &[u8],
        gain: &mut CompressionGain,
    ) -> io::Result<Vec<u8>> {
        if gain.skip > 0 && bytes.len() >= 256 {
            gain.skip -= 1;
            return Ok(stored(bytes));
        }
        let frame = self.compress(bytes)?;
        if bytes.len() >= 256 && frame.len() > bytes.len() / 16 * 15 {
            gain.skip = SKIPPED;
        }
        Ok(frame)
    }
}

/// Returns a frame that stores the bytes: RFC 8878, section 3.1.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(bytes.len() + 13 + 3 * (bytes.len() / BLOCK + 1));
    frame.extend_from_slice(&0xfd2f_b528_u32.to_le_bytes());
    // A single segment, whose size is in 8 bytes.
    frame.push(0b1110_0000);
    frame.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    let mut left = bytes;
    loop {
        let (block, rest) = left.split_at(left.len().min(BLOCK));
        let header = u32::from(rest.is_empty()) | (block.len() as u32) << 3;
        frame.extend(header.to_le_bytes().iter().take(3));
        frame.extend_from_slice(block);
        if rest.is_empty() {
            return frame;
        }
        left = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_bytes_are_frames() {
        for size in [0, 1, 300, BLOCK, BLOCK + 1, 5 * BLOCK] {
            let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let frame = stored(&bytes);
            assert_eq!(zstd::bulk::decompress(&frame, size).unwrap(), bytes, "{size}");
        }
    }

    #[test]
    fn pages_that_do_not_become_smaller_are_stored() {
        let mut zstd = PageCompressor::new().unwrap();
        let mut gain = CompressionGain::default();
        let mut number = 1_u64;
        let mut random = || {
            number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (number >> 56) as u8
        };
        let noise: Vec<u8> = (0..1000).map(|_| random()).collect();
        zstd.compress_if_worth(&noise, &mut gain).unwrap();
        let zeros = vec![0; 1000];
        for _ in 0..SKIPPED {
            assert!(zstd.compress_if_worth(&zeros, &mut gain).unwrap().len() > 1000);
        }
        assert!(zstd.compress_if_worth(&zeros, &mut gain).unwrap().len() < 100);
    }
}

//! gzip compressed on several threads, block by block.

use std::io::{self, Write};
use std::num::NonZero;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use perf_profile::work::waves::{each_part, wave};

/// Bytes of a block. Blocks are compressed independently, which makes the output about 1 % larger.
const BLOCK: usize = 256 << 10;

/// A third of the instructions of the usual level, and about a tenth more bytes.
const LEVEL: Compression = Compression::new(3);

/// Compresses what is written to it. The bytes are the same for any number of threads.
pub(super) struct Gzip<W> {
    out: W,
    threads: NonZero<usize>,
    /// Bytes that are not compressed yet: less than one block per thread.
    waiting: Vec<u8>,
    crc: Crc,
}

/// A block, compressed.
struct GzipBlock {
    bytes: Vec<u8>,
    crc: Crc,
}

impl<W: Write> Gzip<W> {
    /// # Errors
    ///
    /// Those of `out`.
    pub(super) fn new(mut out: W, threads: NonZero<usize>) -> io::Result<Self> {
        // Deflate, without a name, a time, and a system.
        out.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])?;
        Ok(Self { out, threads, waiting: Vec::new(), crc: Crc::new() })
    }

    /// Compresses what waits, and writes it.
    fn pack(&mut self) -> io::Result<()> {
        let Self { out, threads, waiting, crc } = self;
        each_part(waiting, BLOCK, *threads, pack, |packed| {
            let packed = packed?;
            crc.combine(&packed.crc);
            out.write_all(&packed.bytes)
        })?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes the end.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.pack()?;
        // A last block without content.
        self.out.write_all(&[3, 0])?;
        self.out.write_all(&self.crc.sum().to_le_bytes())?;
        self.out.write_all(&self.crc.amount().to_le_bytes())?;
        self.out.flush()
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = wave(BLOCK, self.threads).saturating_sub(self.waiting.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.waiting.extend_from_slice(taken);
        if taken.len() == room {
            self.pack()?;
        }
        Ok(taken.len())
    }

    /// Does nothing, as each flush would end a block.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compresses a block, up to a whole byte after which another may follow.
fn pack(block: &[u8]) -> io::Result<GzipBlock> {
    let mut crc = Crc::new();
    crc.update(block);
    let mut packer = Compress::new(LEVEL, false);
    let mut bytes = Vec::with_capacity(block.len() / 2 + 64);
    loop {
        let rest = block.get(packer.total_in() as usize..).unwrap_or_default();
        let status = packer.compress_vec(rest, &mut bytes, FlushCompress::Sync)?;
        let is_all = packer.total_in() == block.len() as u64;
        // With room left, all was written.
        if is_all && bytes.len() < bytes.capacity() || status == Status::StreamEnd {
            return Ok(GzipBlock { bytes, crc });
        }
        bytes.reserve(block.len() / 4 + 64);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn packed(content: &[u8], threads: usize, step: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut gzip = Gzip::new(&mut out, NonZero::new(threads).unwrap()).unwrap();
        content.chunks(step).for_each(|part| gzip.write_all(part).unwrap());
        gzip.finish().unwrap();
        out
    }

    #[test]
    fn blocks_are_one_stream() {
        // Bytes that repeat, and bytes that do not.
        let mut word = 1_u32;
        let mut next = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (word >> 24) as u8
        };
        let noise: Vec<u8> = (0..BLOCK * 3 + 5).map(|_| next()).collect();
        let plain = b"kept apart, ".repeat(BLOCK / 4);
        for content in [&noise, &plain] {
            for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, content.len()] {
                let content = content.get(..len).unwrap_or(content);
                let one = packed(content, 1, usize::MAX);
                let mut read = Vec::new();
                let mut decoder = GzDecoder::new(one.as_slice());
                decoder.read_to_end(&mut read).unwrap();
                assert!(read == content, "{len}");
                assert!(decoder.into_inner().is_empty(), "{len}");
                assert!(packed(content, 3, 1000) == one, "{len}");
                assert!(packed(content, usize::MAX, usize::MAX) == one, "{len}");
            }
        }
    }

    #[test]
    fn an_output_that_fails_is_reported() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let one = NonZero::<usize>::MIN;
        assert!(Gzip::new(Full(9), one).is_err());
        let content = vec![0; BLOCK];
        for room in 10..40 {
            let written = Gzip::new(Full(room), one).and_then(|mut gzip| {
                gzip.write_all(&content)?;
                gzip.finish()
            });
            let error = written.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{room}");
        }
    }
}

//! The compressed bytes of archives.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::StreamingDecoder;

/// Counts the bytes that are read.
pub(super) struct CountedBytes<R> {
    pub(super) from: R,
    pub(super) count: Arc<AtomicU64>,
}

impl<R: BufRead> Read for CountedBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountedBytes<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.count.fetch_add(bytes as u64, Ordering::Relaxed);
        self.from.consume(bytes);
    }
}

/// The decoder of a file of one or more frames of Zstandard, as `pzstd` and `cat` make them. A frame needs at most 128 MiB of memory, which
/// is what `zstd --long=27` needs.
///
/// # Examples
///
/// ```
/// use std::io::Read;
///
/// use perf_profile::archive::ZstdFrames;
///
/// let empty_frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 1, 0, 0];
/// let mut bytes = Vec::new();
/// ZstdFrames::new(&empty_frame[..]).read_to_end(&mut bytes)?;
/// assert!(bytes.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ZstdFrames<R: Read> {
    /// The file, between two frames.
    from: Option<R>,
    frame: Option<ZstdFrame<R>>,
}

impl<R: Read> core::fmt::Debug for ZstdFrames<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ZstdFrames").finish_non_exhaustive()
    }
}

impl<R: Read> ZstdFrames<R> {
    /// Returns the decoder of what `from` has, up to its end.
    pub fn new(from: R) -> Self {
        Self { from: Some(from), frame: None }
    }
}

type ZstdFrame<R> = StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(mut from) = self.from.take() {
                if from.fill_buf()?.is_empty() {
                    self.from = Some(from);
                    return Ok(0);
                }
                self.frame = Some(StreamingDecoder::new(from).map_err(io::Error::other)?);
            }
            let Some(frame) = &mut self.frame else { return Ok(0) };
            match frame.read(buffer)? {
                0 if !buffer.is_empty() => self.from = self.frame.take().map(StreamingDecoder::into_inner),
                read => return Ok(read),
            }
        }
    }
}

//! Compressed records: COMPRESSED and COMPRESSED2.
//!
//! The payloads of all compressed records form one zstd stream. The stream contains records, which may straddle two
//! payloads. It is decompressed in steps, so that memory does not grow with the size that a payload claims.
//! [`Limits::decompressed`] and [`Limits::decompressed_ratio`] limit its size, which also limits the time.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use crate::bytes::{RecordBytes, writable};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::limits::Limits;
use crate::record::RawRecord;

#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd")]
use zstd::LibzstdDecoder as ZstdDecoder;

#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
mod ruzstd;
#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
use ruzstd::RuzstdDecoder as ZstdDecoder;

#[cfg(not(any(feature = "ruzstd", feature = "zstd")))]
mod none;
#[cfg(not(any(feature = "ruzstd", feature = "zstd")))]
use none::NoDecoder as ZstdDecoder;

mod payloads;
pub(super) use payloads::Payloads;

#[cfg(feature = "std")]
mod ahead;
#[cfg(feature = "std")]
use ahead::DecompressionThread;

#[cfg(not(feature = "std"))]
mod no_threads;
#[cfg(not(feature = "std"))]
use no_threads::NoDecompressionThread as DecompressionThread;

/// Returns the range of the payload in a COMPRESSED or COMPRESSED2 record.
pub(super) fn compressed_range<O: Endian>(raw: &RawRecord<'_, O>) -> Result<Range<usize>, Error> {
    let end = raw.len();
    if raw.kind() == RecordType::COMPRESSED {
        return Ok(8..end);
    }
    // COMPRESSED2 is padded, so it has the size of the data in a field.
    let mut at = Cursor::new(raw.payload(), 8);
    let size = at.word::<O>("data_size")?;
    at.bytes(size, "data")?;
    Ok(16..end.saturating_sub(at.rest().len()))
}

/// The decompressed stream of one data file.
pub(super) struct Decompressor {
    by: PayloadDecoder,
    /// Decompressed bytes. The bytes from `start` on have not been taken yet.
    out: Arc<Vec<u8>>,
    start: usize,
    /// The position of `start` in the decompressed stream.
    position: u64,
    /// For each payload, the position in the decompressed stream at which its output begins, and the offset of its
    /// record in the capture.
    chunks: VecDeque<(u64, u64)>,
    /// The offset of the record of the first payload in `chunks`, and the position at which the output of the second
    /// begins.
    chunk: u64,
    next_chunk: u64,
}

/// Who decompresses.
#[allow(clippy::large_enum_variant, reason = "there is one in a walk over millions of records")]
enum PayloadDecoder {
    Caller(Payloads),
    Thread(DecompressionThread),
}

impl PayloadDecoder {
    fn new(limits: &Limits, is_ahead: bool) -> Self {
        let ahead = if is_ahead { DecompressionThread::new(limits) } else { None };
        ahead.map_or_else(|| Self::Caller(Payloads::new(limits)), Self::Thread)
    }
}

impl core::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Decompressor")
            .field("position", &self.position)
            .field("pending", &self.front().len())
            .finish()
    }
}

impl Decompressor {
    /// `is_ahead` is whether a thread of its own decompresses, if the system has one.
    pub(super) fn new(limits: &Limits, is_ahead: bool) -> Self {
        Self {
            by: PayloadDecoder::new(limits, is_ahead),
            out: Arc::default(),
            start: 0,
            position: 0,
            chunks: VecDeque::new(),
            chunk: 0,
            next_chunk: u64::MAX,
        }
    }

    /// Returns whether a thread waits for payloads that come after the one that was begun last.
    pub(super) fn has_room_ahead(&self) -> bool {
        match &self.by {
            PayloadDecoder::Caller(_) => false,
            PayloadDecoder::Thread(ahead) => ahead.has_room(),
        }
    }

    /// Gives the thread, if there is one, the payload after those that it got before. Each is begun later.
    pub(super) fn give_ahead(&mut self, payload: &[u8]) {
        match &mut self.by {
            PayloadDecoder::Caller(_) => {}
            PayloadDecoder::Thread(ahead) => ahead.give(payload),
        }
    }

    /// Begins the payload of the record at `offset`, which has `size` bytes.
    pub(super) fn begin(&mut self, offset: u64, size: usize) {
        match &mut self.by {
            PayloadDecoder::Caller(payloads) => payloads.begin(size),
            // It begins those that it is given.
            PayloadDecoder::Thread(_) => {}
        }
        let end = self.position.saturating_add(self.front().len() as u64);
        match self.chunks.back_mut() {
            // The previous payload produced no output, so its record contains nothing.
            Some(last) if last.0 == end => last.1 = offset,
            _ => self.chunks.push_back((end, offset)),
        }
        self.pass_chunks();
    }

    /// Drops the payloads whose output has been taken.
    fn pass_chunks(&mut self) {
        while self.chunks.get(1).is_some_and(|&(begin, _)| begin <= self.position) {
            self.chunks.pop_front();
        }
        self.chunk = self.chunks.front().map_or(0, |&(_, offset)| offset);
        self.next_chunk = self.chunks.get(1).map_or(u64::MAX, |&(begin, _)| begin);
    }

    /// Decompresses a step of `input`. Returns how many bytes were consumed, and whether the payload has no more
    /// output.
    ///
    /// # Errors
    ///
    /// The library's message for a fault in the stream, or the limit that the stream exceeds.
    pub(super) fn step(&mut self, input: &[u8]) -> Result<(usize, bool), &'static str> {
        let out = writable(&mut self.out, core::mem::take(&mut self.start));
        match &mut self.by {
            PayloadDecoder::Caller(payloads) => payloads.step(input, out),
            PayloadDecoder::Thread(ahead) => ahead.step(out),
        }
    }

    /// Outputs the bytes that the decoder still holds at the end of the capture. Returns the number of input bytes that
    /// do not form a whole block, and the offset of the record that they are from.
    pub(super) fn finish(&mut self) -> (u64, u64) {
        let out = writable(&mut self.out, core::mem::take(&mut self.start));
        let left = match &mut self.by {
            PayloadDecoder::Caller(payloads) => payloads.finish(out),
            PayloadDecoder::Thread(ahead) => ahead.finish(out),
        };
        (left as u64, self.chunks.back().map_or(0, |&(_, offset)| offset))
    }

    /// Drops the bytes after the last whole record, and returns how many there were.
    pub(super) fn cut<O: Endian>(&mut self) -> u64 {
        let mut rest = self.front();
        while let Ok((_, after)) = RawRecord::<O>::parse(rest) {
            rest = after;
        }
        let cut = rest.len();
        let end = self.front().len().saturating_sub(cut);
        writable(&mut self.out, core::mem::take(&mut self.start)).truncate(end);
        cut as u64
    }

    /// Returns the decompressed bytes that have not been taken yet.
    #[inline(always)]
    pub(super) fn front(&self) -> &[u8] {
        self.out.get(self.start..).unwrap_or_default()
    }

    /// Returns those of them that are of the payload at the front.
    pub(super) fn front_of_payload(&self) -> &[u8] {
        let left = usize::try_from(self.next_chunk.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let front = self.front();
        front.get(..left).unwrap_or(front)
    }

    /// Returns the last `size` bytes that were taken. Nothing was decompressed since.
    pub(super) fn taken(&self, size: usize) -> &[u8] {
        self.out.get(self.start.saturating_sub(size)..self.start).unwrap_or_default()
    }

    /// Returns the type and the size of the record at the front, if all its bytes are there and it is of one of `types`:
    /// a bit for each kernel type.
    #[inline(always)]
    pub(super) fn front_of_types<O: Endian>(&self, types: u64) -> Option<(RecordType, usize)> {
        let (raw, _) = RawRecord::<O>::of_types(self.out.get(self.start..)?, types)?;
        Some((raw.kind(), raw.len()))
    }

    /// Takes the record of `size` bytes at the front, for a caller that may keep it.
    #[inline(always)]
    pub(super) fn take<'r, O: Endian>(&mut self, size: usize) -> RecordBytes<'r> {
        let start = self.start;
        self.start = start.wrapping_add(size);
        self.position = self.position.wrapping_add(size as u64);
        if self.position >= self.next_chunk {
            self.pass_chunks();
        }
        RecordBytes::shared::<O>(&self.out, (start, self.start), size)
    }

    pub(super) fn skip(&mut self, count: usize) {
        let start = self.start.saturating_add(count).min(self.out.len());
        self.position = self.position.wrapping_add(start.wrapping_sub(self.start) as u64);
        self.start = start;
        if self.position >= self.next_chunk {
            self.pass_chunks();
        }
    }

    /// Returns the position of the front in the decompressed stream, and the offset in the capture of the COMPRESSED
    /// record that produced the last of the `size` bytes at the front. perf attributes a record that straddles two
    /// payloads to the second one.
    #[inline]
    pub(super) fn place(&self, size: usize) -> (u64, u64) {
        let end = self.position.saturating_add(size as u64);
        if end <= self.next_chunk {
            return (self.position, self.chunk);
        }
        let chunk = self.chunks.iter().rev().find(|&&(begin, _)| begin < end);
        (self.position, chunk.map_or(self.chunk, |&(_, offset)| offset))
    }
}

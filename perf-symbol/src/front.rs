//! A compressed section that is decompressed from its front on, as far as it is needed.

use std::ops::Range;

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::decompress::{self, DAMAGED};
use crate::no_symbols::NoSymbols;

/// A section that is compressed by zlib, of which the front is decompressed.
#[derive(Debug)]
pub(crate) struct Front {
    /// The stream.
    data: FileBytes,
    decoder: flate2::Decompress,
    /// What is decompressed, one piece after the other, each with its offset in the section.
    pieces: Vec<(usize, Vec<u8>)>,
    /// Number of bytes that are decompressed.
    len: usize,
    /// Number of bytes that the section claims to have.
    size: u64,
    /// Whether nothing more can be decompressed: the stream is damaged, or was decompressed to its end.
    is_ended: bool,
}

impl Front {
    /// Begins with nothing decompressed. `size` is the number of bytes that the section claims to have.
    pub(crate) fn new(data: FileBytes, size: u64) -> Self {
        let decoder = flate2::Decompress::new(true);
        Self { data, decoder, pieces: Vec::new(), len: 0, size, is_ended: false }
    }

    /// Returns the number of bytes that are decompressed, and of how many compressed ones.
    pub(crate) fn used(&self) -> (u64, u64) {
        (self.len as u64, self.decoder.total_in())
    }

    /// Copies a part of the section. Decompresses up to its end what is not decompressed yet.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Malformed`] if the part is not within the size that the section claims, or if the stream ends before or is
    /// damaged, and always after [`complete`](Self::complete). [`NoSymbols::Cancelled`] if it was cancelled.
    pub(crate) fn copy(
        &mut self,
        range: Range<usize>,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, NoSymbols> {
        self.read_to(range.end, cancellation)?;
        let mut bytes = Vec::with_capacity(range.len());
        let first = self.pieces.partition_point(|&(start, _)| start <= range.start).saturating_sub(1);
        for (start, piece) in self.pieces.get(first..).unwrap_or_default() {
            let within = |at: usize| at.saturating_sub(*start).min(piece.len());
            bytes.extend_from_slice(piece.get(within(range.start)..within(range.end)).unwrap_or_default());
            if bytes.len() == range.len() {
                return Ok(bytes);
            }
        }
        if range.is_empty() { Ok(bytes) } else { Err(DAMAGED) }
    }

    fn read_to(&mut self, end: usize, cancellation: &Cancellation) -> Result<(), NoSymbols> {
        let Some(more) = end.checked_sub(self.len).filter(|&more| more > 0) else { return Ok(()) };
        if self.is_ended || end as u64 > self.size {
            return Err(DAMAGED);
        }
        let likely = decompress::likely(&self.data, more as u64);
        let mut piece = Vec::with_capacity(usize::try_from(likely).unwrap_or(more));
        let result =
            decompress::inflate(&mut self.decoder, &self.data, &mut piece, more, self.size, cancellation);
        let start = self.len;
        self.len = start.saturating_add(piece.len());
        self.pieces.push((start, piece));
        // What was cancelled goes on from here.
        if result == Err(NoSymbols::Cancelled) {
            return result;
        }
        self.is_ended = result.is_err() || self.len < end;
        if self.is_ended { Err(DAMAGED) } else { Ok(()) }
    }

    /// Decompresses the section to its end, and copies what was decompressed before. `None` if nothing more can be
    /// decompressed here, also after this.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::TooLarge`] if it has more than `limit` bytes, [`NoSymbols::Malformed`] if the stream is damaged.
    pub(crate) fn complete(
        &mut self,
        limit: u64,
        cancellation: &Cancellation,
    ) -> Option<Result<Vec<u8>, NoSymbols>> {
        if self.is_ended {
            return None;
        }
        self.is_ended = true;
        let likely = decompress::likely(&self.data, self.size.min(limit));
        let mut bytes = Vec::with_capacity(usize::try_from(likely).ok()?.max(self.len));
        self.pieces.iter().for_each(|(_, piece)| bytes.extend_from_slice(piece));
        let result =
            decompress::inflate(&mut self.decoder, &self.data, &mut bytes, usize::MAX, limit, cancellation);
        Some(result.map(|()| bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn never() -> Cancellation {
        Cancellation::default()
    }

    fn bytes() -> Vec<u8> {
        (0..60_000_u32).flat_map(|it| (it.wrapping_mul(it) >> 7).to_le_bytes()).collect()
    }

    fn stream(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn front(bytes: &[u8]) -> Front {
        Front::new(FileBytes::new(stream(bytes)), bytes.len() as u64)
    }

    #[test]
    fn parts_in_any_order() {
        let bytes = bytes();
        let mut it = front(&bytes);
        for range in [
            0..0,
            1000..1004,
            1000..5000,
            // Before, over all pieces, and at the end of what is decompressed.
            10..20,
            0..5000,
            4999..5000,
            5000..5001,
            200_000..200_100,
            4990..200_050,
            240_000..240_000,
            239_999..240_000,
        ] {
            assert!(it.copy(range.clone(), &never()).unwrap() == bytes[range.clone()], "{range:?}");
        }
    }

    #[test]
    fn no_more_is_decompressed_than_is_needed() {
        let bytes = bytes();
        let mut it = front(&bytes);
        it.copy(100..1000, &never()).unwrap();
        let (len, read) = it.used();
        assert_eq!(len, 1000);
        assert!(read < it.data.len() as u64 / 10, "{read} of {}", it.data.len());
        it.copy(0..999, &never()).unwrap();
        assert_eq!(it.used(), (len, read));
    }

    /// Below the size that the section claims, at it, and above it; of a section that has as much, less and more.
    #[test]
    fn the_claimed_size_is_the_limit() {
        let bytes = bytes();
        let size = bytes.len();
        for claimed in [size - 1, size, size + 1] {
            for end in [size - 2, size - 1, size, size + 1, usize::MAX] {
                let mut it = Front::new(FileBytes::new(stream(&bytes)), claimed as u64);
                let is_there = end <= claimed && end <= size;
                assert_eq!(it.copy(end - 1..end, &never()).is_ok(), is_there, "{end} of {claimed}");
                assert!(it.used().0 <= claimed as u64);
            }
        }
    }

    #[test]
    fn the_rest_is_decompressed_after_the_front() {
        let bytes = bytes();
        for end in [0, 1, 1000, bytes.len() - 1, bytes.len()] {
            // Below the limit, at it, and above it.
            for (limit, is_within) in [(bytes.len() - 1, false), (bytes.len(), true), (bytes.len() + 1, true)]
            {
                let mut it = front(&bytes);
                it.copy(end / 2..end, &never()).unwrap();
                let all = it.complete(limit as u64, &never()).unwrap();
                assert_eq!(all.is_ok(), is_within, "{end}");
                assert!(all.is_err() || all.unwrap() == bytes);
                assert!(it.complete(u64::MAX, &never()).is_none());
                assert_eq!(it.copy(0..bytes.len(), &never()).is_ok(), end == bytes.len());
            }
        }
    }

    #[test]
    fn what_is_cut_or_damaged_is_an_error() {
        let bytes = bytes();
        let whole = stream(&bytes);
        let mut it = Front::new(FileBytes::new(whole[..whole.len() / 2].to_vec()), bytes.len() as u64);
        assert!(it.copy(0..1000, &never()).is_ok());
        assert!(it.copy(bytes.len() - 1..bytes.len(), &never()).is_err());
        assert!(it.copy(0..1000, &never()).is_ok() && it.complete(u64::MAX, &never()).is_none());
        let mut damaged = whole.clone();
        damaged[whole.len() / 2..][..100].fill(0x55);
        let mut it = Front::new(FileBytes::new(damaged), bytes.len() as u64);
        assert!(it.copy(0..1000, &never()).is_ok());
        assert!(matches!(it.complete(u64::MAX, &never()), Some(Err(NoSymbols::Malformed("zlib")))));
    }
}

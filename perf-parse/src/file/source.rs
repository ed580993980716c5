//! The source of a capture's bytes: memory, or a stream that is read once.

#[cfg(feature = "std")]
mod random_access;
#[cfg(feature = "std")]
mod stream;
#[cfg(feature = "std")]
mod window;

#[cfg(feature = "std")]
pub(super) use random_access::{RandomAccess, Seekable, of_file};
#[cfg(feature = "std")]
pub(super) use stream::BufferedStream;
#[cfg(feature = "std")]
pub(super) use window::Window;

use core::ops::Range;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use crate::bytes::RecordBytes;
use crate::error::FileErrorKind;
use crate::record::RawRecord;

/// A source of bytes that are taken from the front.
pub(super) trait ByteSource<'r> {
    /// Whether all bytes stay in memory as long as the records, so that a walk can go back to an offset.
    const IN_MEMORY: bool;

    /// Makes at least `need` bytes available at the front, fewer only if the source ends before. Returns how many are
    /// available.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn fill(&mut self, need: usize) -> Result<usize, FileErrorKind>;

    /// Returns the bytes that are available at the front.
    fn front(&self) -> &[u8];

    /// Takes the record at the front, if all its bytes are there and it is of one of `types`: a bit for each kernel
    /// type. Returns it for a caller that may keep it, with its type and its size.
    fn take_record<O: Endian>(&mut self, types: u64) -> Option<(RecordBytes<'r>, RecordType, usize)>;

    /// Returns the record of `size` bytes at the front and the `held` bytes after it, for a caller that may keep them.
    fn keep<O: Endian>(&self, size: usize, held: usize) -> RecordBytes<'r>;

    /// Drops `count` bytes that are available at the front.
    fn take(&mut self, count: usize);

    /// Returns the last `count` bytes that were taken. The source has not been filled since.
    fn taken(&self, count: usize) -> &[u8];

    /// Drops `count` bytes from the front. In a stream they need not have been read yet.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind>;

    /// Returns the number of bytes from the front to the end of the source; `None` for a stream, whose end is not known.
    fn left(&self) -> Option<u64>;

    /// Returns the offset of the front, in bytes from the start of the capture.
    fn offset(&self) -> u64;

    /// Makes the source end with a range of offsets, and its front the start of the range. Has no effect on a source that is
    /// not in memory.
    fn narrow(&mut self, range: &Range<u64>);

    /// Returns how many bytes are known to be zeros, without reading them, after the first `passed` bytes at the front.
    fn hole(&self, passed: usize) -> usize;

    /// Returns all bytes from `offset` on, independently of the front; `None` if they are not in memory.
    fn at(&self, offset: u64) -> Option<&'r [u8]>;
}

/// Bytes in memory: a file that was mapped or read, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'r> {
    /// The bytes that were not dropped, and the offset in the capture of the first of them.
    front: &'r [u8],
    offset: u64,
    /// All bytes, and the offset in the capture of the first of them.
    bytes: &'r [u8],
    base: u64,
    /// The ranges of the capture that are known to be zeros, in ascending order.
    holes: &'r [Range<u64>],
}

impl<'r> Slice<'r> {
    /// Creates a source of `bytes`, which begin `base` bytes into the capture.
    pub(super) fn new(bytes: &'r [u8], base: u64) -> Self {
        Self { front: bytes, offset: base, bytes, base, holes: &[] }
    }

    pub(super) fn set_holes(&mut self, holes: &'r [Range<u64>]) {
        self.holes = holes;
    }

    /// Returns the source cut to a range of offsets. The bytes outside of it do not exist for a walk.
    pub(super) fn part(&self, range: &Range<u64>) -> Self {
        let (bytes, base) = self.bytes_of(range);
        Self { front: bytes, offset: base, bytes, base, holes: self.holes }
    }

    /// Returns the bytes in a range of offsets, and the offset of the first of them.
    fn bytes_of(&self, range: &Range<u64>) -> (&'r [u8], u64) {
        let place = |offset: u64| usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let end = place(range.end).min(self.bytes.len());
        let start = place(range.start).min(end);
        (self.bytes.get(start..end).unwrap_or_default(), self.base.saturating_add(start as u64))
    }

    /// Returns the range of offsets of all bytes.
    pub(super) fn range(&self) -> Range<u64> {
        self.base..self.base.saturating_add(self.bytes.len() as u64)
    }
}

impl<'r> ByteSource<'r> for Slice<'r> {
    const IN_MEMORY: bool = true;

    #[inline]
    fn fill(&mut self, _: usize) -> Result<usize, FileErrorKind> {
        Ok(self.front.len())
    }

    #[inline(always)]
    fn front(&self) -> &[u8] {
        self.front
    }

    #[inline(always)]
    fn take_record<O: Endian>(&mut self, types: u64) -> Option<(RecordBytes<'r>, RecordType, usize)> {
        let (raw, after) = RawRecord::<O>::of_types(self.front, types)?;
        let (kind, size) = (raw.kind(), raw.len());
        self.front = after;
        self.offset = self.offset.wrapping_add(size as u64);
        Some((RecordBytes::record(raw), kind, size))
    }

    fn keep<O: Endian>(&self, size: usize, held: usize) -> RecordBytes<'r> {
        let end = size.saturating_add(held);
        RecordBytes::borrowed::<O>(self.front.get(..end).unwrap_or_default())
    }

    #[inline(always)]
    fn take(&mut self, count: usize) {
        let (taken, front) = self.front.split_at_checked(count).unwrap_or((self.front, &[]));
        self.front = front;
        self.offset = self.offset.wrapping_add(taken.len() as u64);
    }

    fn taken(&self, count: usize) -> &[u8] {
        let end = usize::try_from(self.offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.bytes.get(end.saturating_sub(count)..end).unwrap_or_default()
    }

    #[inline]
    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind> {
        self.take(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(())
    }

    fn left(&self) -> Option<u64> {
        Some(self.front.len() as u64)
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.offset
    }

    fn narrow(&mut self, range: &Range<u64>) {
        (self.front, self.offset) = self.bytes_of(range);
    }

    fn hole(&self, passed: usize) -> usize {
        let at = self.offset.saturating_add(passed as u64);
        let next = self.holes.partition_point(|hole| hole.end <= at);
        let hole = self.holes.get(next).filter(|hole| hole.start <= at);
        hole.map_or(0, |hole| usize::try_from(hole.end.saturating_sub(at)).unwrap_or(usize::MAX))
    }

    #[inline]
    fn at(&self, offset: u64) -> Option<&'r [u8]> {
        let start = usize::try_from(offset.checked_sub(self.base)?).ok()?;
        self.bytes.get(start..)
    }
}

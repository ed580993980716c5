//! Where the bytes of a capture come from: memory, or a stream that is read once.

#[cfg(feature = "std")]
mod stream;

#[cfg(feature = "std")]
pub use stream::Stream;

use core::ops::Range;

use crate::error::FileErrorKind;

/// A source of bytes that are taken from the front.
///
/// Sealed: [`Slice`] and, with std, `Stream`.
pub trait Source: sealed::Sealed {
    /// Whether all bytes stay in memory as long as the reader, so that the reader can go back to an offset.
    const IN_MEMORY: bool;

    /// Makes at least `need` bytes available at the front, fewer only if the source ends before. Returns how many are
    /// available.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn fill(&mut self, need: usize) -> Result<usize, FileErrorKind>;

    /// Returns the bytes that are available after the first `passed` bytes at the front; `None` if fewer are available.
    fn ahead(&self, passed: usize) -> Option<&[u8]>;

    /// Returns the bytes that are available at the front.
    #[inline]
    fn front(&self) -> &[u8] {
        self.ahead(0).unwrap_or_default()
    }

    /// Drops `count` bytes that are available at the front.
    fn take(&mut self, count: usize);

    /// Drops `count` bytes from the front. In a stream they need not have been read yet.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind>;

    /// Goes back to the first byte. Returns whether this was possible.
    fn rewind(&mut self) -> bool;

    /// Returns the offset of the front, in bytes from the start of the capture.
    fn offset(&self) -> u64;

    /// Returns how many bytes are known to be zeros, without reading them, after the first `passed` bytes at the front.
    fn hole(&self, passed: usize) -> usize;

    /// Returns all bytes from `offset` on, wherever the front is; `None` if they are not in memory.
    fn at(&self, offset: u64) -> Option<&[u8]>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Slice<'_> {}
    #[cfg(feature = "std")]
    impl<R> Sealed for super::Stream<R> {}
}

/// Bytes in memory: a file that was mapped or read.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    bytes: &'a [u8],
    /// Offset in the capture of the first of `bytes`.
    base: u64,
    /// The bytes that were not dropped, and the offset in the capture of the first of them.
    front: &'a [u8],
    offset: u64,
    /// The ranges of the capture that are known to be zeros, in ascending order.
    holes: &'a [Range<u64>],
}

impl<'a> Slice<'a> {
    /// Creates a source of `bytes`, which begin `base` bytes into the capture.
    pub(super) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, base, front: bytes, offset: base, holes: &[] }
    }

    pub(super) fn set_holes(&mut self, holes: &'a [Range<u64>]) {
        self.holes = holes;
    }
}

impl Source for Slice<'_> {
    const IN_MEMORY: bool = true;

    #[inline]
    fn fill(&mut self, _: usize) -> Result<usize, FileErrorKind> {
        Ok(self.front.len())
    }

    #[inline]
    fn ahead(&self, passed: usize) -> Option<&[u8]> {
        self.front.get(passed..)
    }

    #[inline]
    fn take(&mut self, count: usize) {
        let (taken, front) = self.front.split_at_checked(count).unwrap_or((self.front, &[]));
        self.front = front;
        self.offset = self.offset.wrapping_add(taken.len() as u64);
    }

    #[inline]
    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind> {
        self.take(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(())
    }

    fn rewind(&mut self) -> bool {
        (self.front, self.offset) = (self.bytes, self.base);
        true
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.offset
    }

    fn hole(&self, passed: usize) -> usize {
        let at = self.offset.saturating_add(passed as u64);
        let next = self.holes.partition_point(|hole| hole.end <= at);
        let hole = self.holes.get(next).filter(|hole| hole.start <= at);
        hole.map_or(0, |hole| usize::try_from(hole.end.saturating_sub(at)).unwrap_or(usize::MAX))
    }

    #[inline]
    fn at(&self, offset: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.base)?).ok()?;
        self.bytes.get(start..)
    }
}

//! Where the bytes of a capture come from: memory, or a stream that is read once.

#[cfg(feature = "std")]
mod stream;

#[cfg(feature = "std")]
pub use stream::Stream;

use core::ops::Range;

use super::error::FileErrorKind;

/// Bytes that are taken from the front.
///
/// Sealed: [`Slice`] and, with std, `Stream`.
pub trait Source: sealed::Sealed {
    /// Whether all bytes are in memory for as long as the reader is, so that a place can be gone back to.
    const IN_MEMORY: bool;

    /// Makes at least `need` bytes available at the front, fewer only if the source ends before. How many are there.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn fill(&mut self, need: usize) -> Result<usize, FileErrorKind>;

    /// The bytes that are available behind the first `passed` at the front; `None` if there are not so many.
    fn ahead(&self, passed: usize) -> Option<&[u8]>;

    /// The bytes at the front that are available.
    #[inline]
    fn front(&self) -> &[u8] {
        self.ahead(0).unwrap_or_default()
    }

    /// Drops `count` bytes that are available at the front.
    fn take(&mut self, count: usize);

    /// Drops `count` bytes from the front; of a stream also those that were not yet read.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Io`] if reading fails.
    fn skip(&mut self, count: u64) -> Result<(), FileErrorKind>;

    /// Goes back to the first byte; whether it could.
    fn rewind(&mut self) -> bool;

    /// Where the front is, in bytes from the start of the capture.
    fn offset(&self) -> u64;

    /// How many bytes are known to be zeros, without a look at them, behind the first `passed` at the front.
    fn hole(&self, passed: usize) -> usize;

    /// All bytes from `offset` on, wherever the front is; `None` if they are not in memory.
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
    /// Those of `bytes` that were not dropped, and the offset in the capture of the first.
    front: &'a [u8],
    offset: u64,
    /// Where the capture is known to have zeros, by rising offset.
    holes: &'a [Range<u64>],
}

impl<'a> Slice<'a> {
    /// `bytes`, which stand `base` bytes into the capture.
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

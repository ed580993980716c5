//! Bytes that are shared: of a file, of a memory map, or of a decompressed section.

use std::io;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

/// Bytes that are shared: of a file that was read, of a memory map, or of a section.
///
/// A clone shares the bytes and copies none. Any owner of bytes can be one: see [`FileBytes::new`].
#[derive(Clone)]
pub struct FileBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl FileBytes {
    /// Shares the bytes of `owner`, such as a `Vec<u8>` or a memory map.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::FileBytes;
    ///
    /// let bytes = FileBytes::new(vec![1, 2, 3]);
    /// assert_eq!(&bytes[1..], [2, 3]);
    /// ```
    #[must_use]
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Self { owner: Arc::new(owner), range }
    }

    /// Returns a part of the bytes, which shares them; `None` if `range` is not within them.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> Option<Self> {
        let start = self.range.start.checked_add(usize::try_from(range.start).ok()?)?;
        let end = self.range.start.checked_add(usize::try_from(range.end).ok()?)?;
        (start <= end && end <= self.range.end)
            .then(|| Self { owner: Arc::clone(&self.owner), range: start..end })
    }

    /// Returns the bytes as [`Files::read`](crate::Files::read) does.
    ///
    /// # Errors
    ///
    /// [`FileTooLarge`](io::ErrorKind::FileTooLarge) if there are more than `limit`.
    pub fn within(self, limit: u64) -> io::Result<Self> {
        if self.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(self) }
    }

    /// Returns a reference that does not keep the bytes in memory.
    pub(crate) fn downgrade(&self) -> WeakBytes {
        WeakBytes { owner: Arc::downgrade(&self.owner), range: self.range.clone() }
    }
}

/// A reference to bytes that does not keep them in memory.
#[derive(Clone)]
pub(crate) struct WeakBytes {
    owner: Weak<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl WeakBytes {
    /// Returns the bytes; `None` if nobody uses them any more.
    pub(crate) fn upgrade(&self) -> Option<FileBytes> {
        Some(FileBytes { owner: self.owner.upgrade()?, range: self.range.clone() })
    }
}

impl std::fmt::Debug for WeakBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WeakBytes({})", self.range.len())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Default for FileBytes {
    fn default() -> Self {
        Self::new([])
    }
}

impl std::fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bytes({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts() {
        let bytes = FileBytes::new(vec![0, 1, 2, 3, 4]);
        let part = bytes.slice(1..4).unwrap();
        assert_eq!(*part, [1, 2, 3]);
        assert_eq!(*part.slice(1..3).unwrap(), [2, 3]);
        assert!(part.slice(1..4).is_none());
        let (start, end) = (3, 2);
        assert!(part.slice(start..end).is_none());
        assert!(bytes.slice(0..u64::MAX).is_none());
        assert_eq!(part.slice(3..3).unwrap().len(), 0);
    }
}

//! The bytes of a record that outlives the step that found it.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes of the caller, or bytes in a block that all records in it share.
#[derive(Clone)]
pub(crate) enum Bytes<'r> {
    /// Bytes of a capture in memory.
    Borrowed(&'r [u8]),
    /// A range of a block that was read or decompressed. The block is not changed while a record holds it.
    Shared { block: Arc<Vec<u8>>, start: usize, end: usize },
}

impl Bytes<'_> {
    /// No bytes.
    pub(crate) const EMPTY: Self = Self::Borrowed(&[]);

    #[inline(always)]
    pub(crate) fn get(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared { block, start, end } => block.get(*start..*end).unwrap_or_default(),
        }
    }
}

/// Returns the block for writing, with the bytes from `start` on moved to its front. If a record still holds the block,
/// the bytes are copied to a new one.
pub(crate) fn writable(block: &mut Arc<Vec<u8>>, start: usize) -> &mut Vec<u8> {
    if Arc::get_mut(block).is_none() {
        *block = Arc::new(Vec::from(block.get(start..).unwrap_or_default()));
        return Arc::make_mut(block);
    }
    // Unique, so this does not copy.
    let bytes = Arc::make_mut(block);
    bytes.drain(..start.min(bytes.len()));
    bytes
}

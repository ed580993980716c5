//! The bytes of a record that outlives the step that found it.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes of the caller, or bytes in a block that all records in it share.
#[derive(Clone)]
pub(crate) struct Bytes<'r> {
    /// Bytes of a capture in memory; empty if they are in the block.
    borrowed: &'r [u8],
    /// A block that was read or decompressed, and the range in it. The block is not changed while a record holds it.
    block: Option<Arc<Vec<u8>>>,
    start: u32,
    end: u32,
}

impl<'r> Bytes<'r> {
    #[inline(always)]
    pub(crate) fn borrowed(bytes: &'r [u8]) -> Self {
        Self { borrowed: bytes, block: None, start: 0, end: 0 }
    }

    /// Returns a range of a block; no bytes if the block is shorter.
    #[inline(always)]
    pub(crate) fn shared(block: &Arc<Vec<u8>>, start: usize, end: usize) -> Self {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => Self { borrowed: &[], block: Some(Arc::clone(block)), start, end },
            // Blocks are far shorter than 4 GiB: a record, and what one read or one step adds.
            _ => Self::borrowed(&[]),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &[u8] {
        match &self.block {
            None => self.borrowed,
            Some(block) => block.get(self.start as usize..self.end as usize).unwrap_or_default(),
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

//! The bytes of a record that outlives the step that found it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

use perf_abi::endian::{Endian, Endianness};

use crate::record::RawRecord;

/// The bytes of a record and of the data after it: bytes of the caller, or bytes in a block that all records in it
/// share.
///
/// The common case is a record that was found in bytes of the caller: it is not parsed again, and nothing is dropped.
#[derive(Clone)]
pub(crate) enum Bytes<'r> {
    /// A record without data after it.
    Borrowed(RawRecord<'r>),
    /// A record and the data after it.
    Trailed(&'r [u8], Endianness),
    /// A record of `size` bytes in a block that was read or decompressed, and the data after it up to `end`. The block
    /// is not changed while a record holds it.
    Shared { block: Shared<Vec<u8>>, start: usize, end: usize, size: u16, endianness: Endianness },
}

impl<'r> Bytes<'r> {
    /// Returns the record at the start of `bytes`, which has all the other bytes as data after it.
    pub(crate) fn borrowed<O: Endian>(bytes: &'r [u8]) -> Self {
        match RawRecord::<O>::whole((), bytes) {
            Some((raw, [])) => Self::Borrowed(raw.untyped()),
            _ => Self::Trailed(bytes, O::ENDIANNESS),
        }
    }

    /// Returns the record of `size` bytes at `start` of a block, which has the bytes up to `end` as data after it.
    #[inline(always)]
    pub(crate) fn shared<O: Endian>(block: &Arc<Vec<u8>>, (start, end): (usize, usize), size: u16) -> Self {
        let block = Shared::new(Arc::clone(block));
        Self::Shared { block, start, end, size, endianness: O::ENDIANNESS }
    }

    /// Returns the record.
    #[inline(always)]
    pub(crate) fn raw(&self) -> RawRecord<'_> {
        match self {
            Self::Borrowed(raw) => *raw,
            // Whoever made it found a whole record in the bytes.
            Self::Trailed(bytes, endianness) => {
                RawRecord::whole(*endianness, bytes).map_or(RawRecord::EMPTY, |(raw, _)| raw)
            }
            Self::Shared { block, start, size, endianness, .. } => {
                let end = start.wrapping_add((*size).into());
                let bytes = block.get().and_then(|block| block.get(*start..end));
                bytes.and_then(|bytes| RawRecord::found(*endianness, bytes)).unwrap_or(RawRecord::EMPTY)
            }
        }
    }

    /// Returns the data after the record.
    pub(crate) fn trailing(&self) -> &[u8] {
        let after = match self {
            Self::Borrowed(_) => None,
            Self::Trailed(bytes, endianness) => {
                RawRecord::<Endianness>::whole(*endianness, bytes).map(|(_, after)| after)
            }
            Self::Shared { block, start, end, size, .. } => {
                let after = start.wrapping_add((*size).into());
                block.get().and_then(|block| block.get(after..*end))
            }
        };
        after.unwrap_or_default()
    }
}

/// A shared value, until it is dropped.
///
/// An `Arc` itself is dropped in place, by a function that takes its address. A record with an `Arc` would therefore be
/// kept in memory and copied at each step. Here the `Arc` is moved out first, so that a record stays in registers.
#[derive(Clone)]
pub(crate) struct Shared<T>(ManuallyDrop<Option<Arc<T>>>);

impl<T> Shared<T> {
    #[inline(always)]
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(ManuallyDrop::new(Some(value)))
    }

    /// Returns the value. It is always there: only dropping takes it out.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&Arc<T>> {
        self.0.as_ref()
    }
}

impl<T> Drop for Shared<T> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            release(value);
        }
    }
}

/// A separate function, so that dropping a record is short enough to be inlined everywhere.
#[inline(never)]
fn release<T>(value: Arc<T>) {
    drop(value);
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

//! The bytes of a record, which stay valid after the walk has moved on.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

use perf_abi::endian::{Endian, Endianness};

use crate::raw::{RawRecord, Whole};

/// The bytes of a record and of the data after it: bytes of the caller, or bytes in a block that all records in it
/// share.
#[derive(Clone)]
pub(crate) struct RecordBytes<'r> {
    held: ByteStorage<'r>,
    endianness: Endianness,
}

/// Where the bytes are. Every field fills a word, so that moving a record copies no padding.
///
/// The common case is a record in bytes of the caller. Such a record is not parsed again, and dropping it does nothing.
#[derive(Clone)]
enum ByteStorage<'r> {
    /// A record without data after it.
    Record(&'r Whole),
    /// A record and the data after it.
    Trailed(&'r [u8]),
    /// A record from `start` to `after` in a block that was read or decompressed, and the data after it up to `end`.
    /// The block is not changed while a record holds it.
    Shared { block: MovingArc<Vec<u8>>, start: usize, after: usize, end: usize },
}

impl<'r> RecordBytes<'r> {
    /// Returns a record of the caller, without data after it.
    #[inline(always)]
    pub(crate) fn record<O: Endian>(raw: RawRecord<'r, O>) -> Self {
        Self { held: ByteStorage::Record(raw.bytes), endianness: O::ENDIANNESS }
    }

    /// Returns a record whose byte order is known at run time.
    pub(crate) fn of_record(raw: RawRecord<'r>) -> Self {
        Self { held: ByteStorage::Record(raw.bytes), endianness: raw.order }
    }

    /// Returns the record at the start of `bytes`, which has all the other bytes as data after it.
    pub(crate) fn borrowed<O: Endian>(bytes: &'r [u8]) -> Self {
        match RawRecord::<O>::whole((), bytes) {
            Some((raw, [])) => Self::record(raw),
            _ => Self { held: ByteStorage::Trailed(bytes), endianness: O::ENDIANNESS },
        }
    }

    /// Returns the record of `size` bytes at `start` of a block, which has the bytes up to `end` as data after it.
    #[inline(always)]
    pub(crate) fn shared<O: Endian>(block: &Arc<Vec<u8>>, (start, end): (usize, usize), size: usize) -> Self {
        let block = MovingArc::new(Arc::clone(block));
        let after = start.wrapping_add(size);
        Self { held: ByteStorage::Shared { block, start, after, end }, endianness: O::ENDIANNESS }
    }

    /// Returns the record in a block of its own, without the data after it, so that it can be kept without the records
    /// around it. A record in bytes of the caller stays there.
    pub(crate) fn apart(&self) -> Self {
        let ByteStorage::Shared { block, start, after, .. } = &self.held else { return self.clone() };
        let bytes = block.get().and_then(|block| block.get(*start..*after)).unwrap_or_default();
        let end = bytes.len();
        let block = MovingArc::new(Arc::new(bytes.to_vec()));
        Self { held: ByteStorage::Shared { block, start: 0, after: end, end }, endianness: self.endianness }
    }

    /// Returns the record, and the data after it, in a block: one of its own if they are in bytes of the caller.
    pub(crate) fn into_owned(self) -> RecordBytes<'static> {
        let Self { held, endianness } = self;
        let held = match held {
            ByteStorage::Record(bytes) => {
                let bytes = RawRecord::<Endianness> { bytes, order: endianness }.as_bytes();
                copied(bytes, bytes.len())
            }
            ByteStorage::Trailed(bytes) => {
                let after = RawRecord::<Endianness>::whole(endianness, bytes)
                    .map_or(bytes.len(), |(raw, _)| raw.as_bytes().len());
                copied(bytes, after)
            }
            ByteStorage::Shared { block, start, after, end } => {
                ByteStorage::Shared { block, start, after, end }
            }
        };
        RecordBytes { held, endianness }
    }

    /// Returns the number of bytes that [`apart`](Self::apart) copies.
    pub(crate) fn size_apart(&self) -> usize {
        match &self.held {
            ByteStorage::Shared { start, after, .. } => after.saturating_sub(*start),
            ByteStorage::Record(_) | ByteStorage::Trailed(_) => 0,
        }
    }

    /// Returns the record.
    #[inline(always)]
    pub(crate) fn raw(&self) -> RawRecord<'_> {
        let bytes = match &self.held {
            ByteStorage::Record(bytes) => *bytes,
            // `borrowed` is called with bytes that begin with a whole record.
            ByteStorage::Trailed(bytes) => RawRecord::<Endianness>::whole(self.endianness, bytes)
                .map_or(Whole::EMPTY, |(raw, _)| raw.bytes),
            ByteStorage::Shared { block, start, after, .. } => {
                let bytes = block.get().and_then(|block| block.get(*start..*after));
                bytes.and_then(Whole::found).unwrap_or(Whole::EMPTY)
            }
        };
        RawRecord { bytes, order: self.endianness }
    }

    /// Returns the data after the record.
    pub(crate) fn trailing(&self) -> &[u8] {
        let trailing = match &self.held {
            ByteStorage::Record(_) => None,
            ByteStorage::Trailed(bytes) => {
                RawRecord::<Endianness>::whole(self.endianness, bytes).map(|(_, after)| after)
            }
            ByteStorage::Shared { block, after, end, .. } => {
                block.get().and_then(|block| block.get(*after..*end))
            }
        };
        trailing.unwrap_or_default()
    }
}

/// Returns a copy of a record, and of the data after it from `after` on, in a block of its own.
fn copied(bytes: &[u8], after: usize) -> ByteStorage<'static> {
    let block = MovingArc::new(Arc::new(bytes.to_vec()));
    ByteStorage::Shared { block, start: 0, after, end: bytes.len() }
}

/// A shared value that is moved out before it is dropped.
///
/// An `Arc` itself is dropped in place, by a function that takes its address. A record with an `Arc` would therefore be
/// kept in memory and copied at each step. Here the `Arc` is moved out first, so that a record stays in registers.
#[derive(Clone)]
pub(crate) struct MovingArc<T>(ManuallyDrop<Option<Arc<T>>>);

impl<T> MovingArc<T> {
    #[inline(always)]
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(ManuallyDrop::new(Some(value)))
    }

    /// Returns the value. It is always `Some`: only `drop` takes the value out.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&Arc<T>> {
        self.0.as_ref()
    }
}

impl<T> Drop for MovingArc<T> {
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

//! A backward ring in reverse order.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, NativeEndian};

use super::buffer::Buffer;
use super::error::RingError;
use super::pieces::{RecordPieces, pieces};
use super::walk::{RingWalk, TornRecord};
use crate::record::RawRecord;

/// The records of a ring that is written backward, oldest first.
///
/// Keeps two bytes for each record.
#[derive(Clone, Debug)]
pub struct OldestFirst<'a, O: Endian = NativeEndian> {
    data: &'a [u8],
    /// The error that prevents finding older records, if it is not returned yet.
    fault: Option<RingError>,
    /// The sizes of the records that are not returned yet, newest first.
    sizes: Vec<u16>,
    /// Position at which the oldest of them ends.
    end: u64,
    head: u64,
    torn: Option<TornRecord>,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> OldestFirst<'a, O> {
    /// Walks over the headers of all records from `head` on. `data` is the data area, whose length is a power of two.
    ///
    /// # Errors
    ///
    /// The same as [`RingWalk::backward`].
    pub fn new(data: &'a [u8], head: u64) -> Result<Self, RingError> {
        Ok(Self::rest_of(data, &mut RingWalk::backward(data, head)?))
    }

    /// Returns the records that `walk` still finds in `data`, oldest first.
    pub(super) fn rest_of(data: &'a [u8], walk: &mut RingWalk<'a, O>) -> Self {
        let head = walk.position();
        let (mut sizes, mut fault) = (Vec::new(), None);
        while let Some(record) = walk.step() {
            match record {
                Ok(record) => sizes.push(record.size()),
                Err(error) => fault = Some(error),
            }
        }
        let order = core::marker::PhantomData;
        Self { data, fault, sizes, end: walk.position(), head, torn: walk.torn(), order }
    }

    /// Returns the next newer record. It borrows the data area, or `buffer` if it wraps, but not this walker.
    ///
    /// # Errors
    ///
    /// The first item is the error of [`RingWalk::next`], if the walk ended with one: records older than the error
    /// are not found. The other records follow.
    #[inline]
    pub fn next<'b>(&mut self, buffer: &'b mut Buffer) -> Option<Result<RawRecord<'b, O>, RingError>>
    where
        'a: 'b,
    {
        Some(self.step()?.and_then(|record| record.whole(buffer)))
    }

    /// Returns the position of the last returned record; before the first one, the end of the oldest record.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.end
    }

    /// Returns the oldest record if its end was overwritten.
    #[must_use]
    pub fn torn(&self) -> Option<TornRecord> {
        self.torn
    }

    #[inline]
    pub(super) fn step(&mut self) -> Option<Result<RecordPieces<'a, O>, RingError>> {
        if let Some(fault) = self.fault.take() {
            return Some(Err(fault));
        }
        let size = self.sizes.pop()?;
        self.end = self.end.wrapping_sub(u64::from(size));
        let (first, second) = pieces(self.data, self.end, usize::from(size))?;
        match RawRecord::whole_of_kernel((), first) {
            Some((record, _)) => Some(Ok(RecordPieces::Whole(record))),
            None => Some(Ok(RecordPieces::Wrapped { first, second, position: self.end })),
        }
    }

    /// Returns the number of bytes not walked yet.
    pub(super) fn left(&self) -> u64 {
        self.end.wrapping_sub(self.head)
    }
}

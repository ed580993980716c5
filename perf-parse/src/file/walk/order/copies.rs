//! Copies of records from streams and compressed payloads, for as long as they are held.

use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::place::HeldAt;
use super::runs::RecordRun;
use crate::bytes::RecordBytes;
use crate::event::RecordPosition;
use crate::record::RawRecord;

/// Copies of records that the reader cannot go back to, one after another, each after its position in the capture.
#[derive(Debug, Default)]
pub(super) struct RecordCopies {
    bytes: Vec<u8>,
    /// Number of bytes in copies whose records were returned after the last [`compact`](Self::compact).
    given: usize,
    /// The record that was returned last. A record that the caller keeps has its own block, because a shared block
    /// would keep other records in memory.
    last: Arc<Vec<u8>>,
}

/// Number of bytes in front of a copied record: its offset, its position in the decompressed stream, its data file.
pub(super) const COPY_HEADER: usize = 24;

/// The position of a record that was not compressed.
const NOT_COMPRESSED: u64 = u64::MAX;

impl RecordCopies {
    /// Copies a record. Returns the offset and the size of the copy.
    pub(super) fn push<O: Endian>(&mut self, place: &RecordPosition, raw: &RawRecord<'_, O>) -> (u64, usize) {
        let start = self.bytes.len();
        let more = COPY_HEADER.saturating_add(raw.len());
        if self.bytes.capacity().saturating_sub(start) < more {
            // Grows by half, not by doubling: the copies are most of the memory for held records.
            self.bytes.reserve_exact((start / 2).max(more));
        }
        for word in [place.offset, place.decompressed.unwrap_or(NOT_COMPRESSED), place.data_file as u64] {
            self.bytes.extend_from_slice(&word.to_ne_bytes());
        }
        raw.write(&mut self.bytes);
        (start as u64, self.bytes.len().saturating_sub(start))
    }

    /// Returns the number of bytes in copies that are held.
    pub(super) fn held(&self) -> usize {
        self.bytes.len().saturating_sub(self.given)
    }

    /// Returns the number of bytes in copies that were returned and not yet removed.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Counts a copy of `bytes` bytes as returned.
    pub(super) fn give(&mut self, bytes: usize) {
        self.given = self.given.saturating_add(bytes);
    }

    /// Returns the bytes of the record that is copied at `at`, and the bytes after it.
    #[inline]
    pub(super) fn record(&self, at: u64) -> &[u8] {
        let start = usize::try_from(at).ok().and_then(|at| at.checked_add(COPY_HEADER));
        start.and_then(|start| self.bytes.get(start..)).unwrap_or_default()
    }

    /// Returns the record of `size` bytes that is copied at `at`, and its place in the capture.
    pub(super) fn take<'r, O: Endian>(&mut self, at: u64, size: usize) -> (RecordBytes<'r>, RecordPosition) {
        let place = self.place(at).unwrap_or_default();
        let start = usize::try_from(at).unwrap_or(usize::MAX).saturating_add(COPY_HEADER);
        let record = self.bytes.get(start..start.saturating_add(size)).unwrap_or_default();
        match Arc::get_mut(&mut self.last) {
            Some(block) => {
                block.clear();
                block.extend_from_slice(record);
            }
            None => self.last = Arc::new(Vec::from(record)),
        }
        (RecordBytes::shared::<O>(&self.last, (0, self.last.len()), size), place)
    }

    /// Returns the place in the capture of the record that is copied at `at`.
    fn place(&self, at: u64) -> Option<RecordPosition> {
        let words = self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk::<COPY_HEADER>()?;
        let mut words = words.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let (offset, position, data_file) = (words.next()?, words.next()?, words.next()?);
        let decompressed = Some(position).filter(|&position| position != NOT_COMPRESSED);
        Some(RecordPosition { data_file: usize::try_from(data_file).ok()?, offset, decompressed })
    }

    /// Keeps only the copies of `runs`, which are in the order of their places, and moves them to the front.
    pub(super) fn compact(&mut self, runs: &mut [RecordRun]) {
        let mut end = 0_usize;
        for run in runs.iter_mut().filter(|run| run.at.is_copy()) {
            let start = usize::try_from(run.at.offset()).unwrap_or(usize::MAX);
            let after = start.saturating_add(run.bytes as usize);
            // This is always so. Otherwise the rest of the run is missing.
            if after <= self.bytes.len() {
                self.bytes.copy_within(start..after, end);
            }
            run.at = HeldAt::copied(end as u64);
            end = end.saturating_add(run.bytes as usize);
        }
        self.bytes.truncate(end);
        self.given = 0;
    }
}

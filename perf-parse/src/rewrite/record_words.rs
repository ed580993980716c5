//! The words of a record that is being changed.

use alloc::vec::Vec;

use perf_abi::endian::{ByteOrder, Endianness};

use crate::record::RawRecord;

/// Size of a record's header in bytes.
pub(super) const HEADER: usize = 8;

/// Where the header has the size of the record.
const SIZE: usize = 6;

/// A record that is being changed.
#[derive(Debug)]
pub(super) struct RecordWords {
    pub(super) bytes: Vec<u8>,
    endianness: Endianness,
}

impl RecordWords {
    pub(super) fn of(raw: &RawRecord<'_>) -> Self {
        Self::new(raw.as_bytes().to_vec(), raw.endianness())
    }

    pub(super) fn new(bytes: Vec<u8>, endianness: Endianness) -> Self {
        Self { bytes, endianness }
    }

    pub(super) fn get(&self, at: usize) -> Option<u64> {
        Some(Endianness::u64(self.endianness, *self.bytes.get(at..)?.first_chunk()?))
    }

    /// Replaces a word; one that the record does not have stays away.
    pub(super) fn map(&mut self, at: usize, change: impl FnOnce(u64) -> u64) {
        if let Some(word) = self.get(at).map(change) {
            self.put(at, &self.encoded(word));
        }
    }

    pub(super) fn insert(&mut self, at: usize, word: u64) {
        let at = at.min(self.bytes.len());
        let word = self.encoded(word);
        self.bytes.splice(at..at, word);
    }

    pub(super) fn set_u32(&mut self, at: usize, number: u32) {
        // Decoding swaps the bytes where encoding does.
        self.put(at, &Endianness::u32(self.endianness, number.to_ne_bytes()).to_ne_bytes());
    }

    /// Brings the size in the header to that of the record; `None` if the header has no room for it.
    pub(super) fn set_size(&mut self) -> Option<()> {
        let size = u16::try_from(self.bytes.len()).ok()?;
        self.put(SIZE, &Endianness::u16(self.endianness, size.to_ne_bytes()).to_ne_bytes());
        Some(())
    }

    fn encoded(&self, word: u64) -> [u8; 8] {
        Endianness::u64(self.endianness, word.to_ne_bytes()).to_ne_bytes()
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at.saturating_add(bytes.len())) {
            place.copy_from_slice(bytes);
        }
    }
}

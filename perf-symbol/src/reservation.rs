//! The memory of a symbolizer and its clones, as a sum that is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::bytes::FileBytes;
use crate::no_symbols::NoSymbols;

/// The sum of the bytes that are kept of files, and its limit.
#[derive(Debug)]
pub(crate) struct MemorySum {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl MemorySum {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// Adds bytes to the sum, until the reservation is dropped.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::NoRoom`] if the sum would be above the limit.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<Reservation, NoSymbols> {
        let sum = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.used.fetch_update(Relaxed, Relaxed, sum).map_err(|_| NoSymbols::NoRoom)?;
        Ok(Reservation { bytes, used: Arc::clone(&self.used) })
    }

    /// Returns how many more bytes there is room for.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Relaxed))
    }
}

/// A part of a [`MemorySum`].
#[derive(Debug)]
pub(crate) struct Reservation {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Relaxed);
    }
}

/// Bytes that give their part of the sum back when nobody uses them any more.
pub(crate) struct ReservedBytes {
    pub(crate) bytes: FileBytes,
    pub(crate) _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_within_its_limit() {
        let sum = MemorySum::new(10);
        let first = sum.reserve(7).unwrap();
        assert_eq!(sum.room(), 3);
        assert_eq!(sum.reserve(4).unwrap_err(), NoSymbols::NoRoom);
        assert_eq!(sum.reserve(u64::MAX).unwrap_err(), NoSymbols::NoRoom);
        let second = sum.reserve(3).unwrap();
        drop(first);
        assert_eq!(sum.room(), 7);
        let bytes = FileBytes::new(vec![1, 2, 3]);
        let shared = FileBytes::new(ReservedBytes { bytes, _reservation: second });
        let part = shared.slice(1..2).unwrap();
        drop(shared);
        assert_eq!((sum.room(), &*part), (7, &[2][..]));
        drop(part);
        assert_eq!(sum.room(), 10);
    }
}

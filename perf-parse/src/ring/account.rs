//! The account of a walk over a ring.

use super::walk::TornRecord;

/// The records that a walk over a [`Dump`](super::Dump) has read, and the bytes that the walk has not read.
///
/// `bytes`, `left`, `unread`, `unwritten` and the bytes of the torn record add up to the contents of the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpAccount {
    /// Number of records returned.
    pub records: u64,
    /// Bytes of these records.
    pub bytes: u64,
    /// Bytes that the walk has not reached yet.
    pub left: u64,
    /// Bytes after an error, in which no record can be found.
    pub unread: u64,
    /// Bytes that were never written, in a backward ring whose head does not show how much was written.
    pub unwritten: u64,
    /// The oldest record of a backward ring, if its end was overwritten.
    pub torn: Option<TornRecord>,
    /// Number of records found that wrap at the end of the data area and are copied: 0 or 1.
    pub wrapped: u64,
    /// Number of records that the kernel lost because the ring was full: the sum of the LOST records.
    pub lost: u64,
    /// Number of samples lost before they reached the ring: the sum of the LOST_SAMPLES records.
    pub lost_samples: u64,
}

impl DumpAccount {
    /// Returns whether the walk has read everything in the ring. A torn record, which is normal in an overwritten
    /// ring, is not counted against it.
    ///
    /// Records that the kernel lost do not count.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.left == 0 && self.unread == 0
    }
}

//! The account of a pass over a ring.

use super::walk::Torn;

/// What a pass over a [`Dump`](super::Dump) read, and what not.
///
/// What the ring holds is `bytes`, `left`, `unread`, `unwritten` and the bytes of the torn record together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Records given.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the pass has not come to yet.
    pub left: u64,
    /// Bytes behind an error, in which no record could be found.
    pub unread: u64,
    /// Bytes that were never written, in a backward ring whose head does not tell how far it is filled.
    pub unwritten: u64,
    /// The oldest record of a backward ring, where its end was overwritten.
    pub torn: Option<Torn>,
    /// Records found that run over the end of the data area and are copied: 0 or 1.
    pub wrapped: u64,
    /// Records that the kernel lost as the ring was full: the sum of the LOST records.
    pub lost: u64,
    /// Samples lost before they reached the ring: the sum of the LOST_SAMPLES records.
    pub lost_samples: u64,
}

impl Account {
    /// Whether all that the ring held was read, but for a torn record, as is in the nature of a ring that overwrites.
    ///
    /// What the kernel lost does not count.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.left == 0 && self.unread == 0
    }
}

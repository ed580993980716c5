//! The account of a ring: what was read and what was lost.

use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;

/// The account of a ring: bytes and records read, and records lost.
///
/// `lost` and `lost_samples` are the sums that the kernel reported in records. The kernel writes a LOST record before
/// the next record that fits. So losses since the last record are not reported yet, and are never reported once the
/// event is closed. The counter itself has the full number (`read_format` with `LOST`, since Linux 6.0);
/// [`unreported`](Self::unreported) is the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingAccount {
    /// Number of records that were taken.
    pub records: u64,
    /// Number of their bytes.
    pub bytes: u64,
    /// Number of records that the kernel lost because the ring was full or paused: the sum of the LOST records.
    pub lost: u64,
    /// Number of samples that were lost before they reached the ring: the sum of the LOST_SAMPLES records.
    pub lost_samples: u64,
    /// Number of bytes that were skipped by [`Ring::skip`](super::Ring::skip) or
    /// [`Drain::skip_rest`](super::Drain::skip_rest).
    pub skipped: u64,
    /// Number of waits that found the ring readable.
    pub wakeups: u64,
}

impl RingAccount {
    /// Returns how many losses no record has reported yet. `lost` is the sum of the counters'
    /// [`Count::lost`](crate::Count::lost).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::ring::RingAccount;
    /// let account = RingAccount { lost: 40, ..RingAccount::default() };
    /// assert_eq!(account.unreported(42), 2);
    /// ```
    #[must_use]
    pub const fn unreported(&self, lost: u64) -> u64 {
        lost.saturating_sub(self.lost)
    }

    /// Adds another account.
    pub(super) fn add(&mut self, other: Self) {
        let Self { records, bytes, lost, lost_samples, skipped, wakeups } = other;
        self.records += records;
        self.bytes += bytes;
        self.lost = self.lost.saturating_add(lost);
        self.lost_samples = self.lost_samples.saturating_add(lost_samples);
        self.skipped += skipped;
        self.wakeups += wakeups;
    }

    /// Subtracts the account of a part of these records, except its bytes.
    pub(super) fn without(self, other: Self) -> Self {
        Self {
            records: self.records - other.records,
            lost: self.lost.saturating_sub(other.lost),
            lost_samples: self.lost_samples.saturating_sub(other.lost_samples),
            ..self
        }
    }

    /// Counts a record that was taken, except its bytes.
    #[inline]
    pub(super) fn count<O: ByteOrder>(&mut self, record: &RawRecord<'_, O>) {
        self.records += 1;
        match record.kind() {
            RecordType::LOST => self.lost = self.lost.saturating_add(word(record, 8)),
            RecordType::LOST_SAMPLES => self.lost_samples = self.lost_samples.saturating_add(word(record, 0)),
            _ => {}
        }
    }
}

/// Reads the word at offset `at` of a record's payload. The number of losses is there in every layout.
#[cold]
fn word<O: ByteOrder>(record: &RawRecord<'_, O>, at: usize) -> u64 {
    let word = record.payload().get(at..).and_then(|from| from.first_chunk());
    word.map_or(0, |word| u64::from_ne_bytes(*word))
}

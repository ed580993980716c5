//! The account of a ring.

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;

/// What was read from a ring, and what was lost.
///
/// `lost` and `lost_samples` are what the kernel told by records. A loss is told by a LOST record in front of the next
/// record that fits: what was lost since is told by no record yet, and nothing at all once an event is closed. The
/// counter itself knows (`read_format` with `LOST`; since Linux 6.0): [`untold`](Self::untold) is the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Records taken.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records the kernel lost as the ring was full or paused: the sum of the LOST records taken.
    pub lost: u64,
    /// Samples lost before they reached the ring: the sum of the LOST_SAMPLES records taken.
    pub lost_samples: u64,
    /// Bytes given up: by [`Ring::skip`](super::Ring::skip) or [`Drain::skip_rest`](super::Drain::skip_rest).
    pub skipped: u64,
    /// Waits that found the ring readable.
    pub wakeups: u64,
}

impl Account {
    /// Of what the counters of the ring say they lost, in sum, what no record told so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::ring::Account;
    /// let account = Account { lost: 40, ..Account::default() };
    /// assert_eq!(account.untold(42), 2);
    /// ```
    #[must_use]
    pub const fn untold(&self, lost: u64) -> u64 {
        lost.saturating_sub(self.lost)
    }

    /// Adds what another account counts.
    pub(super) fn add(&mut self, other: Self) {
        let Self { records, bytes, lost, lost_samples, skipped, wakeups } = other;
        self.records += records;
        self.bytes += bytes;
        self.lost = self.lost.saturating_add(lost);
        self.lost_samples = self.lost_samples.saturating_add(lost_samples);
        self.skipped += skipped;
        self.wakeups += wakeups;
    }

    /// Takes away what another account, of records that are part of this one, counts; but not their bytes.
    pub(super) fn without(self, other: Self) -> Self {
        Self {
            records: self.records - other.records,
            lost: self.lost.saturating_sub(other.lost),
            lost_samples: self.lost_samples.saturating_sub(other.lost_samples),
            ..self
        }
    }

    /// Counts a record that was taken, but not its bytes.
    #[inline]
    pub(super) fn count(&mut self, record: &RawRecord<'_, NativeEndian>) {
        self.records += 1;
        match record.kind() {
            RecordType::LOST => self.lost = self.lost.saturating_add(word(record, 8)),
            RecordType::LOST_SAMPLES => self.lost_samples = self.lost_samples.saturating_add(word(record, 0)),
            _ => {}
        }
    }
}

/// The number at `at` of a record's payload: the count of what was lost stands there, whatever the event's layout.
#[cold]
fn word(record: &RawRecord<'_, NativeEndian>, at: usize) -> u64 {
    let word = record.payload().get(at..).and_then(|from| from.first_chunk());
    word.map_or(0, |word| u64::from_ne_bytes(*word))
}

//! Size limits of the batches of records that worker threads process.

use perf_parse::EventRecord;
use perf_parse::file::Account;

/// The maximum numbers of records, of their bytes, and of errors in a batch. One record may exceed them.
///
/// Batches are large enough to make the cost of passing one to a thread negligible. They are small enough for their
/// output to stay in the cache, and for records from a slow pipe to appear soon.
const RECORDS: usize = 2048;
const BYTES: usize = 128 << 10;

/// The maximum number of records in a batch that do not follow the record before them in memory. Each may keep about
/// 128 KiB of a stream or of decompressed data in memory.
const SCATTERED: usize = 16;

/// The room that is left in a batch of records.
#[derive(Debug, Default)]
pub struct BatchRoom {
    /// The number of records for which there is room at least.
    least: usize,
    /// The number of bytes for which there is room at least.
    least_bytes: usize,
    records: usize,
    bytes: usize,
    errors: usize,
    scattered: usize,
    /// The address after the last record.
    end: usize,
}

impl BatchRoom {
    /// Makes room for a batch that costs as much as `least` records even if it is empty: it gets at least as many.
    #[must_use]
    pub fn for_at_least(least: usize) -> Self {
        Self { least, ..Self::default() }
    }

    /// Makes room for more bytes, for a batch without output.
    #[must_use]
    pub fn for_bytes(self, least_bytes: usize) -> Self {
        Self { least_bytes, ..self }
    }

    /// Returns whether there is room for another record.
    #[must_use]
    pub fn is_left(&self) -> bool {
        /// Number of bytes of a small sample.
        const SMALL: usize = 64;
        self.records < RECORDS.max(self.least)
            && self.bytes < BYTES.max(self.least_bytes).max(self.least.saturating_mul(SMALL))
            && self.errors < RECORDS.max(self.least)
            && self.scattered < SCATTERED
    }

    /// Counts a record. `may_keep` is whether it [may keep](may_keep) memory that is not the capture's.
    #[inline]
    pub fn add(&mut self, record: &EventRecord<'_>, may_keep: bool) {
        let raw = record.raw();
        self.records += 1;
        self.bytes += raw.as_bytes().len();
        if may_keep {
            let range = raw.as_bytes().as_ptr_range();
            self.scattered += usize::from(range.start.addr() != self.end);
            self.end = range.end.addr();
        }
    }

    /// Counts an error that the walk returned.
    pub fn add_error(&mut self) {
        self.errors += 1;
    }
}

/// Returns whether a record may keep memory that is not the capture's. `is_stream` is whether the capture is one.
#[must_use]
pub fn may_keep(record: &EventRecord<'_>, is_stream: bool, in_time_order: bool) -> bool {
    let is_shared = is_stream || record.position().decompressed.is_some();
    // In time order, records with a time were copied.
    is_shared && !(in_time_order && record.time().is_some_and(|time| time != 0))
}

/// Takes the contents of an account, except the number of bytes. The walk needs that number, because it later subtracts
/// the bytes that are missing.
pub fn take_account(account: &mut Account) -> Account {
    let bytes = account.bytes;
    let mut taken = core::mem::take(account);
    account.bytes = bytes;
    taken.bytes = 0;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_room_for_as_many_as_it_costs() {
        for (least, room) in [(0, RECORDS), (RECORDS + 1, RECORDS + 1)] {
            let mut batch = BatchRoom::for_at_least(least);
            (1..room).for_each(|_| batch.add_error());
            assert!(batch.is_left(), "{least}");
            batch.add_error();
            assert!(!batch.is_left(), "{least}");
        }
    }

    #[test]
    fn a_batch_without_output_has_room_for_more_bytes() {
        for least_bytes in [0, BYTES + 1] {
            let mut batch = BatchRoom::for_at_least(0).for_bytes(least_bytes);
            batch.bytes = BYTES.max(least_bytes) - 1;
            assert!(batch.is_left(), "{least_bytes}");
            batch.bytes += 1;
            assert!(!batch.is_left(), "{least_bytes}");
        }
    }
}

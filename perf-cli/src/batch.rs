//! Size limits of the batches that worker threads process.

use perf_parse::EventRecord;
use perf_parse::file::Account;

use crate::Failure;
use crate::output::{Diagnostics, Output};

/// The maximum numbers of records, of their bytes, and of errors in a batch. One record may exceed them.
///
/// Batches are large enough to make the cost of passing one to a thread negligible. They are small enough for their
/// output to stay in the cache, and for records from a slow pipe to appear soon.
const RECORDS: usize = 2048;
const BYTES: usize = 128 << 10;

/// The maximum number of records in a batch that do not follow the record before them in memory. Each may keep about
/// 128 KiB of a stream or of decompressed data in memory.
const SCATTERED: usize = 16;

/// The number of bytes of output that a block has at a time. One record may exceed it.
///
/// Most blocks print less. The thread that writes the output works on the rest of a larger block, piece by piece.
pub(crate) const OUT: usize = 2 << 20;

/// A block of records that a thread turned into output.
pub(crate) trait Printed {
    /// Returns the output, or the next piece of it.
    fn out(&self) -> &[u8];

    /// Returns the account of the records; `None` while some of them are not printed.
    fn account(&self) -> Option<&Account>;
}

/// Writes the output of a block, calling `print_more` for each next piece, adds the account to `total`, and reports what is
/// new in it. Returns whether there is still a reader.
pub(crate) fn deliver<B: Printed>(
    block: &mut B,
    mut print_more: impl FnMut(&mut B),
    output: &mut Output,
    total: &mut Account,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Failure> {
    let account = loop {
        if let Some(account) = block.account() {
            break account;
        }
        if !output.write(block.out())? {
            return Ok(false);
        }
        print_more(block);
    };
    total.add(account);
    diagnostics.report_new(total);
    output.write(block.out())
}

/// How full a batch is.
#[derive(Debug, Default)]
pub(crate) struct Room {
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

impl Room {
    /// Makes room for a batch that costs as much as `least` records even if it is empty: it gets at least as many.
    pub(crate) fn for_at_least(least: usize) -> Self {
        Self { least, ..Self::default() }
    }

    /// Makes room for more bytes, for a batch without output.
    pub(crate) fn for_bytes(self, least_bytes: usize) -> Self {
        Self { least_bytes, ..self }
    }

    pub(crate) fn is_left(&self) -> bool {
        /// Number of bytes of a small sample.
        const SMALL: usize = 64;
        self.records < RECORDS.max(self.least)
            && self.bytes < BYTES.max(self.least_bytes).max(self.least.saturating_mul(SMALL))
            && self.errors < RECORDS.max(self.least)
            && self.scattered < SCATTERED
    }

    /// Counts a record. `may_keep` is whether it may keep memory that is not the capture's.
    #[inline]
    pub(crate) fn add(&mut self, record: &EventRecord<'_>, may_keep: bool) {
        let raw = record.raw();
        self.records += 1;
        self.bytes += usize::from(raw.size());
        if may_keep {
            let range = raw.as_bytes().as_ptr_range();
            self.scattered += usize::from(range.start.addr() != self.end);
            self.end = range.end.addr();
        }
    }

    /// Counts an error that the walk returned.
    pub(crate) fn add_error(&mut self) {
        self.errors += 1;
    }
}

/// Returns whether a record may keep memory that is not the capture's. `is_stream` is whether the capture is one.
pub(crate) fn may_keep(record: &EventRecord<'_>, is_stream: bool, in_time_order: bool) -> bool {
    let is_shared = is_stream || record.place().decompressed.is_some();
    // In time order, records with a time were copied.
    is_shared && !(in_time_order && record.time().is_some_and(|time| time != 0))
}

/// Takes the contents of an account, except the number of bytes. The walk needs that number, because it later subtracts
/// the bytes that are missing.
pub(crate) fn take(account: &mut Account) -> Account {
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
            let mut batch = Room::for_at_least(least);
            (1..room).for_each(|_| batch.add_error());
            assert!(batch.is_left(), "{least}");
            batch.add_error();
            assert!(!batch.is_left(), "{least}");
        }
    }

    #[test]
    fn a_batch_without_output_has_room_for_more_bytes() {
        for least_bytes in [0, BYTES + 1] {
            let mut batch = Room::for_at_least(0).for_bytes(least_bytes);
            batch.bytes = BYTES.max(least_bytes) - 1;
            assert!(batch.is_left(), "{least_bytes}");
            batch.bytes += 1;
            assert!(!batch.is_left(), "{least_bytes}");
        }
    }
}

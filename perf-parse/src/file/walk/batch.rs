//! Batches of samples from the front of the source.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::Walk;
use crate::batch::{Columns, Filled};
use crate::file::source::Source;

impl<'r, O: Endian, S: Source<'r>> Walk<'r, O, S> {
    /// Takes the samples at the front of the source, if the fast path may return them, and fills the columns of a batch.
    pub(in crate::file) fn next_batch(&mut self, columns: Columns<'_>) -> Filled {
        if self.fast_types & 1 << RecordType::SAMPLE.0 == 0 {
            return Filled::NOTHING;
        }
        let Self { knowledge, framing, account, .. } = self;
        let filled = knowledge.events().fill::<O>(framing.source.front(), columns);
        framing.source.take(filled.bytes);
        account.bytes = account.bytes.wrapping_add(filled.bytes as u64);
        account.count_type(RecordType::SAMPLE, filled.len as u64);
        filled
    }

    /// Returns the last `size` bytes that were taken from the source, which has not been read since.
    pub(in crate::file) fn taken(&self, size: usize) -> &[u8] {
        self.framing.source.taken(size)
    }
}

//! Batches of samples from the front of the source.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::Walk;
use crate::batch::{Columns, Filled};
use crate::file::source::Source;

impl<'r, O: Endian, S: Source<'r>> Walk<'r, O, S> {
    /// Takes the samples at the front of the source or of the decompressed stream, if the fast path may return them, and fills
    /// the columns of a batch.
    pub(in crate::file) fn next_batch(&mut self, columns: Columns<'_>) -> Filled {
        if self.inflated.is_some() {
            return self.next_inflated_batch(columns);
        }
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

    /// The samples are of one compressed record, so that the places of all follow from that of the first.
    fn next_inflated_batch(&mut self, columns: Columns<'_>) -> Filled {
        let is_wanted = self.types.fast() & 1 << RecordType::SAMPLE.0 != 0;
        let Self { knowledge, account, inflated: Some(inflated), order: None, from: None, .. } = self else {
            return Filled::NOTHING;
        };
        if !is_wanted {
            return Filled::NOTHING;
        }
        let filled = knowledge.events().fill::<O>(inflated.front_of_payload(), columns);
        inflated.skip(filled.bytes);
        account.count_type(RecordType::SAMPLE, filled.len as u64);
        filled
    }

    /// Returns the last `size` bytes that were taken from the source or from the decompressed stream, which has not been read
    /// since.
    pub(in crate::file) fn taken(&self, size: usize) -> &[u8] {
        match &self.inflated {
            Some(inflated) => inflated.taken(size),
            None => self.framing.source.taken(size),
        }
    }
}

//! Batches of samples from the front of the source.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::SourceWalk;
use crate::batch::{BatchColumns, BatchContents};
use crate::file::source::ByteSource;

impl<'r, O: Endian, S: ByteSource<'r>> SourceWalk<'r, O, S> {
    /// Takes the samples at the front of the source or of the decompressed stream, if the fast path may return them, and fills
    /// the columns of a batch.
    pub(in crate::file) fn next_batch(&mut self, columns: BatchColumns<'_>) -> BatchContents {
        if self.decompressed.is_some() {
            return self.next_decompressed_batch(columns);
        }
        if self.fast_types & 1 << RecordType::SAMPLE.0 == 0 {
            return BatchContents::NOTHING;
        }
        let Self { knowledge, framing, account, .. } = self;
        let filled = knowledge.events().fill::<O>(framing.source.front(), columns);
        framing.source.take(filled.bytes);
        account.bytes = account.bytes.wrapping_add(filled.bytes as u64);
        account.count_type(RecordType::SAMPLE, filled.len as u64);
        filled
    }

    /// The samples are of one compressed record, so that the places of all follow from that of the first.
    fn next_decompressed_batch(&mut self, columns: BatchColumns<'_>) -> BatchContents {
        let is_wanted = self.types.fast() & 1 << RecordType::SAMPLE.0 != 0;
        let Self { knowledge, account, decompressed: Some(decompressed), order: None, from: None, .. } = self
        else {
            return BatchContents::NOTHING;
        };
        if !is_wanted {
            return BatchContents::NOTHING;
        }
        let filled = knowledge.events().fill::<O>(decompressed.front_of_payload(), columns);
        decompressed.skip(filled.bytes);
        account.count_type(RecordType::SAMPLE, filled.len as u64);
        filled
    }

    /// Returns the last `size` bytes that were taken from the source or from the decompressed stream, which has not been read
    /// since.
    pub(in crate::file) fn taken(&self, size: usize) -> &[u8] {
        match &self.decompressed {
            Some(decompressed) => decompressed.taken(size),
            None => self.framing.source.taken(size),
        }
    }
}

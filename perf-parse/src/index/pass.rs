//! Reads a capture once, in its order.

use super::Index;
use super::build::ChunkBuilder;
use super::chunk::ChunkSpan;
use super::error::{IndexError, IndexErrorKind};
use super::order::LastPlaces;
use crate::batch::SampleBatch;
use crate::event::{EventRecord, RecordPosition};

/// The index so far, and the chunk that is being built.
#[derive(Debug, Default)]
pub(super) struct IndexPass {
    index: Index,
    building: Option<ChunkBuilder>,
    last: LastPlaces,
}

impl IndexPass {
    /// Adds the next record.
    #[inline]
    pub(super) fn add(&mut self, record: &EventRecord<'_>) -> Result<(), IndexError> {
        let place = record.position();
        self.go_to(place)?;
        self.index.is_compressed |= place.decompressed.is_some();
        self.chunk_of(place).add(record);
        Ok(())
    }

    /// Adds the next samples, which are not compressed and have nothing between them. The first one is at `first`.
    pub(super) fn add_batch<const N: usize>(
        &mut self,
        first: RecordPosition,
        batch: &SampleBatch<N>,
    ) -> Result<(), IndexError> {
        let place = |index| first.after(batch.offset(index).unwrap_or(0) as u64);
        let (mut start, len) = (0, batch.len());
        // The samples ascend, so only the first one and the last one have to be in order.
        if len > 0 {
            self.go_to(first)?;
        }
        if len > 1 {
            self.go_to(place(len.saturating_sub(1)))?;
        }
        while start < len {
            let span = ChunkSpan::of(place(start));
            // Batches are in the order of the capture, so a search finds the first sample of the next span.
            let (mut end, mut later) = (start.saturating_add(1), len);
            while end < later {
                let middle = end.midpoint(later);
                if ChunkSpan::of(place(middle)) == span {
                    end = middle.saturating_add(1);
                } else {
                    later = middle;
                }
            }
            self.chunk_of(place(start)).add_samples(batch, start..end);
            start = end;
        }
        Ok(())
    }

    /// Returns the index.
    pub(super) fn end(mut self) -> Index {
        self.building.take().into_iter().for_each(|chunk| self.index.push(&chunk));
        self.index
    }

    #[inline]
    fn go_to(&mut self, place: RecordPosition) -> Result<(), IndexError> {
        if self.last.go_to(place) {
            Ok(())
        } else {
            Err(IndexError::new(IndexErrorKind::Order, place.offset))
        }
    }

    /// Returns the chunk of the next record, which is at `place`.
    #[inline]
    fn chunk_of(&mut self, place: RecordPosition) -> &mut ChunkBuilder {
        if self.building.as_ref().is_some_and(|chunk| chunk.span() < ChunkSpan::of(place)) {
            self.building.take().into_iter().for_each(|chunk| self.index.push(&chunk));
        }
        self.building.get_or_insert_with(|| ChunkBuilder::new(place))
    }
}

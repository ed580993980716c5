//! Finds the next record after a boundary was lost.

use perf_abi::endian::Endian;

use super::super::salvage;
use super::super::source::Source;
use super::Reader;
use crate::error::{FileError, FileErrorKind};

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Skips bytes up to a boundary that can be proved, or to the end.
    #[cold]
    pub(super) fn resync(&mut self) -> Result<FileError, FileError> {
        self.lost = false;
        let from = self.source.offset();
        // If bytes are missing, records may begin at any offset. One pass over all offsets keeps the cost linear.
        let step = 1;
        loop {
            let window = salvage::HORIZON.saturating_mul(2);
            let available = self.fill(window)?;
            let ended = S::IN_MEMORY || available < window;
            let hole = |at| self.source.hole(at);
            if let Some(at) = salvage::search::<O>(self.source.front(), step, ended, &self.events, hole) {
                self.skip(at as u64)?;
                break;
            }
            if ended {
                self.skip(available as u64)?;
                break;
            }
            // The search begins one step after the front: keep the front one step before the first offset that was not
            // judged.
            let judged = available.saturating_sub(salvage::HORIZON) & !7;
            self.skip(judged.saturating_sub(step) as u64)?;
        }
        let bytes = self.source.offset().saturating_sub(from);
        self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(bytes);
        Ok(self.note(FileErrorKind::Skipped { bytes }, from))
    }

    /// Skips bytes of the decompressed stream, as [`resync`](Self::resync) does in the source; `None` if more of the
    /// stream has to be decompressed first.
    #[cold]
    pub(super) fn resync_inner(&mut self) -> Option<u64> {
        let inflate = self.inflate.as_mut()?;
        let length = inflate.front().len();
        let found = salvage::search::<O>(inflate.front(), 8, self.inflate_ended, &self.events, |_| 0);
        let skipped = match found {
            Some(at) => at,
            None if self.inflate_ended => length,
            None => (length.saturating_sub(salvage::HORIZON) & !7).saturating_sub(8),
        };
        inflate.skip(skipped);
        self.inner_skipped = self.inner_skipped.saturating_add(skipped as u64);
        if found.is_none() && !self.inflate_ended {
            return None;
        }
        self.lost_inner = false;
        let bytes = core::mem::take(&mut self.inner_skipped);
        self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(bytes);
        Some(bytes)
    }
}

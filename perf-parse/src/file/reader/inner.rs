//! The records of compressed payloads.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::compressed::{Inflate, compressed_range};
use super::super::source::Source;
use super::Reader;
use super::advance::HEADER;
use super::found::{Current, Held};
use crate::error::ErrorKind;
use crate::error::{FileError, FileErrorKind};
use crate::record::RawRecord;

/// Returns whether records of a type are never compressed: the data after them could not be found.
fn stays_outside(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::COMPRESSED
            | RecordType::COMPRESSED2
            | RecordType::AUXTRACE
            | RecordType::HEADER_TRACING_DATA
    )
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Finds the next record of the decompressed stream; `None` if that needs more than the payload at the front of the
    /// source.
    pub(super) fn advance_inner(&mut self) -> Result<Option<(Current, RecordType)>, FileError> {
        loop {
            let Some(inflate) = &mut self.inflate else { return Ok(None) };
            if self.lost_inner {
                let (_, chunk) = inflate.place(0);
                if let Some(skipped) = self.resync_inner() {
                    return Err(self.note(FileErrorKind::Skipped { bytes: skipped }, chunk));
                }
            } else {
                match RawRecord::<O>::parse(inflate.front()) {
                    Ok((raw, _)) => {
                        let (kind, size) = (raw.kind(), usize::from(raw.size()));
                        let (position, chunk) = inflate.place(size);
                        self.pending.inner = size;
                        self.account.count(kind, 0);
                        if stays_outside(kind) {
                            self.account.bytes_skipped =
                                self.account.bytes_skipped.saturating_add(size as u64);
                            let what = "holds a record that no recorder compresses, as its data comes after it or is compressed";
                            return Err(self.note(FileErrorKind::Decompress { what }, chunk));
                        }
                        let found = Current::new(chunk, Some(position), self.data_file, Held::Inflated);
                        self.absorb(&found);
                        return Ok(Some((found, kind)));
                    }
                    Err(error) if matches!(error.kind, ErrorKind::RecordSize { .. }) => {
                        self.lost_inner = true;
                        let (_, chunk) = inflate.place(HEADER);
                        return Err(self.lost_boundary(error, chunk));
                    }
                    // The rest of the record is still to be decompressed.
                    Err(_) => {}
                }
            }
            if !self.decompress()? {
                return Ok(None);
            }
        }
    }

    /// Begins the payload of the record of `size` bytes at the front.
    pub(super) fn begin_payload(&mut self, size: usize) -> Result<(), FileError> {
        let offset = self.source.offset();
        let record = self.source.front().get(..size).unwrap_or_default();
        let data = match RawRecord::<O>::parse(record).map(|(raw, _)| compressed_range(&raw)) {
            Ok(Ok(data)) => data,
            Ok(Err(error)) | Err(error) => {
                self.pending.outer = size as u64;
                let kind = FileErrorKind::Record { kind: RecordType::COMPRESSED2, error };
                return Err(self.note(kind, offset.saturating_add(u64::from(error.offset))));
            }
        };
        self.inflate.get_or_insert_with(|| Inflate::new(&self.limits)).begin(offset, data.len());
        self.payload = Some(data);
        self.pending_payload = size as u64;
        Ok(())
    }

    /// Decompresses a step of the payload at the front. Returns whether there was one.
    fn decompress(&mut self) -> Result<bool, FileError> {
        let (Some(inflate), Some(range)) = (&mut self.inflate, &mut self.payload) else { return Ok(false) };
        let input = self.source.front().get(range.clone()).unwrap_or_default();
        match inflate.step(input) {
            Ok((taken, is_done)) => {
                range.start = range.start.saturating_add(taken).min(range.end);
                if is_done {
                    self.payload = None;
                    self.pending.outer = core::mem::take(&mut self.pending_payload);
                    self.pass()?;
                }
                Ok(true)
            }
            Err(what) => {
                self.payload = None;
                let bytes = core::mem::take(&mut self.pending_payload);
                self.pending.outer = bytes;
                // The rest of the damaged record does not come.
                let cut = if self.lost_inner { 0 } else { inflate.cut::<O>() };
                let skipped = bytes.saturating_add(cut);
                self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(skipped);
                Err(self.note(FileErrorKind::Decompress { what }, self.source.offset()))
            }
        }
    }
}

//! The fast path to the next record, which nearly all records take.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use super::found::{Step, boundary};
use crate::error::FileError;
use crate::record::RawRecord;

/// A bit for each kernel type, except those that contain something about the capture itself.
pub(super) const PLAIN: u64 = !(1 << RecordType::LOST.0 | 1 << RecordType::LOST_SAMPLES.0);

/// Returns the record at the start of `bytes` and the bytes after it, if the record is complete and of one of `types`,
/// a bit for each kernel type.
#[inline(always)]
pub(super) fn whole_of<O: Endian>(bytes: &[u8], types: u64) -> Option<(RawRecord<'_, O>, &[u8])> {
    let (raw, rest) = RawRecord::<O>::whole(bytes)?;
    let is_asked_for = types.checked_shr(raw.kind().0)? & 1 != 0;
    is_asked_for.then_some((raw, rest))
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Returns the next record in the order of the capture.
    #[inline(always)]
    pub(super) fn next_in_capture(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        if self.inflate.is_some() {
            if let Some(((inner, offset), size)) = self.advance_plain_inner() {
                let Some(raw) = self.inflate.as_ref().and_then(|inflate| first(inflate.ahead(0)?, size))
                else {
                    return Err(boundary::<O>(&[], offset));
                };
                return Ok(Some(FileRecord {
                    inner: Some(inner),
                    ..self.record(raw, offset, self.data_file)
                }));
            }
        } else if let Some(size) = self.advance_plain() {
            let offset = self.source.offset();
            let Some(raw) = self.source.ahead(0).and_then(|bytes| first(bytes, size)) else {
                return Err(boundary::<O>(&[], offset));
            };
            return Ok(Some(self.record(raw, offset, self.data_file)));
        }
        let step = self.step();
        self.stepped(step)
    }

    /// Finds the next record, by the slow path.
    #[inline(never)]
    fn step(&mut self) -> Step {
        self.pass_unwanted();
        let found = self.advance_any();
        self.note_step(found)
    }

    /// Finds the next record of the source and returns its size. If the record needs the slow path, returns `None` and
    /// changes nothing.
    #[inline(always)]
    fn advance_plain(&mut self) -> Option<usize> {
        let front = self.pending.ahead(&self.source).filter(|_| !self.lost)?;
        let (raw, _) = whole_of::<O>(front, self.plain)?;
        let (kind, size) = (raw.kind(), usize::from(raw.size()));
        self.pending.pass_to(&mut self.source, 0, size);
        self.account.count(kind, size);
        Some(size)
    }

    /// Does the same in the decompressed stream. Returns the position of the record in it, the record's offset in the
    /// capture, and its size.
    #[inline(always)]
    fn advance_plain_inner(&mut self) -> Option<((u64, u64), usize)> {
        loop {
            let inflate = self.inflate.as_mut().filter(|_| !self.lost_inner && self.pending.outer == 0)?;
            let (raw, _) = whole_of::<O>(inflate.ahead(self.pending.inner)?, PLAIN)?;
            let (kind, size) = (raw.kind(), usize::from(raw.size()));
            inflate.skip(self.pending.inner);
            self.pending.inner = size;
            self.account.count(kind, 0);
            let place = inflate.place(size);
            if self.wants(kind) {
                return Some((place, size));
            }
        }
    }
}

/// Returns the record of `size` bytes that was found at the start of `bytes`.
#[inline(always)]
fn first<O: Endian>(bytes: &[u8], size: usize) -> Option<RawRecord<'_, O>> {
    RawRecord::found(bytes.get(..size)?)
}

//! The record that is found at a glance: nearly every one.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::super::compressed::Inflate;
use super::super::error::FileError;
use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use super::found::{Step, boundary};
use crate::record::RawRecord;

/// The record at the start of `bytes` and what stands behind it, if it is there as a whole and says nothing of the
/// capture itself: nearly all are so.
#[inline(always)]
pub(super) fn whole_and_plain<O: Endian>(bytes: &[u8]) -> Option<(RawRecord<'_, O>, &[u8])> {
    let (raw, rest) = RawRecord::<O>::whole(bytes)?;
    let kind = raw.kind();
    let is_plain = !kind.is_user() && !matches!(kind, RecordType::LOST | RecordType::LOST_SAMPLES);
    is_plain.then_some((raw, rest))
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// The next record in the order of the capture.
    #[inline(always)]
    pub(super) fn next_in_capture(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        if self.only.is_some() {
            self.pass_unwanted();
        }
        if self.inflate.is_some() {
            if let Some((inner, offset)) = self.advance_plain_inner() {
                let front = self.inflate.as_ref().map(Inflate::front).unwrap_or_default();
                let Some((raw, _)) = RawRecord::whole(front) else {
                    return Err(boundary::<O>(front, offset));
                };
                return Ok(Some(FileRecord {
                    inner: Some(inner),
                    ..self.record(raw, offset, self.data_file)
                }));
            }
        } else if self.advance_plain() {
            let (front, offset) = (self.source.front(), self.source.offset());
            let Some((raw, _)) = RawRecord::whole(front) else { return Err(boundary::<O>(front, offset)) };
            return Ok(Some(self.record(raw, offset, self.data_file)));
        }
        let step = self.step();
        self.stepped(step)
    }

    /// Finds the next record, whatever it takes.
    #[inline(never)]
    fn step(&mut self) -> Step {
        let found = self.advance_any();
        self.note_step(found)
    }

    /// Finds the next record of the source where that takes no more than a look at it; if it may take more, nothing is
    /// done. Whether it was found.
    #[inline(always)]
    fn advance_plain(&mut self) -> bool {
        let Some(front) = self.pending.ahead(&self.source).filter(|_| !self.lost) else { return false };
        let Some((raw, _)) = whole_and_plain::<O>(front) else { return false };
        let (kind, size) = (raw.kind(), usize::from(raw.size()));
        if !self.wants(kind) {
            return false;
        }
        self.pending.pass_to(&mut self.source, 0, size);
        self.account.count(kind, size);
        true
    }

    /// The same in the decompressed stream: where in it the record was found, and where the capture has it.
    #[inline(always)]
    fn advance_plain_inner(&mut self) -> Option<(u64, u64)> {
        loop {
            let inflate = self.inflate.as_mut().filter(|_| !self.lost_inner && self.pending.outer == 0)?;
            let (raw, _) = whole_and_plain::<O>(inflate.front().get(self.pending.inner..)?)?;
            let (kind, size) = (raw.kind(), usize::from(raw.size()));
            inflate.skip(self.pending.inner);
            self.pending.inner = size;
            self.account.count(kind, 0);
            let place = inflate.place(size);
            if self.wants(kind) {
                return Some(place);
            }
        }
    }
}

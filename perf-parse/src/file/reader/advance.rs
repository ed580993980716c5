//! From one record to the next: header after header, and through compressed payloads.

use perf_abi::endian::{Endian, U16, U32, U64};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::super::Account;
use super::super::source::Source;
use super::absorb::{Absorb, is_absorbed};
use super::found::{Current, Held};
use super::{Mode, Reader};
use crate::error::{Error, ErrorKind};
use crate::error::{FileError, FileErrorKind};
use crate::record::{Lost, LostSamples, RawRecord, Record};

/// Size of a header in bytes.
pub(super) const HEADER: usize = 8;

/// Returns the number of bytes after a HEADER_TRACING_DATA record with this payload: padded to a multiple of 8.
pub(super) fn tracing_data_size<O: Endian>(payload: &[u8]) -> Option<u64> {
    let size = U32::<O>::read_from_prefix(payload).ok()?.0.get();
    Some(u64::from(size).next_multiple_of(8))
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Finds the next record that was requested, by the slow path.
    #[inline(never)]
    pub(super) fn advance_any(&mut self) -> Result<Option<Current>, FileError> {
        loop {
            self.pass_unwanted();
            match self.advance_one()? {
                Some((current, kind)) if self.wants(kind) => return Ok(Some(current)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Finds the next record and its type.
    fn advance_one(&mut self) -> Result<Option<(Current, RecordType)>, FileError> {
        loop {
            self.pass()?;
            if self.inflate.is_some() {
                if let Some(found) = self.advance_inner()? {
                    return Ok(Some(found));
                }
                self.pass()?;
            }
            if self.lost {
                return Err(self.resync()?);
            }
            if self.fill(HEADER)? == 0 {
                if self.next_source()? {
                    continue;
                }
                return Ok(None);
            }
            let size = match U16::<O>::read_from_prefix(self.source.front().get(6..).unwrap_or_default()) {
                Ok((size, _)) => usize::from(size.get()),
                Err(_) => HEADER,
            };
            self.fill(size)?;
            let (kind, size) = match RawRecord::<O>::parse(self.source.front()) {
                Ok((raw, _)) => (raw.kind(), usize::from(raw.size())),
                Err(error) => {
                    self.lost = true;
                    return Err(self.lost_boundary(error, self.source.offset()));
                }
            };
            if matches!(kind, RecordType::COMPRESSED | RecordType::COMPRESSED2) {
                self.account.count(kind, size);
                self.begin_payload(size)?;
                continue;
            }
            let (behind, behind_held) = match kind {
                RecordType::AUXTRACE | RecordType::HEADER_TRACING_DATA => self.behind(kind, size)?,
                _ => (0, 0),
            };
            self.pending.outer = (size as u64).saturating_add(behind);
            self.account.count(kind, size);
            self.account.bytes = self.account.bytes.saturating_add(behind);
            let found = Current::new(self.source.offset(), None, self.data_file, Held::Source);
            let found = Current { behind, behind_held, ..found };
            self.absorb(&found);
            return Ok(Some((found, kind)));
        }
    }

    /// Applies what the record at the front contains about the capture.
    pub(super) fn absorb(&mut self, current: &Current) {
        let front = match &self.inflate {
            Some(inflate) if current.held == Held::Inflated => inflate.front(),
            _ => self.source.front(),
        };
        let Some((raw, rest)) = RawRecord::<O>::whole(front) else { return };
        if is_absorbed(raw.kind()) {
            if current.offset >= self.absorbed {
                let mut found = Account::new(&self.limits);
                let mut absorb = Absorb {
                    is_pipe: matches!(self.mode, Mode::Pipe),
                    events: &mut self.events,
                    features: &mut self.features,
                    account: &mut found,
                };
                absorb.record(&raw, rest.get(..current.behind_held).unwrap_or_default(), current.offset);
                // The record is not applied again after a rewind, so its faults stay noted.
                for error in found.diagnostics {
                    self.account.note(error);
                    self.opened.note(error);
                }
            }
        } else if matches!(raw.kind(), RecordType::LOST | RecordType::LOST_SAMPLES) {
            let event = self.events.index_of(&raw).and_then(|index| self.events.get(index));
            // A caller that decodes the record notes its fault.
            match event.map(|event| raw.decode(&event.layout)) {
                Some(Ok(Record::Lost(Lost { lost, .. }))) => {
                    self.account.lost = self.account.lost.saturating_add(lost);
                }
                Some(Ok(Record::LostSamples(LostSamples { lost }))) => {
                    self.account.lost_samples = self.account.lost_samples.saturating_add(lost);
                }
                _ => {}
            }
        }
    }

    /// Skips the record that was returned last.
    #[inline]
    pub(super) fn pass(&mut self) -> Result<(), FileError> {
        if self.pending.inner != 0 {
            if let Some(inflate) = &mut self.inflate {
                inflate.skip(self.pending.inner);
            }
            self.pending.inner = 0;
        }
        let outer = core::mem::take(&mut self.pending.outer);
        if outer != 0 {
            let from = self.source.offset();
            self.skip(outer)?;
            let passed = self.source.offset().saturating_sub(from);
            if passed < outer {
                let missing = outer.saturating_sub(passed);
                self.account.bytes = self.account.bytes.saturating_sub(missing);
                let kind =
                    FileErrorKind::Truncated { field: "auxtrace.size", needed: outer, available: passed };
                return Err(self.note(kind, from));
            }
        }
        Ok(())
    }

    /// Ends a data file. Returns whether there is more to read, in this file or another.
    fn next_source(&mut self) -> Result<bool, FileError> {
        if let Some(inflate) = &mut self.inflate {
            if !self.inflate_ended {
                self.inflate_ended = true;
                let (left, chunk) = inflate.finish();
                if left > 0 {
                    self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(left);
                    let what = "ends within a block of the zstd stream";
                    return Err(self.note(FileErrorKind::Decompress { what }, chunk));
                }
                return Ok(true);
            }
            let left = inflate.front().len();
            if left > 0 {
                let (_, chunk) = inflate.place(left);
                let error = RawRecord::<O>::parse(inflate.front()).err();
                inflate.skip(left);
                self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(left as u64);
                if let Some(error) = error {
                    return Err(self.lost_boundary(error, chunk));
                }
            }
        }
        let Some(next) = self.more.pop_front() else { return Ok(false) };
        self.done.push(core::mem::replace(&mut self.source, next));
        self.data_file = self.data_file.saturating_add(1);
        self.inflate = None;
        self.inflate_ended = false;
        Ok(true)
    }

    /// Returns the size of the data after a record of `size` bytes at the front, and how much of it is available.
    fn behind(&mut self, kind: RecordType, size: usize) -> Result<(u64, usize), FileError> {
        let payload = self.source.front().get(HEADER..size).unwrap_or_default();
        let (behind, field) = if kind == RecordType::AUXTRACE {
            (U64::<O>::read_from_prefix(payload).ok().map(|(size, _)| size.get()), "auxtrace.size")
        } else {
            (tracing_data_size::<O>(payload), "tracing_data.size")
        };
        // A record that is too short to have this size is an error when it is decoded.
        let Some(behind) = behind else { return Ok((0, 0)) };
        if !S::IN_MEMORY && kind == RecordType::AUXTRACE {
            return Ok((behind, 0));
        }
        let needed = usize::try_from(behind).ok().and_then(|behind| behind.checked_add(size));
        let available = self.fill(needed.unwrap_or(usize::MAX))?;
        match needed {
            Some(needed) if needed <= available => Ok((behind, needed.saturating_sub(size))),
            _ => {
                self.lost = true;
                let available = available.saturating_sub(size) as u64;
                let error = Error::new(ErrorKind::Truncated { field, needed: behind, available }, 8);
                Err(self.lost_boundary(error, self.source.offset()))
            }
        }
    }

    #[cold]
    pub(super) fn lost_boundary(&mut self, error: Error, offset: u64) -> FileError {
        self.note(FileErrorKind::Boundary(error), offset.saturating_add(u64::from(error.offset)))
    }

    /// Fills the source as [`Source::fill`]; a failure ends the capture.
    #[inline]
    pub(super) fn fill(&mut self, need: usize) -> Result<usize, FileError> {
        if self.failed {
            return Ok(0);
        }
        self.source.fill(need).map_err(|kind| self.fail(kind))
    }

    pub(super) fn skip(&mut self, count: u64) -> Result<(), FileError> {
        self.source.skip(count).map_err(|kind| self.fail(kind))
    }

    #[cold]
    fn fail(&mut self, kind: FileErrorKind) -> FileError {
        self.failed = true;
        self.note(kind, self.source.offset())
    }
}

//! From one record to the next: header after header, into compressed payloads and out of them.

use perf_abi::endian::{Endian, U16, U32, U64};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::super::compressed::{Inflate, compressed_range};
use super::super::error::{FileError, FileErrorKind};
use super::super::features::FeatureSection;
use super::super::records::FileRecord;
use super::super::salvage;
use super::super::source::Source;
use super::absorb::{Absorb, is_absorbed};
use super::{Mode, Reader};
use crate::error::{Error, ErrorKind};
use crate::record::{Lost, LostSamples, RawRecord, Record};

/// Bytes of a header.
const HEADER: usize = 8;

/// Bytes of a stream at most that are looked at before a record is asked for.
const LOOK_AHEAD: usize = 16 << 20;

/// Bytes behind a HEADER_TRACING_DATA record of this payload: padded to a multiple of 8.
fn tracing_data_size<O: Endian>(payload: &[u8]) -> Option<u64> {
    let size = U32::<O>::read_from_prefix(payload).ok()?.0.get();
    Some(u64::from(size).next_multiple_of(8))
}

/// Where the record is that was found, and what was found out about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    pub(super) offset: u64,
    /// Where it is in the decompressed stream, at the front of which it stands; `None` if it is at that of the source.
    pub(super) inner: Option<u64>,
    data_file: usize,
    /// Its event, if that was looked up already.
    event: Option<Result<Option<usize>, FileErrorKind>>,
    /// Bytes behind it that belong to it, and how many of those are at hand.
    behind: u64,
    held: usize,
}

impl Current {
    /// A record that was found before.
    pub(super) fn again(offset: u64, inner: Option<u64>, data_file: usize) -> Self {
        Self { offset, inner, data_file, event: None, behind: 0, held: 0 }
    }
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Finds the next record in the order of the capture.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<Option<Current>, FileError> {
        loop {
            self.pass()?;
            if self.inflate.is_some() {
                if let Some(current) = self.advance_inner()? {
                    return Ok(Some(current));
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
            let (behind, held) = match kind {
                RecordType::AUXTRACE | RecordType::HEADER_TRACING_DATA => self.behind(kind, size)?,
                _ => (0, 0),
            };
            self.pending.outer = (size as u64).saturating_add(behind);
            self.account.count(kind, size);
            self.account.bytes = self.account.bytes.saturating_add(behind);
            return Ok(Some(self.found(self.source.offset(), None, behind, held)));
        }
    }

    /// The record that [`advance`](Self::advance) found.
    #[inline]
    pub(super) fn view(&self, current: Current) -> Result<FileRecord<'_, O>, FileError> {
        let front = match (&self.inflate, current.inner) {
            (Some(inflate), Some(_)) => inflate.front(),
            _ => self.source.front(),
        };
        self.record_at(front, current)
    }

    /// The record at the start of `bytes`.
    #[inline]
    pub(super) fn record_at<'r>(
        &'r self,
        bytes: &'r [u8],
        current: Current,
    ) -> Result<FileRecord<'r, O>, FileError> {
        let Current { offset, inner, data_file, event, behind, held } = current;
        let (raw, rest) = RawRecord::parse(bytes)
            .map_err(|error: Error| FileError::new(FileErrorKind::Boundary(error), offset))?;
        let event = event.unwrap_or_else(|| self.events.of(&raw));
        let unknown = FileErrorKind::UnknownEvent { kind: raw.kind() };
        let of = event.and_then(|index| index.and_then(|index| self.events.get(index)).ok_or(unknown));
        Ok(FileRecord {
            offset,
            inner,
            data_file,
            raw,
            event_index: event.ok().flatten(),
            behind: rest.get(..held).unwrap_or_default(),
            behind_size: behind,
            of,
        })
    }

    /// Notes what the record at the front is of, and takes in what it says of the capture.
    #[inline]
    fn found(&mut self, offset: u64, inner: Option<u64>, behind: u64, held: usize) -> Current {
        let front = match (&self.inflate, inner) {
            (Some(inflate), Some(_)) => inflate.front(),
            _ => self.source.front(),
        };
        let Ok((raw, rest)) = RawRecord::<O>::parse(front) else {
            return Current { behind, held, ..Current::again(offset, inner, self.data_file) };
        };
        let event = self.events.of(&raw);
        if is_absorbed(raw.kind()) {
            if offset >= self.absorbed {
                let mut absorb = Absorb {
                    is_pipe: matches!(self.mode, Mode::Pipe),
                    events: &mut self.events,
                    features: &mut self.features,
                    account: &mut self.account,
                };
                absorb.record(&raw, rest.get(..held).unwrap_or_default(), offset);
            }
        } else if matches!(raw.kind(), RecordType::LOST | RecordType::LOST_SAMPLES) {
            let layout =
                event.ok().flatten().and_then(|index| self.events.get(index)).map(|event| &event.layout);
            // A fault is noted by who asks for the record.
            match layout.map(|layout| raw.decode(layout)) {
                Some(Ok(Record::Lost(Lost { lost, .. }))) => {
                    self.account.lost = self.account.lost.saturating_add(lost);
                }
                Some(Ok(Record::LostSamples(LostSamples { lost }))) => {
                    self.account.lost_samples = self.account.lost_samples.saturating_add(lost);
                }
                _ => {}
            }
        }
        Current { offset, inner, data_file: self.data_file, event: Some(event), behind, held }
    }

    /// Takes in the attrs and features that stand before the first record of a stream, and takes no record.
    pub(super) fn look_ahead(&mut self) -> Result<(), FileError> {
        let start = self.source.offset();
        let mut at = 0_usize;
        while at < LOOK_AHEAD {
            self.fill(at.saturating_add(HEADER))?;
            let size = self.source.front().get(at.saturating_add(6)..).unwrap_or_default();
            let size = U16::<O>::read_from_prefix(size).map_or(0, |(size, _)| usize::from(size.get()));
            self.fill(at.saturating_add(size))?;
            let bytes = self.source.front().get(at..).unwrap_or_default();
            let Ok((raw, _)) = RawRecord::<O>::parse(bytes) else { break };
            let kind = raw.kind();
            if !kind.is_user()
                || matches!(kind, RecordType::AUXTRACE | RecordType::COMPRESSED | RecordType::COMPRESSED2)
            {
                break;
            }
            let behind = match kind {
                RecordType::HEADER_TRACING_DATA => tracing_data_size::<O>(raw.payload()).unwrap_or(0),
                _ => 0,
            };
            let behind = usize::try_from(behind).unwrap_or(usize::MAX);
            let end = at.saturating_add(size).saturating_add(behind);
            if self.fill(end)? < end {
                break;
            }
            let record = self.source.front().get(at..end).unwrap_or_default();
            if let Ok((raw, behind)) = RawRecord::<O>::parse(record) {
                let mut absorb = Absorb {
                    is_pipe: true,
                    events: &mut self.events,
                    features: &mut self.features,
                    account: &mut self.account,
                };
                absorb.record(&raw, behind, start.saturating_add(at as u64));
            }
            at = end;
        }
        self.absorbed = start.saturating_add(at as u64);
        // perf of Linux 4.14 and before writes the features before the attrs. Faults were noted as it came.
        if let Some(known) = self.features.iter().find(|known| known.feature == Feature::EVENT_DESC) {
            let section = FeatureSection::new(known.feature, known.offset, &known.bytes);
            for (index, described) in section.event_desc::<O>().enumerate() {
                if let Ok(described) = described {
                    self.events.name(index, described.ids, described.name);
                }
            }
        }
        Ok(())
    }

    /// Passes over the record that was given last.
    #[inline]
    fn pass(&mut self) -> Result<(), FileError> {
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

    /// Finds the next record of the decompressed stream; `None` if it needs more than the capture's front gives.
    fn advance_inner(&mut self) -> Result<Option<Current>, FileError> {
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
                        let (position, chunk) = inflate.place(usize::from(raw.size()));
                        self.pending.inner = usize::from(raw.size());
                        self.account.count(raw.kind(), 0);
                        return Ok(Some(self.found(chunk, Some(position), 0, 0)));
                    }
                    Err(error) if matches!(error.kind, ErrorKind::RecordSize { .. }) => {
                        self.lost_inner = true;
                        let (_, chunk) = inflate.place(HEADER);
                        return Err(self.lost_boundary(error, chunk));
                    }
                    // The rest of it is still to be decompressed.
                    Err(_) => {}
                }
            }
            if !self.decompress()? {
                return Ok(None);
            }
        }
    }

    /// Begins with the payload of the record of `size` bytes at the front.
    fn begin_payload(&mut self, size: usize) -> Result<(), FileError> {
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
        self.payload = Some(data);
        self.pending_payload = size as u64;
        self.inflate.get_or_insert_with(Inflate::new).begin(offset);
        Ok(())
    }

    /// Decompresses a step of the payload at the front; whether there was one.
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
                // The rest of the record that the damage is in does not come.
                let cut = if self.lost_inner { 0 } else { inflate.cut::<O>() };
                let skipped = bytes.saturating_add(cut);
                self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(skipped);
                Err(self.note(FileErrorKind::Decompress { what }, self.source.offset()))
            }
        }
    }

    /// Ends a data file; whether there is more to read, of it or of another.
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

    /// What stands behind a record of `size` bytes at the front and belongs to it: its size, and how much is at hand.
    fn behind(&mut self, kind: RecordType, size: usize) -> Result<(u64, usize), FileError> {
        let payload = self.source.front().get(HEADER..size).unwrap_or_default();
        let (behind, field) = if kind == RecordType::AUXTRACE {
            (U64::<O>::read_from_prefix(payload).ok().map(|(size, _)| size.get()), "auxtrace.size")
        } else {
            (tracing_data_size::<O>(payload), "tracing_data.size")
        };
        // A record too short to say is an error of its own, for who decodes it.
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
    fn lost_boundary(&mut self, error: Error, offset: u64) -> FileError {
        self.note(FileErrorKind::Boundary(error), offset.saturating_add(u64::from(error.offset)))
    }

    /// Passes over bytes up to a boundary that proves itself, or to the end.
    #[cold]
    fn resync(&mut self) -> Result<FileError, FileError> {
        self.lost = false;
        let from = self.source.offset();
        // Records of a file are multiples of 8; where some are not, or bytes are missing, they may begin anywhere.
        let mut step = if matches!(self.mode, Mode::File(_)) && self.inflate.is_none() { 8 } else { 1 };
        loop {
            let window = salvage::HORIZON.saturating_mul(2);
            let available = self.fill(window)?;
            let ended = S::IN_MEMORY || available < window;
            if let Some(at) = salvage::search::<O>(self.source.front(), step, ended, &self.events) {
                self.skip(at as u64)?;
                break;
            }
            if ended && step == 8 {
                step = 1;
                continue;
            }
            if ended {
                self.skip(available as u64)?;
                break;
            }
            // The search begins a step behind the front: stay as much before the first place that it did not judge.
            let judged = available.saturating_sub(salvage::HORIZON) & !7;
            self.skip(judged.saturating_sub(step) as u64)?;
        }
        let bytes = self.source.offset().saturating_sub(from);
        self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(bytes);
        Ok(self.note(FileErrorKind::Skipped { bytes }, from))
    }

    /// As [`resync`](Self::resync), in the decompressed stream; `None` if more of that is needed to tell.
    #[cold]
    fn resync_inner(&mut self) -> Option<u64> {
        let inflate = self.inflate.as_mut()?;
        let length = inflate.front().len();
        let found = salvage::search::<O>(inflate.front(), 8, self.inflate_ended, &self.events);
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

    /// As [`Source::fill`]; what fails ends the capture.
    #[inline]
    fn fill(&mut self, need: usize) -> Result<usize, FileError> {
        if self.failed {
            return Ok(0);
        }
        self.source.fill(need).map_err(|kind| self.fail(kind))
    }

    fn skip(&mut self, count: u64) -> Result<(), FileError> {
        self.source.skip(count).map_err(|kind| self.fail(kind))
    }

    #[cold]
    fn fail(&mut self, kind: FileErrorKind) -> FileError {
        self.failed = true;
        self.note(kind, self.source.offset())
    }
}

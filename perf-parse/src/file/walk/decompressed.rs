//! The records of compressed payloads.

use core::ops::Range;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::framing::{Framing, HEADER, boundary};
use super::note;
use crate::account::Account;
use crate::bytes::RecordBytes;
use crate::error::{ErrorKind, FileError, FileErrorKind};
use crate::event::{Events, RecordPosition};
use crate::file::decompress::{Decompressor, compressed_range};
use crate::file::source::ByteSource;
use crate::limits::Limits;
use crate::record::RawRecord;
use crate::salvage;

/// Returns whether records of a type are never compressed, because the data after them could not be found.
fn stays_outside(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::COMPRESSED
            | RecordType::COMPRESSED2
            | RecordType::AUXTRACE
            | RecordType::HEADER_TRACING_DATA
    )
}

/// Maximum number of records that are passed at a time in search of payloads to give to the thread.
const PASSED: usize = 64;

/// The decompressed stream of a data file, and the payload that is being decompressed.
#[derive(Debug)]
pub(super) struct DecompressedRecords {
    decompressor: Decompressor,
    /// The compressed record at the front of the source.
    payload: Option<Payload>,
    /// Whether the whole compressed stream was decompressed.
    has_ended: bool,
    /// Whether the next boundary in the decompressed stream has to be searched for, and the number of bytes that the
    /// search has skipped so far.
    is_lost: bool,
    skipped: u64,
    /// The offset in the data file up to which a thread that decompresses ahead has the payloads.
    given: u64,
}

/// A compressed record that is not decompressed to its end.
#[derive(Clone, Debug)]
struct Payload {
    /// Size of the record in bytes.
    size: usize,
    /// The range of the record's bytes that is still to be decompressed.
    left: Range<usize>,
}

impl DecompressedRecords {
    /// `is_ahead` is whether a thread of its own decompresses, if the system has one.
    pub(super) fn new(limits: &Limits, is_ahead: bool) -> Self {
        let decompressor = Decompressor::new(limits, is_ahead);
        Self { decompressor, payload: None, has_ended: false, is_lost: false, skipped: 0, given: 0 }
    }

    /// Returns the record at the front and its place, as [`RawRecord::of_types`], if its boundary need not be searched
    /// for.
    pub(super) fn front_of_types<O: Endian>(
        &self,
        types: u64,
        data_file: usize,
    ) -> Option<(RawRecord<'_, O>, RecordPosition)> {
        if self.is_lost {
            return None;
        }
        let (raw, _) = RawRecord::<O>::of_types(self.decompressor.front(), types)?;
        let (position, offset) = self.decompressor.place(raw.len());
        Some((raw, RecordPosition { data_file, offset, decompressed: Some(position) }))
    }

    /// Returns the bytes at the front up to the end of what their compressed record contains; none if a boundary has to be
    /// searched for.
    pub(super) fn front_of_payload(&self) -> &[u8] {
        if self.is_lost { &[] } else { self.decompressor.front_of_payload() }
    }

    /// Returns the place of the front; `None` if all that was decompressed was taken.
    pub(super) fn place(&self, data_file: usize) -> Option<RecordPosition> {
        if self.decompressor.front().is_empty() {
            return None;
        }
        let (position, offset) = self.decompressor.place(0);
        Some(RecordPosition { data_file, offset, decompressed: Some(position) })
    }

    /// Returns the last `size` bytes that were taken.
    pub(super) fn taken(&self, size: usize) -> &[u8] {
        self.decompressor.taken(size)
    }

    /// Drops `size` bytes at the front.
    pub(super) fn skip(&mut self, size: usize) {
        self.decompressor.skip(size);
    }

    /// Takes the record at the front, as [`ByteSource::take_record`], if its boundary need not be searched for.
    #[inline(always)]
    pub(super) fn take_record<'r, O: Endian>(
        &mut self,
        types: u64,
        data_file: usize,
    ) -> Option<(RecordBytes<'r>, RecordPosition, RecordType)> {
        if self.is_lost {
            return None;
        }
        let (kind, size) = self.decompressor.front_of_types::<O>(types)?;
        let (bytes, place) = self.take::<O>(size, data_file);
        Some((bytes, place, kind))
    }

    /// Takes the record of `size` bytes at the front.
    #[inline(always)]
    fn take<'r, O: Endian>(&mut self, size: usize, data_file: usize) -> (RecordBytes<'r>, RecordPosition) {
        let (position, offset) = self.decompressor.place(size);
        let bytes = self.decompressor.take::<O>(size);
        (bytes, RecordPosition { data_file, offset, decompressed: Some(position) })
    }

    /// Takes the next record; `None` if that needs more than the payload at the front of the source.
    pub(super) fn next<'r, O: Endian, S: ByteSource<'r>>(
        &mut self,
        framing: &mut Framing<S>,
        events: &Events,
        account: &mut Account,
    ) -> Result<Option<(RecordBytes<'r>, RecordPosition)>, FileError> {
        loop {
            if self.is_lost {
                let (_, chunk) = self.decompressor.place(0);
                if let Some(bytes) = self.resync::<O>(events, account) {
                    return Err(note(account, FileErrorKind::Skipped { bytes }, chunk));
                }
            } else {
                match RawRecord::<O>::parse(self.decompressor.front()) {
                    Ok((raw, _)) => {
                        let (kind, size) = (raw.kind(), raw.len());
                        let (bytes, place) = self.take::<O>(size, framing.data_file());
                        account.count(kind, 0);
                        if stays_outside(kind) {
                            account.bytes_skipped = account.bytes_skipped.saturating_add(size as u64);
                            let what = "contains a record that no recorder compresses, because data follows it or it is compressed itself";
                            return Err(note(account, FileErrorKind::Decompress { what }, place.offset));
                        }
                        return Ok(Some((bytes, place)));
                    }
                    Err(error) if matches!(error.kind, ErrorKind::RecordSize { .. }) => {
                        self.is_lost = true;
                        let (_, chunk) = self.decompressor.place(HEADER);
                        return Err(boundary(account, error, chunk));
                    }
                    Err(error) if self.is_front_too_long::<O>() => {
                        self.is_lost = true;
                        let (_, chunk) = self.decompressor.place(HEADER);
                        return Err(boundary(account, error, chunk));
                    }
                    // The rest of the record is still to be decompressed.
                    Err(_) => {}
                }
            }
            if !self.decompress::<O, S>(framing, account)? {
                return Ok(None);
            }
        }
    }

    /// Returns whether the record at the front is longer than any recorder compresses: simpleperf splits such records. The
    /// rest of it would have to be kept.
    fn is_front_too_long<O: Endian>(&self) -> bool {
        let size = RawRecord::<O>::announced_size((), self.decompressor.front());
        size.is_some_and(|size| size > usize::from(u16::MAX))
    }

    /// Begins the payload of the record of `size` bytes at the front of the source.
    pub(super) fn begin<'r, O: Endian, S: ByteSource<'r>>(
        &mut self,
        size: usize,
        framing: &mut Framing<S>,
        account: &mut Account,
    ) -> Result<(), FileError> {
        let offset = framing.source.offset();
        let record = framing.source.front().get(..size).unwrap_or_default();
        match RawRecord::<O>::parse(record).map(|(raw, _)| compressed_range(&raw)) {
            Ok(Ok(left)) => {
                self.give_ahead::<O, S>(&framing.source);
                self.decompressor.begin(offset, left.len());
                self.payload = Some(Payload { size, left });
                Ok(())
            }
            Ok(Err(error)) | Err(error) => {
                framing.take(size, 0);
                let kind = FileErrorKind::Record { kind: RecordType::COMPRESSED2, error };
                Err(note(account, kind, offset.saturating_add(u64::from(error.offset))))
            }
        }
    }

    /// Gives a thread that decompresses ahead the payloads from the front of the source on, as far as their records are
    /// there, and it has room for them. The front is a compressed record, which it gets first unless it has it.
    ///
    /// Stops where the walk may find no boundary, or another one.
    fn give_ahead<'r, O: Endian, S: ByteSource<'r>>(&mut self, source: &S) {
        let passed = usize::try_from(self.given.saturating_sub(source.offset()));
        let rest = passed.ok().and_then(|passed| source.front().get(passed..));
        let Some(mut rest) = rest else { return };
        for _ in 0..PASSED {
            if !self.decompressor.has_room_ahead() {
                break;
            }
            let Ok((raw, after)) = RawRecord::<O>::parse(rest) else { break };
            match raw.kind() {
                RecordType::AUXTRACE | RecordType::HEADER_TRACING_DATA => break,
                RecordType::COMPRESSED | RecordType::COMPRESSED2 => {
                    let Ok(range) = compressed_range(&raw) else { break };
                    self.decompressor.give_ahead(rest.get(range).unwrap_or_default());
                }
                _ => {}
            }
            rest = after;
        }
        let passed = source.front().len().saturating_sub(rest.len());
        self.given = source.offset().saturating_add(passed as u64);
    }

    /// Decompresses a step of the payload at the front of the source. Returns whether there was one.
    fn decompress<'r, O: Endian, S: ByteSource<'r>>(
        &mut self,
        framing: &mut Framing<S>,
        account: &mut Account,
    ) -> Result<bool, FileError> {
        let Some(payload) = &mut self.payload else { return Ok(false) };
        let input = framing.source.front().get(payload.left.clone()).unwrap_or_default();
        match self.decompressor.step(input) {
            Ok((taken, is_done)) => {
                payload.left.start = payload.left.start.saturating_add(taken).min(payload.left.end);
                if is_done {
                    framing.take(payload.size, 0);
                    self.payload = None;
                }
                Ok(true)
            }
            Err(what) => {
                let (offset, size) = (framing.source.offset(), payload.size);
                framing.take(size, 0);
                self.payload = None;
                // The rest of the damaged record is missing.
                let cut = if self.is_lost { 0 } else { self.decompressor.cut::<O>() };
                let skipped = cut.saturating_add(size as u64);
                account.bytes_skipped = account.bytes_skipped.saturating_add(skipped);
                Err(note(account, FileErrorKind::Decompress { what }, offset))
            }
        }
    }

    /// Ends the stream with its data file. Returns whether records may be left in what was decompressed.
    pub(super) fn end<O: Endian>(&mut self, account: &mut Account) -> Result<bool, FileError> {
        if !self.has_ended {
            self.has_ended = true;
            let (left, chunk) = self.decompressor.finish();
            if left > 0 {
                account.bytes_skipped = account.bytes_skipped.saturating_add(left);
                let what = "ends within a block of the zstd stream";
                return Err(note(account, FileErrorKind::Decompress { what }, chunk));
            }
            return Ok(true);
        }
        let left = self.decompressor.front().len();
        if left > 0 {
            let (_, chunk) = self.decompressor.place(left);
            let error = RawRecord::<O>::parse(self.decompressor.front()).err();
            self.decompressor.skip(left);
            account.bytes_skipped = account.bytes_skipped.saturating_add(left as u64);
            if let Some(error) = error {
                return Err(boundary(account, error, chunk));
            }
        }
        Ok(false)
    }

    /// Skips bytes up to a boundary that can be proved, or to the end. Returns how many; `None` if more of the stream
    /// has to be decompressed first.
    #[cold]
    fn resync<O: Endian>(&mut self, events: &Events, account: &mut Account) -> Option<u64> {
        let length = self.decompressor.front().len();
        let found = salvage::search::<O>(
            ((), self.decompressor.front()),
            8,
            self.has_ended,
            |raw| events.layout_of(raw),
            |_| 0,
        );
        let skipped = match found {
            Some(at) => at,
            None if self.has_ended => length,
            None => (length.saturating_sub(salvage::HORIZON) & !7).saturating_sub(8),
        };
        self.decompressor.skip(skipped);
        self.skipped = self.skipped.saturating_add(skipped as u64);
        if found.is_none() && !self.has_ended {
            return None;
        }
        self.is_lost = false;
        let bytes = core::mem::take(&mut self.skipped);
        account.bytes_skipped = account.bytes_skipped.saturating_add(bytes);
        Some(bytes)
    }
}

//! The walk over the records of a capture, which consists of five layers.
//!
//! [`source`](super::source) has the bytes, [`framing`] finds records in them, [`decompressed`] finds those of compressed
//! payloads, [`knowledge`](super::knowledge) has the events and features that are known so far, and [`order`] holds
//! records until no earlier record can come. Each layer owns its state.

mod batch;
mod decompressed;
mod framing;
mod order;
mod types;

use alloc::vec::Vec;
use core::marker::PhantomData;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::knowledge::Knowledge;
use super::source::ByteSource;
use crate::account::Account;
use crate::bytes::RecordBytes;
use crate::error::{FileError, FileErrorKind};
use crate::event::{EventRecord, RecordPosition};
use crate::layout::Mmap2Layout;
use crate::limits::Limits;
use crate::record::RawRecord;
use crate::salvage;
use decompressed::DecompressedRecords;
use framing::Framing;
use order::TimeOrder;
use types::RecordTypeSet;

pub(crate) use framing::FilePiece;
pub(super) use framing::HEADER;

/// A walk over the records of byte order `O` in sources of type `S`.
///
/// A fault is noted in the account before it is returned. The next call continues after it.
#[derive(Debug)]
pub(super) struct SourceWalk<'r, O: Endian, S> {
    framing: Framing<S>,
    /// The compressed stream of the data file that is being read; `None` before its first payload.
    decompressed: Option<DecompressedRecords>,
    /// Whether it is decompressed by a thread of its own.
    is_ahead: bool,
    pub(super) knowledge: Knowledge<'r>,
    order: Option<TimeOrder>,
    /// The types of the records to return.
    types: RecordTypeSet,
    /// The kernel types whose records the fast path may return from the front of the source, a bit for each. 0 if the
    /// next record is not at the front of the source, or if records are held.
    fast_types: u64,
    pub(super) account: Account,
    /// The place before which records are skipped; `None` once it was reached.
    from: Option<RecordPosition>,
    limits: Limits,
    byte_order: PhantomData<O>,
}

impl<'r, O: Endian, S: ByteSource<'r>> SourceWalk<'r, O, S> {
    /// Creates a walk over `first`, which has the number `data_file`, and the data files after it.
    pub(super) fn new(
        (first, data_file): (S, usize),
        more: impl IntoIterator<Item = S>,
        knowledge: Knowledge<'r>,
        account: Account,
        limits: &Limits,
    ) -> Self {
        Self {
            framing: Framing::new(first, data_file, more),
            decompressed: None,
            is_ahead: false,
            knowledge,
            order: None,
            types: RecordTypeSet::all(),
            fast_types: RecordTypeSet::all().fast(),
            account,
            from: None,
            limits: *limits,
            byte_order: PhantomData,
        }
    }

    pub(super) fn in_time_order(&mut self) {
        self.order.get_or_insert_with(|| TimeOrder::new(&self.limits));
        self.settle();
    }

    pub(super) fn only(&mut self, types: &[RecordType]) {
        self.types = RecordTypeSet::new(types);
        self.settle();
    }

    #[cfg(feature = "std")]
    pub(super) fn decompress_ahead(&mut self) {
        self.is_ahead = true;
    }

    /// Skips the records, and the errors, before a place.
    pub(super) fn skip_to(&mut self, place: RecordPosition) {
        self.from = Some(place);
        self.settle();
    }

    /// Leaves out everything but some pieces of the data files.
    pub(super) fn only_pieces(&mut self, pieces: Vec<FilePiece>) {
        self.framing.only(pieces);
        self.settle();
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Decides how the next record is found, after a step off the fast path.
    fn settle(&mut self) {
        let is_fast = self.framing.is_at_boundary()
            && self.decompressed.is_none()
            && self.order.is_none()
            && self.from.is_none();
        self.fast_types = if is_fast { self.types.fast() } else { 0 };
    }

    /// Returns how far the walk has read.
    pub(super) fn position(&self) -> RecordPosition {
        let decompressed = self.decompressed.as_ref();
        decompressed
            .and_then(|it| it.place(self.framing.data_file()))
            .unwrap_or_else(|| self.framing.position())
    }

    /// Returns the next record; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Result<EventRecord<'r>, FileError>> {
        if let Some(from) = self.from.take() {
            match self.first_from(from) {
                Some(Ok(record)) if self.order.is_some() && self.hold(&record) => {}
                first => return first,
            }
        }
        if let Some(record) = self.next_fast() {
            return Some(Ok(record));
        }
        if self.order.is_some() {
            return self.next_in_time();
        }
        let next = self.next_any();
        self.settle();
        next.transpose()
    }

    /// Returns the first record from a place on.
    #[cold]
    fn first_from(&mut self, from: RecordPosition) -> Option<Result<EventRecord<'r>, FileError>> {
        loop {
            let next = self.next_any();
            let is_before = match &next {
                Ok(Some(record)) => record.position().is_before(from),
                Ok(None) => false,
                Err(error) => {
                    RecordPosition { offset: error.offset, ..self.framing.position() }.is_before(from)
                }
            };
            if !is_before {
                self.settle();
                return next.transpose();
            }
        }
    }

    /// Returns the next record if the fast path can: nearly all records are samples or other records that do not
    /// describe the capture. If this method returns `None`, it has taken no record.
    #[inline(always)]
    pub(super) fn next_fast(&mut self) -> Option<EventRecord<'r>> {
        if self.fast_types != 0 {
            return self.next_of_types(self.fast_types);
        }
        if self.order.is_some() {
            return self.next_held();
        }
        self.next_decompressed()
    }

    /// Returns the next record if it is at the front of the source and of one of `types`.
    #[inline(always)]
    fn next_of_types(&mut self, types: u64) -> Option<EventRecord<'r>> {
        let Self { knowledge, framing, account, .. } = self;
        let place = framing.position();
        let (bytes, kind, size) = framing.source.take_record::<O>(types)?;
        account.count(kind, size);
        let event = knowledge.event_of_kernel::<O>(&bytes);
        Some(EventRecord::new(bytes, place, event))
    }

    /// Returns the next record of the decompressed stream, if all its bytes are there.
    #[inline(always)]
    fn next_decompressed(&mut self) -> Option<EventRecord<'r>> {
        let Self { knowledge, framing, account, decompressed: Some(decompressed), .. } = self else {
            return None;
        };
        let (bytes, place, kind) = decompressed.take_record::<O>(self.types.fast(), framing.data_file())?;
        account.count(kind, 0);
        let event = knowledge.event_of_kernel::<O>(&bytes);
        Some(EventRecord::new(bytes, place, event))
    }

    /// Returns the next record that was requested, in the order of the capture.
    #[inline(never)]
    fn next_any(&mut self) -> Result<Option<EventRecord<'r>>, FileError> {
        loop {
            self.pass_unwanted();
            match self.advance()? {
                Some(record) if !self.types.has(record.kind()) => {}
                next => return Ok(next),
            }
        }
    }

    /// Passes records up to the offset `target` or the end of the data file. Returns whether more records follow;
    /// `None` if the capture is compressed, because a walk cannot begin in the middle of compressed data.
    ///
    /// The capture can be cut at the position where this method stops: a walk over the part before it and a walk over
    /// the part after it find the same records as one walk. The search for a lost boundary reads a few records ahead.
    /// After an error, this method therefore continues for that distance, so that the search reads nothing after the
    /// cut.
    pub(super) fn hop(&mut self, target: u64) -> Option<bool> {
        let data_file = self.framing.data_file();
        let mut target = target;
        loop {
            while self.framing.is_at_boundary() {
                let front = RawRecord::<O>::of_types(self.framing.source.front(), u64::MAX);
                if self.framing.source.offset() >= target && !self.framing.is_at_end_of_file() {
                    return Some(true);
                }
                let Some((raw, _)) = front else { break };
                let size = raw.len();
                self.framing.source.take(size);
            }
            if self.framing.is_at_end_of_file() {
                return Some(self.framing.next_data_file());
            }
            match self.advance() {
                Ok(Some(_)) | Ok(None) => {}
                Err(_) => {
                    let horizon = salvage::HORIZON as u64;
                    target = target.max(self.framing.source.offset().saturating_add(horizon));
                }
            }
            if self.decompressed.is_some() {
                return None;
            }
            if self.framing.data_file() != data_file {
                return Some(true);
            }
        }
    }

    /// Skips the records at the front of the source that were not requested, after reading their headers.
    fn pass_unwanted(&mut self) {
        if self.decompressed.is_some() || !self.framing.is_at_boundary() {
            return;
        }
        while let Some((raw, _)) =
            RawRecord::<O>::of_types(self.framing.source.front(), self.types.unwanted())
        {
            let size = raw.len();
            self.account.count(raw.kind(), size);
            self.framing.source.take(size);
        }
    }

    /// Returns the next record of any type.
    fn advance(&mut self) -> Result<Option<EventRecord<'r>>, FileError> {
        loop {
            self.framing.skip_trailing(&mut self.account)?;
            if let Some(decompressed) = &mut self.decompressed {
                let events = self.knowledge.events();
                let next = decompressed.next::<O, S>(&mut self.framing, events, &mut self.account)?;
                if let Some((bytes, place)) = next {
                    return Ok(Some(self.found(bytes, place)));
                }
            }
            if self.framing.is_lost() {
                return Err(self.framing.resync::<O>(self.knowledge.events(), &mut self.account)?);
            }
            let Some((kind, size)) = self.framing.next_record::<O>(&mut self.account)? else {
                if self.end_data_file()? {
                    continue;
                }
                return Ok(None);
            };
            if matches!(kind, RecordType::COMPRESSED | RecordType::COMPRESSED2) {
                self.account.count(kind, size);
                let decompressed = self
                    .decompressed
                    .get_or_insert_with(|| DecompressedRecords::new(&self.limits, self.is_ahead));
                decompressed.begin::<O, S>(size, &mut self.framing, &mut self.account)?;
                continue;
            }
            let (trailing_size, held) = self.framing.trailing::<O>(kind, size, &mut self.account)?;
            self.account.count(kind, size);
            self.account.bytes = self.account.bytes.saturating_add(trailing_size);
            self.account.announced = self.account.announced.saturating_add(trailing_size);
            let place = self.framing.position();
            let bytes = self.framing.source.keep::<O>(size, held);
            self.framing.take(size, trailing_size);
            return Ok(Some(self.found(bytes, place)));
        }
    }

    /// Returns the record at the start of `bytes`, and applies the record if it describes the capture.
    fn found(&mut self, bytes: RecordBytes<'r>, place: RecordPosition) -> EventRecord<'r> {
        let raw: RawRecord<'_, O> = bytes.raw().typed(());
        self.knowledge.absorb(&raw, bytes.trailing(), place, &mut self.account);
        self.count_content(&raw);
        let event = self.knowledge.event_of(raw);
        EventRecord::new(bytes, place, event)
    }

    /// Adds to the account what the kernel lost, and the MMAP2 records of an ambiguous layout.
    fn count_content(&mut self, raw: &RawRecord<'_, O>) {
        let counts = match raw.kind() {
            RecordType::LOST | RecordType::LOST_SAMPLES => true,
            RecordType::MMAP2 => Mmap2Layout::may_fit_both(raw),
            _ => false,
        };
        if !counts {
            return;
        }
        let events = self.knowledge.events();
        let event = events.index_of(raw).and_then(|index| events.get(index));
        // A caller that decodes the record notes its fault.
        if let Some(Ok(record)) = event.map(|event| raw.decode(&event.layout)) {
            self.account.count_content(&record);
        }
    }

    /// Ends a data file. Returns whether there is more to read, in this file or another.
    fn end_data_file(&mut self) -> Result<bool, FileError> {
        if let Some(decompressed) = &mut self.decompressed {
            if decompressed.end::<O>(&mut self.account)? {
                return Ok(true);
            }
        }
        self.decompressed = None;
        Ok(self.framing.next_data_file())
    }
}

/// Notes a fault that the walk itself found.
#[cold]
fn note(account: &mut Account, kind: FileErrorKind, offset: u64) -> FileError {
    let error = FileError::new(kind, offset);
    account.note(error);
    error
}

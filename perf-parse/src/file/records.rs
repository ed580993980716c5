//! The walk over the records of a file.

use perf_abi::endian::{Endian, U32};
use perf_abi::record::RecordType;

use super::error::{FileError, FileErrorKind};
use super::{Account, Event, File};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::layout::SampleLayout;
use crate::record::Lost;
use crate::record::{LostSamples, RawRecord, Record, SampleId};

/// A record of a file, with its place and its event.
#[derive(Clone, Copy, Debug)]
pub struct FileRecord<'a, O: Endian> {
    /// Where its header is, in bytes from the start of the file.
    pub offset: u64,
    /// Its bytes.
    pub raw: RawRecord<'a, O>,
    /// The index of its event; `None` for the perf tool's own records, and where the event cannot be told.
    pub event: Option<usize>,
    /// What stands behind the record and belongs to it: the payload of AUXTRACE and HEADER_TRACING_DATA.
    pub behind: &'a [u8],
    layout: Result<&'a SampleLayout, FileErrorKind>,
}

impl<'a, O: Endian> FileRecord<'a, O> {
    /// Decodes the record. Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Record`] for a fault in the record, [`FileErrorKind::UnknownId`],
    /// [`FileErrorKind::UnknownEvent`] or [`FileErrorKind::Layout`] if its layout is not known. The offset is that of
    /// the faulty field in the file. Records behind this one are not affected.
    #[inline]
    pub fn decode(&self) -> Result<Record<'a, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// The `sample_id` trailer; `None` where the record has none.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn sample_id(&self) -> Result<Option<SampleId<'a, O>>, FileError> {
        if self.raw.kind().is_user() {
            return Ok(None);
        }
        self.raw.sample_id(self.layout()?).map_err(|error| self.error(error))
    }

    /// An error in this record with its place in the file, as for an error of [`Sample::tail`](crate::Sample::tail).
    #[must_use]
    pub fn error(&self, error: Error) -> FileError {
        let kind = FileErrorKind::Record { kind: self.raw.kind(), error };
        FileError::new(kind, self.offset.saturating_add(u64::from(error.offset)))
    }

    #[inline]
    fn layout(&self) -> Result<&'a SampleLayout, FileError> {
        self.layout.map_err(|kind| FileError::new(kind, self.offset))
    }
}

/// An iterator over the records of a file, in file order; made by [`File::records`].
///
/// Gives an error, and ends, where the next record cannot be found. A record that can be found and not decoded comes
/// as a record, whose [`decode`](FileRecord::decode) gives the error.
#[derive(Clone, Debug)]
pub struct FileRecords<'a, O: Endian> {
    file: &'a File<'a, O>,
    rest: &'a [u8],
    /// Offset in the file of the end of `rest`.
    end: u64,
    account: Account,
}

impl<'a, O: Endian> FileRecords<'a, O> {
    pub(super) fn new(file: &'a File<'a, O>) -> Self {
        let end = file.header.data.offset.saturating_add(file.data.len() as u64);
        Self { file, rest: file.data, end, account: Account::new(&file.diagnostics) }
    }

    /// The account so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The account, to add what the caller found wrong while decoding.
    pub fn account_mut(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Where the next record begins, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.end.saturating_sub(self.rest.len() as u64)
    }

    /// Takes the record at the front, and what belongs to it behind.
    #[inline]
    fn take(&mut self) -> Result<FileRecord<'a, O>, FileError> {
        let offset = self.offset();
        let at = |error: Error| {
            FileError::new(FileErrorKind::Boundary(error), offset.saturating_add(u64::from(error.offset)))
        };
        let (raw, rest) = RawRecord::parse(self.rest).map_err(at)?;
        let kind = raw.kind();
        let (behind, rest) = match kind {
            RecordType::AUXTRACE | RecordType::HEADER_TRACING_DATA => split_behind(&raw, rest).map_err(at)?,
            _ => rest.split_at_checked(0).unwrap_or((&[], rest)),
        };
        self.rest = rest;
        self.account.count(kind, usize::from(raw.size()).saturating_add(behind.len()));
        let event = self.file.dispatch.event(&raw);
        let layout = match event {
            Ok(Some(index)) => match self.file.events.get(index) {
                Some(Event { fault: Some(error), .. }) if kind == RecordType::SAMPLE => {
                    Err(FileErrorKind::Layout(*error))
                }
                Some(event) => Ok(&event.layout),
                None => Err(FileErrorKind::UnknownEvent { kind }),
            },
            Ok(None) => Err(FileErrorKind::UnknownEvent { kind }),
            Err(error) => Err(error),
        };
        let record = FileRecord { offset, raw, event: event.ok().flatten(), behind, layout };
        if kind == RecordType::LOST || kind == RecordType::LOST_SAMPLES {
            self.count_lost(&record);
        }
        Ok(record)
    }

    #[cold]
    fn count_lost(&mut self, record: &FileRecord<'a, O>) {
        match record.decode() {
            Ok(Record::Lost(Lost { lost, .. })) => self.account.lost = self.account.lost.saturating_add(lost),
            Ok(Record::LostSamples(LostSamples { lost })) => {
                self.account.lost_samples = self.account.lost_samples.saturating_add(lost);
            }
            // A fault is noted by who asks for the record.
            _ => {}
        }
    }
}

/// Takes what stands behind a record and belongs to it, by the size that the record gives.
#[cold]
fn split_behind<'a, O: Endian>(
    raw: &RawRecord<'a, O>,
    rest: &'a [u8],
) -> Result<(&'a [u8], &'a [u8]), Error> {
    let payload = raw.payload();
    let mut at = Cursor::new(payload, 8);
    let (field, size) = if raw.kind() == RecordType::AUXTRACE {
        let field = "auxtrace.size";
        (field, at.word::<O>(field)?)
    } else {
        let field = "tracing_data.size";
        (field, u64::from(at.fixed::<U32<O>>(field)?.get()))
    };
    usize::try_from(size).ok().and_then(|size| rest.split_at_checked(size)).ok_or_else(|| {
        let available = rest.len() as u64;
        Error::new(ErrorKind::Truncated { field, needed: size, available }, 8)
    })
}

impl<'a, O: Endian> Iterator for FileRecords<'a, O> {
    type Item = Result<FileRecord<'a, O>, FileError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let taken = self.take();
        if let Err(error) = taken {
            self.account.bytes_skipped = self.account.bytes_skipped.saturating_add(self.rest.len() as u64);
            self.account.note(error);
            self.rest = &[];
        }
        Some(taken)
    }
}

impl<O: Endian> core::iter::FusedIterator for FileRecords<'_, O> {}

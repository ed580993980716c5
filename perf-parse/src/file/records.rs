//! A record of a capture, with its place and its event.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::error::{FileError, FileErrorKind};
use super::events::{Event, Events, unknown};
use crate::error::{Error, ErrorKind};
use crate::layout::SampleLayout;
use crate::record::{RawRecord, Record, SampleId};
use crate::sample::Sample;

/// A record of a capture. Borrows from the [`Reader`](super::Reader), until it is asked for the next one.
#[derive(Clone, Copy)]
pub struct FileRecord<'a, O: Endian> {
    /// Where its header is, in bytes from the start of the capture; for a record that was compressed, where the
    /// COMPRESSED record is that its end came out of.
    pub offset: u64,
    /// Where it is in the decompressed stream; `None` for a record that was not compressed.
    pub inner: Option<u64>,
    /// The data file of a directory capture that it is in: 0 for `data`, then those given to
    /// [`Reader::add_data`](super::Reader::add_data) in turn.
    pub data_file: usize,
    /// Its bytes.
    pub raw: RawRecord<'a, O>,
    /// The index of its event; `None` for the perf tool's own records, and where the event cannot be told.
    pub event_index: Option<usize>,
    /// What stands behind the record and belongs to it: the payload of AUXTRACE and HEADER_TRACING_DATA. Empty where a
    /// stream has passed over it.
    pub behind: &'a [u8],
    /// Bytes that stand behind the record and belong to it, held or not; they begin `size` bytes behind `offset`.
    pub behind_size: u64,
    /// Those that are known now.
    pub(super) events: &'a Events,
}

impl<O: Endian> core::fmt::Debug for FileRecord<'_, O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FileRecord")
            .field("offset", &self.offset)
            .field("inner", &self.inner)
            .field("data_file", &self.data_file)
            .field("raw", &self.raw)
            .field("event_index", &self.event_index)
            .field("behind_size", &self.behind_size)
            .finish_non_exhaustive()
    }
}

impl<'a, O: Endian> FileRecord<'a, O> {
    /// Decodes the record. Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Record`] for a fault in the record, [`FileErrorKind::UnknownId`],
    /// [`FileErrorKind::UnknownEvent`] or [`FileErrorKind::Layout`] if its layout is not known. The offset is that of
    /// the faulty field. Records behind this one are not affected.
    #[inline(always)]
    pub fn decode(&self) -> Result<Record<'a, O>, FileError> {
        if let Some(sample) = self.sample() {
            return Ok(Record::Sample(sample));
        }
        match self.decode_other() {
            // No sample comes from there: see `RawRecord::decode`.
            None | Some(Record::Sample(_)) => Err(self.fault()),
            Some(record) => Ok(record),
        }
    }

    /// The record as a sample. `None` for every other record, and for a sample that is faulty or whose layout is not known:
    /// give those to [`decode`](Self::decode), or faults go unseen. The fast way to samples, as [`RawRecord::sample`].
    #[must_use]
    #[inline(always)]
    pub fn sample(&self) -> Option<Sample<'a, O>> {
        let event = self.event().filter(|event| event.fault.is_none())?;
        self.raw.sample(&event.layout)
    }

    /// Decodes a record that is not a sample; `None` for a fault. As with [`RawRecord::decode`], not in the type that
    /// [`decode`](Self::decode) gives.
    #[inline(never)]
    fn decode_other(self) -> Option<Record<'a, O>> {
        self.decode_any().ok()
    }

    /// What is wrong with a record that could not be decoded.
    #[cold]
    #[inline(never)]
    fn fault(self) -> FileError {
        let nothing = Error { kind: ErrorKind::Residue { bytes: 0 }, offset: 0 };
        self.decode_any().err().unwrap_or_else(|| self.error(nothing))
    }

    /// Decodes a record, or says what is wrong with it.
    #[inline(never)]
    fn decode_any(self) -> Result<Record<'a, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// Its event; `None` for the perf tool's own records, and where the event cannot be told.
    #[must_use]
    #[inline]
    pub fn event(&self) -> Option<&'a Event> {
        self.events.get(self.event_index?)
    }

    /// Why its event cannot be told: [`FileErrorKind::UnknownId`] or [`FileErrorKind::UnknownEvent`]. `None` where it can,
    /// and for the perf tool's own records, which have none.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::AnyReader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on a big-endian machine") };
    /// while let Some(record) = reader.next()? {
    ///     if let Some(why) = record.unknown_event() {
    ///         println!("{:#x}: {why}", record.offset);
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unknown_event(&self) -> Option<FileErrorKind> {
        let is_unknown = self.event().is_none() && !self.raw.kind().is_user();
        is_unknown.then(|| self.unknown())
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

    /// When the record was made, in nanoseconds of its event's clock: a sample's own time, another record's trailer's.
    ///
    /// `None` where the event does not record it, for the perf tool's own records, and where it cannot be decoded.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        if self.raw.kind().is_user() {
            return None;
        }
        self.raw.time(&self.event()?.layout)
    }

    /// An error in this record with its place in the capture, as for an error of
    /// [`Sample::tail`](crate::Sample::tail).
    #[must_use]
    pub fn error(&self, error: Error) -> FileError {
        FileError::in_record(self.raw.kind(), self.offset, self.inner, error)
    }

    #[inline]
    fn layout(&self) -> Result<&'a SampleLayout, FileError> {
        match self.event() {
            Some(event) if event.fault.is_none() || self.raw.kind() != RecordType::SAMPLE => {
                Ok(&event.layout)
            }
            _ => Err(self.unknown_layout()),
        }
    }

    /// Why its event cannot be told.
    #[cold]
    fn unknown(&self) -> FileErrorKind {
        unknown(self.raw.kind(), self.events.unknown_id(self.raw))
    }

    #[cold]
    fn unknown_layout(&self) -> FileError {
        let kind = match self.event().and_then(|event| event.fault) {
            Some(error) => FileErrorKind::Layout(error),
            None => self.unknown(),
        };
        FileError::new(kind, self.offset)
    }
}

//! A record of a capture, with its offset and its event.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::events::{Event, Events, unknown};
use crate::error::{Error, ErrorKind};
use crate::error::{FileError, FileErrorKind};
use crate::layout::SampleLayout;
use crate::record::{RawRecord, Record, SampleId};
use crate::sample::Sample;

/// A record of a capture. Borrows from the [`Reader`](super::Reader) until the next record is requested.
#[derive(Clone, Copy)]
pub struct FileRecord<'a, O: Endian> {
    /// Offset of the record's header, in bytes from the start of the capture. For a compressed record this is the
    /// offset of the COMPRESSED record that contains its end.
    pub offset: u64,
    /// Position of the record in the decompressed stream; `None` for a record that was not compressed.
    pub inner: Option<u64>,
    /// The data file of a directory capture that the record is in: 0 for `data`, then the files that were given to
    /// [`Reader::add_data`](super::Reader::add_data), in that order.
    pub data_file: usize,
    /// The bytes of the record.
    pub raw: RawRecord<'a, O>,
    /// The index of the record's event; `None` for the records of the perf tool, and if the event is unknown.
    pub event_index: Option<usize>,
    /// The data after the record that belongs to it: the payload of AUXTRACE and HEADER_TRACING_DATA. Empty if a stream
    /// has skipped it.
    pub behind: &'a [u8],
    /// Number of bytes after the record that belong to it, whether `behind` holds them or not. They begin `size` bytes
    /// after `offset`.
    pub behind_size: u64,
    /// The events that are known now.
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
    /// [`FileErrorKind::Record`] for a fault in the record. [`FileErrorKind::UnknownId`],
    /// [`FileErrorKind::UnknownEvent`] or [`FileErrorKind::Layout`] if its layout is unknown. The offset is that of the
    /// faulty field. Later records are not affected.
    #[inline(always)]
    pub fn decode(&self) -> Result<Record<'a, O>, FileError> {
        if let Some(sample) = self.sample() {
            return Ok(Record::Sample(sample));
        }
        match self.decode_other() {
            // `decode_other` never returns a sample: see `RawRecord::decode`.
            None | Some(Record::Sample(_)) => Err(self.fault()),
            Some(record) => Ok(record),
        }
    }

    /// Returns the record as a sample. The fast way to samples, like [`RawRecord::sample`].
    ///
    /// `None` for every other record, and for a sample that has a fault or whose layout is unknown. Pass those to
    /// [`decode`](Self::decode), which reports the fault.
    #[must_use]
    #[inline(always)]
    pub fn sample(&self) -> Option<Sample<'a, O>> {
        let event = self.event().filter(|event| event.fault.is_none())?;
        self.raw.sample(&event.layout)
    }

    /// Decodes a record that is not a sample; `None` for a fault. It does not return the type that
    /// [`decode`](Self::decode) returns; [`RawRecord::decode`] has the reason.
    #[inline(never)]
    fn decode_other(self) -> Option<Record<'a, O>> {
        self.decode_any().ok()
    }

    /// Returns the fault of a record that could not be decoded.
    #[cold]
    #[inline(never)]
    fn fault(self) -> FileError {
        let nothing = Error { kind: ErrorKind::Residue { bytes: 0 }, offset: 0 };
        self.decode_any().err().unwrap_or_else(|| self.error(nothing))
    }

    /// Decodes a record, or returns its fault.
    #[inline(never)]
    fn decode_any(self) -> Result<Record<'a, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// Returns the record's event; `None` for the records of the perf tool, and if the event is unknown.
    #[must_use]
    #[inline]
    pub fn event(&self) -> Option<&'a Event> {
        self.events.get(self.event_index?)
    }

    /// Returns why the record's event is unknown: [`FileErrorKind::UnknownId`] or [`FileErrorKind::UnknownEvent`].
    /// `None` if the event is known, and for the records of the perf tool, which have no event.
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

    /// Returns the `sample_id` trailer; `None` if the record has none.
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

    /// Returns the time of the record, in nanoseconds of its event's clock: a sample's time field, or the time in
    /// another record's trailer.
    ///
    /// `None` if the event does not record the time, for the records of the perf tool, and if the time cannot be
    /// decoded.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        if self.raw.kind().is_user() {
            return None;
        }
        self.raw.time(&self.event()?.layout)
    }

    /// Adds the offset in the capture to an error in this record, such as an error of
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

    /// Returns why the record's event is unknown.
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

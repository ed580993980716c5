//! A record with its place and its event, independent of the reader: any thread can print it.
//!
//! Here the records of perf-parse enter the printing.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{Event, FileError, FileErrorKind};
use perf_parse::record::SampleId;
use perf_parse::{Error, RawRecord, Record, Sample, SampleLayout};

use super::Sink;
use super::escape::push_printable;
use super::head::Heads;

/// The position of a record in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The offset of its header, or of the COMPRESSED record that contains its end.
    pub(crate) offset: u64,
    /// Its offset in the decompressed stream; `None` for a record that was not compressed.
    pub(crate) decompressed_offset: Option<u64>,
    pub(crate) data_file: usize,
}

/// The parts of an event that its records need for printing.
#[derive(Clone, Debug)]
pub(crate) struct EventParts {
    /// The index of the event in the capture.
    pub(crate) index: usize,
    /// The name of the event, safe to print.
    pub(crate) name: Option<Vec<u8>>,
    layout: SampleLayout,
    /// The reason why its samples cannot be decoded.
    fault: Option<Error>,
    /// The index of its tracepoint among the formats of the capture.
    pub(crate) tracepoint: Option<usize>,
}

impl EventParts {
    pub(crate) fn new(index: usize, event: &Event, tracepoint: Option<usize>) -> Self {
        let name = event.name.as_deref().map(|name| {
            let mut printable = Vec::new();
            push_printable(&mut printable, name);
            printable
        });
        Self { index, name, layout: event.layout, fault: event.fault, tracepoint }
    }
}

/// A record with its place and its event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedRecord<'b, O: Endian> {
    pub(crate) place: Place,
    pub(crate) raw: RawRecord<'b, O>,
    /// Its event, or the reason why the event is unknown. The perf tool's own records have none.
    pub(crate) event: Result<&'b EventParts, FileErrorKind>,
}

impl<'b, O: Endian> PlacedRecord<'b, O> {
    /// Returns the record as a sample; `None` if it is not one or cannot be decoded.
    #[inline]
    pub(crate) fn sample(&self) -> Option<Sample<'b, O>> {
        let is_sample = self.raw.kind() == RecordType::SAMPLE;
        let event = self.event.ok().filter(|event| is_sample && event.fault.is_none())?;
        Sample::parse(&event.layout, &self.raw).ok()
    }

    pub(crate) fn decode(&self) -> Result<Record<'b, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// Returns the `sample_id` trailer; `None` if the record has none.
    #[inline]
    pub(crate) fn sample_id(&self) -> Result<Option<SampleId<'b, O>>, FileError> {
        if self.raw.kind().is_user() {
            return Ok(None);
        }
        self.raw.sample_id(self.layout()?).map_err(|error| self.error(error))
    }

    /// Adds the position in the capture to an error in this record.
    pub(crate) fn error(&self, error: Error) -> FileError {
        FileError::in_record(self.raw.kind(), self.place.offset, self.place.decompressed_offset, error)
    }

    #[inline]
    fn layout(&self) -> Result<&'b SampleLayout, FileError> {
        let layout = match self.event {
            Ok(EventParts { fault: Some(error), .. }) if self.raw.kind() == RecordType::SAMPLE => {
                Err(FileErrorKind::Layout(*error))
            }
            Ok(event) => Ok(&event.layout),
            Err(kind) => Err(kind),
        };
        layout.map_err(|kind| FileError { kind, offset: self.place.offset })
    }
}

/// A printer of one record. It is called in this order: `begin`, the record's fields, `begin_sample_id`, the fields of
/// the trailer, `end`.
pub(crate) trait RecordSink: Sink {
    /// Begins the record.
    fn begin<O: Endian>(&mut self, record: &PlacedRecord<'_, O>, heads: &mut Heads);
    /// Begins the `sample_id` trailer. Not called for a record without one.
    fn begin_sample_id(&mut self);
    /// Ends the record. `sample` is the record if it is a sample, and `error` that of a part that cannot be decoded.
    fn end<O: Endian>(
        &mut self,
        record: &PlacedRecord<'_, O>,
        heads: &mut Heads,
        sample: Option<&Sample<'_, O>>,
        error: Option<&FileError>,
    );
}

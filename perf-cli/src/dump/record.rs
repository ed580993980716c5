//! A record with its place and its event, independent of the reader: any thread can print it.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{Event, FileError, FileErrorKind};
use perf_parse::record::SampleId;
use perf_parse::{Error, RawRecord, Record, Sample, SampleLayout};

use super::tracepoints::Formats;
use crate::render::escape::push_printable;
use crate::render::record::{EventLabel, Place};

/// The parts of an event that its records need for printing.
#[derive(Clone, Debug)]
pub(super) struct EventParts {
    pub(super) label: EventLabel,
    layout: SampleLayout,
    /// The reason why its samples cannot be decoded.
    fault: Option<Error>,
    /// The index of its tracepoint in [`Formats`].
    pub(super) tracepoint: Option<usize>,
}

impl EventParts {
    pub(super) fn new(index: usize, event: &Event, formats: &Formats<'_>) -> Self {
        let name = event.name.as_deref().map(|name| {
            let mut printable = Vec::new();
            push_printable(&mut printable, name);
            printable
        });
        let label = EventLabel { index, name };
        Self { label, layout: event.layout, fault: event.fault, tracepoint: formats.of(event) }
    }
}

/// A record with its place and its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRecord<'b, O: Endian> {
    pub(super) place: Place,
    pub(super) raw: RawRecord<'b, O>,
    /// Its event, or the reason why the event is unknown. The perf tool's own records have none.
    pub(super) event: Result<&'b EventParts, FileErrorKind>,
}

impl<'b, O: Endian> PlacedRecord<'b, O> {
    /// Returns the record as a sample; `None` if it is not one or cannot be decoded.
    #[inline]
    pub(super) fn sample(&self) -> Option<Sample<'b, O>> {
        let is_sample = self.raw.kind() == RecordType::SAMPLE;
        let event = self.event.ok().filter(|event| is_sample && event.fault.is_none())?;
        Sample::parse(&event.layout, &self.raw).ok()
    }

    pub(super) fn decode(&self) -> Result<Record<'b, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// Returns the `sample_id` trailer; `None` if the record has none.
    #[inline]
    pub(super) fn sample_id(&self) -> Result<Option<SampleId<'b, O>>, FileError> {
        if self.raw.kind().is_user() {
            return Ok(None);
        }
        self.raw.sample_id(self.layout()?).map_err(|error| self.error(error))
    }

    /// Adds the position in the capture to an error in this record.
    pub(super) fn error(&self, error: Error) -> FileError {
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

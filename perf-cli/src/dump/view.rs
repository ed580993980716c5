//! A record for formatting: independent of the reader, so that any thread can format it.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::record::SampleId;
use perf_parse::{Error, RawRecord, Record, Sample, SampleLayout};

use crate::render::ready::Ready;

/// The parts of an event that its records need for formatting.
#[derive(Clone, Debug)]
pub(super) struct EventView {
    /// The index of the event in the capture.
    pub(super) index: usize,
    pub(super) layout: SampleLayout,
    /// The reason why its samples cannot be decoded.
    pub(super) fault: Option<Error>,
    /// The index of its tracepoint in [`Formats`](super::tracepoints::Formats).
    pub(super) tracepoint: Option<usize>,
    /// The name of the event, safe to print.
    pub(super) shown: Option<Ready>,
    /// Members of a JSON object: the index of the event, up to the value of `fields`.
    pub(super) members: Ready,
}

/// A record with its position and its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'b, O: Endian> {
    /// The offset of its header, or of the COMPRESSED record that contains its end.
    pub(super) offset: u64,
    /// Its offset in the decompressed stream; `None` for a record that was not compressed.
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    pub(super) raw: RawRecord<'b, O>,
    /// Its event, or the reason why the event is unknown. The perf tool's own records have none.
    pub(super) event: Result<&'b EventView, FileErrorKind>,
}

impl<'b, O: Endian> View<'b, O> {
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
        FileError::in_record(self.raw.kind(), self.offset, self.inner, error)
    }

    #[inline]
    fn layout(&self) -> Result<&'b SampleLayout, FileError> {
        let layout = match self.event {
            Ok(EventView { fault: Some(error), .. }) if self.raw.kind() == RecordType::SAMPLE => {
                Err(FileErrorKind::Layout(*error))
            }
            Ok(event) => Ok(&event.layout),
            Err(kind) => Err(kind),
        };
        layout.map_err(|kind| FileError { kind, offset: self.offset })
    }
}

//! A record as it is formatted: out of the reader's hands, by any thread.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::record::SampleId;
use perf_parse::{Error, RawRecord, Record, Sample, SampleLayout};

use crate::render::ready::Ready;

/// What of an event its records need to be formatted.
#[derive(Clone, Debug)]
pub(super) struct EventView {
    /// Its index in the capture.
    pub(super) index: usize,
    pub(super) layout: SampleLayout,
    /// Why its samples cannot be decoded.
    pub(super) fault: Option<Error>,
    /// Which of the capture's tracepoints it is.
    pub(super) tracepoint: Option<usize>,
    /// Its name, as eyes may see it.
    pub(super) shown: Option<Ready>,
    /// Members of a JSON object: its index, up to the value of `fields`.
    pub(super) members: Ready,
}

/// A record with its place and its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'b, O: Endian> {
    /// Where its header is, or the COMPRESSED record that its end came out of.
    pub(super) offset: u64,
    /// Where it is in the decompressed stream; `None` for a record that was not compressed.
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    pub(super) raw: RawRecord<'b, O>,
    /// Its event, or why that cannot be told. The perf tool's own records have none.
    pub(super) event: Result<&'b EventView, FileErrorKind>,
}

impl<'b, O: Endian> View<'b, O> {
    /// The record as a sample; `None` for another, and for one that cannot be decoded.
    #[inline]
    pub(super) fn sample(&self) -> Option<Sample<'b, O>> {
        let is_sample = self.raw.kind() == RecordType::SAMPLE;
        let event = self.event.ok().filter(|event| is_sample && event.fault.is_none())?;
        Sample::parse(&event.layout, &self.raw).ok()
    }

    /// Decodes the record.
    pub(super) fn decode(&self) -> Result<Record<'b, O>, FileError> {
        if self.raw.kind().is_user() {
            return self.raw.decode_user().map_err(|error| self.error(error));
        }
        self.raw.decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// The `sample_id` trailer; `None` where the record has none.
    #[inline]
    pub(super) fn sample_id(&self) -> Result<Option<SampleId<'b, O>>, FileError> {
        if self.raw.kind().is_user() {
            return Ok(None);
        }
        self.raw.sample_id(self.layout()?).map_err(|error| self.error(error))
    }

    /// An error in this record with its place in the capture.
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

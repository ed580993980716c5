//! The containers that an edit writes.

use alloc::vec::Vec;
use std::io::{Seek, Write};

use perf_abi::feature::Feature;

use crate::file::write::{
    EventFields, FeaturePayloads, FileWriter, PipeWriter, WriteFileError, WriteOptions, fits_in_pipe,
};
use crate::record::RawRecord;

/// A capture that is being written.
pub(super) trait CaptureSink: Sized {
    type Out;

    /// Whether features may be set, and events named, until the end.
    const IS_FILE: bool;

    /// Returns whether the container can have a feature.
    fn has_room(feature: Feature, payload: &[u8]) -> bool;

    fn begin(
        out: Self::Out,
        events: &[EventFields],
        features: FeaturePayloads,
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError>;

    /// Writes a record of this CPU, and the data after it.
    fn copy(
        &mut self,
        record: &RawRecord<'_>,
        data: &[u8],
        cpu: impl FnOnce() -> Option<u32>,
    ) -> Result<(), WriteFileError>;

    /// Ends the capture. A file gets these names and features.
    fn finish(
        self,
        events: &[EventFields],
        features: Vec<(Feature, Vec<u8>)>,
    ) -> Result<Self::Out, WriteFileError>;
}

impl<W: Write + Seek> CaptureSink for FileWriter<W> {
    type Out = W;

    const IS_FILE: bool = true;

    fn has_room(_: Feature, _: &[u8]) -> bool {
        true
    }

    fn begin(
        out: W,
        events: &[EventFields],
        features: FeaturePayloads,
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError> {
        let mut writer = Self::new(out, events, options)?;
        *writer.features() = features;
        Ok(writer)
    }

    fn copy(
        &mut self,
        record: &RawRecord<'_>,
        data: &[u8],
        _: impl FnOnce() -> Option<u32>,
    ) -> Result<(), WriteFileError> {
        Self::copy(self, record, data)
    }

    fn finish(
        mut self,
        events: &[EventFields],
        features: Vec<(Feature, Vec<u8>)>,
    ) -> Result<W, WriteFileError> {
        for (feature, payload) in features {
            self.features().raw(feature, &payload)?;
        }
        self.name_events(events)?;
        Self::finish(self)
    }
}

impl<W: Write> CaptureSink for PipeWriter<W> {
    type Out = W;

    const IS_FILE: bool = false;

    fn has_room(feature: Feature, payload: &[u8]) -> bool {
        fits_in_pipe(feature, payload)
    }

    fn begin(
        out: W,
        events: &[EventFields],
        features: FeaturePayloads,
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError> {
        let mut events = events.to_vec();
        // A record names an event by an id, the first also without one.
        events.iter_mut().skip(1).filter(|event| event.ids.is_empty()).for_each(|event| event.name = None);
        Self::new(out, &events, &features, options)
    }

    fn copy(
        &mut self,
        record: &RawRecord<'_>,
        data: &[u8],
        _: impl FnOnce() -> Option<u32>,
    ) -> Result<(), WriteFileError> {
        Self::copy(self, record, data)
    }

    fn finish(self, _: &[EventFields], _: Vec<(Feature, Vec<u8>)>) -> Result<W, WriteFileError> {
        Self::finish(self)
    }
}

//! A file with records of another capture.

use alloc::vec::Vec;
use std::io::{Seek, Write};

use perf_abi::feature::Feature;

use super::{OF_CONTAINER, event_fields, is_section, name_all};
use crate::event::{EventRecord, Events};
use crate::file::Reader;
use crate::file::write::{EventFields, FileWriter, WriteFileError, WriteOptions};
use crate::record::Record;
use crate::record::user::{EventUpdateData, UserRecord};

/// Writes a file that is like another capture: with its byte order, events and features, and with the records that the
/// caller copies.
///
/// The other capture may be a file, a pipe, a folder, or compressed. Records keep their order. If the copy is to be
/// analysed, leave out only samples: the other records describe the processes and their mappings.
///
/// # Examples
///
/// A copy with the samples of a span of time, and every record that is not a sample:
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_parse::rewrite::FileCopy;
///
/// # let path = "examples/captures/ids.data";
/// let bytes = std::fs::read(path)?;
/// let reader = Reader::new(&bytes)?;
/// let first = reader.records().filter_map(|it| it.ok()?.sample()?.time()).min().unwrap_or(0);
/// let span = first..first + 1_000_000;
///
/// let mut copy = FileCopy::like(&reader, Cursor::new(Vec::new()))?;
/// for record in reader.records() {
///     let record = record?;
///     if record.sample().is_none_or(|sample| sample.time().is_some_and(|time| span.contains(&time))) {
///         copy.copy(&record)?;
///     }
/// }
/// let bytes = copy.finish()?.into_inner();
/// assert!(Reader::new(&bytes)?.records().all(|record| record.is_ok()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a file is not whole before it is finished"]
pub struct FileCopy<'r, 'd, W> {
    reader: &'r Reader<'d>,
    writer: FileWriter<W>,
    /// The events of the capture, and the events as they are written.
    known: Events,
    events: Vec<EventFields>,
}

impl<'r, 'd, W: Write + Seek> FileCopy<'r, 'd, W> {
    /// Begins a file at the start of `out`, which should be empty, with the events and features that are known of the
    /// capture when it is opened. Features that describe the container, such as compression, are written anew.
    ///
    /// # Errors
    ///
    /// Those of [`FileWriter::new`].
    pub fn like(reader: &'r Reader<'d>, out: W) -> Result<Self, WriteFileError> {
        let known = reader.events().clone();
        let events = event_fields(&known);
        let options = WriteOptions { endianness: reader.endianness(), ..WriteOptions::default() };
        let writer = FileWriter::new(out, &events, &options)?;
        let mut copy = Self { reader, writer, known, events };
        for section in reader.features() {
            copy.feature(section.feature, section.bytes)?;
        }
        Ok(copy)
    }

    /// Copies a record of the capture.
    ///
    /// The attrs and features of a pipe, which are records, become sections: an attr that was not known when the
    /// capture was opened cannot be added.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Record`] for AUX data that a stream has skipped; [`WriteFileError::Event`] for an attr that
    /// comes too late; [`WriteFileError::Io`], [`WriteFileError::Broken`].
    pub fn copy(&mut self, record: &EventRecord<'_>) -> Result<(), WriteFileError> {
        let raw = record.raw();
        // A record whose data is gone is refused by the writer.
        let trailing = self.reader.trailing(record).unwrap_or_default();
        if let Ok(Record::User(user, _)) = raw.decode_user() {
            self.apply(&user, &trailing)?;
        }
        if is_section(raw.kind()) {
            return Ok(());
        }
        self.writer.copy(&raw, &trailing)
    }

    /// Applies a record that describes the capture.
    fn apply(&mut self, user: &UserRecord<'_>, trailing: &[u8]) -> Result<(), WriteFileError> {
        match user {
            UserRecord::HeaderAttr(it) if !it.ids.iter().all(|id| self.known.index_of_id(id).is_some()) => {
                let must = "known when the capture is opened: a file has its attrs before its records";
                return Err(WriteFileError::Event { event: self.known.len(), field: "attr", must });
            }
            UserRecord::HeaderFeature(it) if !it.data.is_empty() => {
                if let Some(feature) = it.feature() {
                    self.feature(feature, it.data)?;
                }
            }
            UserRecord::HeaderTracingData(_) => self.feature(Feature::TRACING_DATA, trailing)?,
            UserRecord::EventUpdate(it) => {
                let event = self.known.index_of_update(it.id).and_then(|index| self.events.get_mut(index));
                if let (Some(event), EventUpdateData::Name(name)) = (event, it.data) {
                    event.name = Some(Vec::from(name));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets a feature, unless it describes the container.
    ///
    /// # Errors
    ///
    /// Those of [`Features::raw`](crate::file::write::FeaturePayloads::raw).
    pub fn feature(&mut self, feature: Feature, payload: &[u8]) -> Result<(), WriteFileError> {
        if OF_CONTAINER.contains(&feature) {
            return Ok(());
        }
        self.writer.features().raw(feature, payload)
    }

    /// Writes the features, completes the header, and returns the output.
    ///
    /// # Errors
    ///
    /// Those of [`FileWriter::finish`].
    pub fn finish(mut self) -> Result<W, WriteFileError> {
        name_all(&mut self.events);
        self.writer.name_events(&self.events)?;
        self.writer.finish()
    }
}

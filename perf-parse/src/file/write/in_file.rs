//! Writing a file.

use alloc::vec::Vec;
use std::io::{Seek, SeekFrom, Write};

use perf_abi::endian::{ByteOrder, Endian, Endianness, U64};
use perf_abi::feature::Feature;
use perf_abi::file::{MAGIC, RawFileHeader, RawSection};
use zerocopy::IntoBytes;

use super::super::feature_table::is_of_32_bits;
use super::super::header::Section;
use super::attrs::{self, AttrFormat};
use super::body::{RecordBody, record_methods};
use super::error::WriteFileError;
use super::{EventFields, FeaturePayloads, WriteOptions, update, with_order};
use crate::record::RawRecord;

/// Writes a `perf.data` file.
///
/// The header, ids and attrs are written at once, each record when it is given, and the features by
/// [`finish`](Self::finish). If the writer is killed, the file has a data size of 0 and no features, like that of a
/// killed perf: a tolerant reader can read all records that were written. Compressed records need a finished file.
#[derive(Debug)]
#[must_use = "a file is not whole before it is finished"]
pub struct FileWriter<W> {
    body: RecordBody<W>,
    attrs: Section,
    format: AttrFormat,
    /// Offset of the records.
    data: u64,
    features: FeaturePayloads,
    /// `EVENT_DESC` of the events.
    event_desc: Option<Vec<u8>>,
}

/// Size of the header in bytes.
const HEADER: u64 = 104;

impl<W: Write + Seek> FileWriter<W> {
    /// Begins a file at the start of `out`, which should be empty.
    ///
    /// Units, scales and CPUs of events are written as EVENT_UPDATE records, before all others. Names are written as
    /// the feature `EVENT_DESC`, unless the features have another payload for it.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Attr`] and [`WriteFileError::Event`] for an event that cannot be written, or that has no name
    /// while another has one; [`WriteFileError::Option`]; [`WriteFileError::Io`].
    pub fn new(out: W, events: &[EventFields], options: &WriteOptions) -> Result<Self, WriteFileError> {
        with_order!(options.endianness, O => Self::begin::<O>(out, events, options))
    }

    fn begin<O: Endian>(
        mut out: W,
        events: &[EventFields],
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError> {
        let format = AttrFormat::new(events, options)?;
        let unnamed = events.iter().position(|event| event.name.is_none());
        if let Some(event) = unnamed.filter(|_| events.iter().any(|event| event.name.is_some())) {
            let must = "given, as another event has one: a file names all of its events or none";
            return Err(WriteFileError::Event { event, field: "name", must });
        }
        let event_desc = attrs::event_desc::<O>(events, format)?;
        let updates =
            events.iter().enumerate().map(|(index, event)| update::records::<O>(index, event, false));
        let updates = updates.collect::<Result<Vec<_>, _>>()?;

        let mut ids = Vec::new();
        let mut entries = Vec::new();
        for (index, event) in events.iter().enumerate() {
            format.put::<O>(&mut entries, index, event)?;
            let offset = HEADER.saturating_add(ids.len() as u64);
            attrs::ids::<O>(&mut ids, &event.ids);
            let end = HEADER.saturating_add(ids.len() as u64);
            entries.extend_from_slice(section::<O>(offset, end.saturating_sub(offset)).as_bytes());
        }
        let attrs_at = HEADER.saturating_add(ids.len() as u64);
        let attrs = Section { offset: attrs_at, size: entries.len() as u64 };

        out.seek(SeekFrom::Start(0))?;
        let mut writer = Self {
            body: RecordBody::new(out, options)?,
            attrs,
            format,
            data: attrs_at.saturating_add(entries.len() as u64),
            features: FeaturePayloads::new_in(O::ENDIANNESS),
            event_desc,
        };
        let header = writer.header::<O>(0, [0; 4]);
        for part in [header.as_bytes(), &ids, &entries] {
            writer.body.sink.put(part)?;
        }
        updates.iter().flatten().try_for_each(|update| writer.record(update))?;
        Ok(writer)
    }

    /// Appends a record that was read, whatever its size: a record that no kernel writes but that can be decoded is
    /// kept.
    pub(crate) fn copy(&mut self, record: &RawRecord<'_>, data: &[u8]) -> Result<(), WriteFileError> {
        self.body.copy(record, data)
    }

    /// Renames the events. Except for their names, `events` must be those with which the file was begun.
    pub(crate) fn name_events(&mut self, events: &[EventFields]) -> Result<(), WriteFileError> {
        let (endianness, format) = (self.body.endianness(), self.format);
        self.event_desc = with_order!(endianness, O => attrs::event_desc::<O>(events, format)?);
        Ok(())
    }

    /// Returns the features, which can be set at any time before [`finish`](Self::finish).
    pub fn features(&mut self) -> &mut FeaturePayloads {
        &mut self.features
    }

    record_methods!();

    /// Writes the features, completes the header, and returns the output.
    ///
    /// A reader would take a file without records for an unfinished one, so such a file gets a FINISHED_ROUND.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for `HOSTNAME` if a big-endian file lacks it and has feature numbers that readers
    /// would then misread: readers detect 32-bit bitmaps by `HOSTNAME`. [`WriteFileError::Io`],
    /// [`WriteFileError::Broken`].
    pub fn finish(self) -> Result<W, WriteFileError> {
        with_order!(self.body.endianness(), O => self.complete::<O>())
    }

    fn complete<O: Endian>(mut self) -> Result<W, WriteFileError> {
        if self.body.records() == 0 {
            self.body.end_round()?;
        }
        self.body.flush()?;
        let end = self.body.sink.position();
        self.complete_features()?;

        let mut bitmap = [0_u64; 4];
        let mut table = Vec::new();
        let entries = self.features.iter().count().saturating_mul(size_of::<RawSection<O>>());
        let mut offset = end.saturating_add(entries as u64);
        for (feature, payload) in self.features.iter() {
            if let Some(word) = bitmap.get_mut(feature.0 as usize / 64) {
                *word |= 1 << (feature.0 % 64);
            }
            let size = payload.len() as u64;
            table.extend_from_slice(section::<O>(offset, size).as_bytes());
            offset = offset.saturating_add(size);
        }
        if O::ENDIANNESS == Endianness::Big && is_of_32_bits(bitmap) {
            let must =
                "given beside features from 32 on, or a reader of a big-endian file takes them for others";
            return Err(WriteFileError::Feature { feature: Feature::HOSTNAME, field: "", must });
        }
        let header = self.header::<O>(end.saturating_sub(self.data), bitmap);
        let sink = &mut self.body.sink;
        sink.put(&table)?;
        self.features.iter().try_for_each(|(_, payload)| sink.put(payload))?;
        sink.with(|out| out.seek(SeekFrom::Start(0)))?;
        sink.put(header.as_bytes())?;
        sink.with(W::flush)?;
        Ok(self.body.sink.into_inner())
    }

    /// Adds the features that depend on the written file.
    fn complete_features(&mut self) -> Result<(), WriteFileError> {
        self.features.remove(Feature::COMPRESSED);
        self.features.remove(Feature::AUXTRACE);
        if let Some((zstd, ratio)) = self.body.compression() {
            self.features.compressed(zstd, ratio)?;
        }
        if !self.body.auxtrace().is_empty() {
            self.features.auxtrace(self.body.auxtrace())?;
        }
        if let Some(event_desc) = self.event_desc.take() {
            self.features.event_desc(event_desc);
        }
        Ok(())
    }

    fn header<O: Endian>(&self, data_size: u64, bitmap: [u64; 4]) -> RawFileHeader<O> {
        RawFileHeader {
            magic: U64::new(MAGIC),
            size: U64::new(HEADER),
            // With the section of its ids.
            attr_size: U64::new(
                u64::from(self.format.size()).saturating_add(size_of::<RawSection<O>>() as u64),
            ),
            attrs: section(self.attrs.offset, self.attrs.size),
            data: section(self.data, data_size),
            event_types: section(0, 0),
            adds_features: bitmap.map(U64::new),
        }
    }
}

fn section<O: Endian>(offset: u64, size: u64) -> RawSection<O> {
    RawSection { offset: U64::new(offset), size: U64::new(size) }
}

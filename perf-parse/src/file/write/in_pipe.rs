//! Writing a pipe-mode stream.

use alloc::vec::Vec;
use std::io::Write;

use perf_abi::endian::{ByteOrder, Endian, U32, U64};
use perf_abi::feature::Feature;
use perf_abi::file::{MAGIC, PipeHeader};
use perf_abi::record::{Misc, RecordType};
use zerocopy::IntoBytes;

use super::attrs::{self, AttrFormat};
use super::body::{RecordBody, record_methods};
use super::error::WriteFileError;
use super::{EventFields, FeaturePayloads, WriteOptions, framed, pad, update, with_order};
use crate::record::RawRecord;

/// Writes a pipe-mode stream, as `perf record -o -` does.
///
/// Everything except the records is written at once, so that a reader at the other end can begin. A stream may end
/// after any record.
#[derive(Debug)]
pub struct PipeWriter<W> {
    body: RecordBody<W>,
}

/// The features that only files have. perf: `FEAT_OPN`, `tools/perf/util/header.c`.
const FILE_ONLY: [Feature; 6] = [
    Feature::BRANCH_STACK,
    Feature::AUXTRACE,
    Feature::STAT,
    Feature::CACHE,
    Feature::DIR_FORMAT,
    Feature::HYBRID_TOPOLOGY,
];

/// Maximum size of a feature in bytes: that of a record, without its header and the feature's number.
const MOST_PAYLOAD: usize = u16::MAX as usize - 16;

impl<W: Write> PipeWriter<W> {
    /// Begins a stream: the header, a HEADER_ATTR and the EVENT_UPDATEs of each event, a HEADER_FEATURE of each
    /// feature, tracing data and build ids.
    ///
    /// perf ends the features with a marker, whose number is that of the next feature in its own version. `perf report`
    /// of another version takes the marker for an unknown feature and fails. A stream without it is read by every
    /// version, so none is written.
    ///
    /// Names are written as EVENT_UPDATE records. If all events have a name and `EVENT_DESC` fits into a record, they
    /// are also written as that feature, unless `features` has another payload for it.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a feature that only files have (`BRANCH_STACK`, `AUXTRACE`, `STAT`, `CACHE`,
    /// `DIR_FORMAT`, `HYBRID_TOPOLOGY`), for one that readers would take for the marker after the last, and for one
    /// that does not fit into a record; [`WriteFileError::Attr`] and [`WriteFileError::Event`] for an event that cannot
    /// be written; [`WriteFileError::Option`], also if the features have another byte order than
    /// [`WriteOptions::endianness`]; [`WriteFileError::Io`].
    pub fn new(
        out: W,
        events: &[EventFields],
        features: &FeaturePayloads,
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError> {
        if features.endianness() != options.endianness {
            return Err(WriteFileError::Option { option: "endianness", must: "that of the features" });
        }
        let mut body = RecordBody::new(out, options)?;
        let mut features = features.clone();
        features.remove(Feature::COMPRESSED);
        if let Some((zstd, ratio)) = body.compression() {
            features.compressed(zstd, ratio)?;
        }
        let format = AttrFormat::new(events, options)?;
        // Everything is encoded before anything is written, so that an error leaves the output empty.
        let head = with_order!(options.endianness, O => head::<O>(events, format, features)?);
        body.sink.put(&head)?;
        Ok(Self { body })
    }

    /// Appends a record that was read, whatever its size: a record that no kernel writes but that can be decoded is
    /// kept.
    pub(crate) fn copy(&mut self, record: &RawRecord<'_>, data: &[u8]) -> Result<(), WriteFileError> {
        self.body.copy(record, data)
    }

    record_methods!();

    /// Ends the stream and returns the output.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Io`], [`WriteFileError::Broken`].
    pub fn finish(mut self) -> Result<W, WriteFileError> {
        self.flush()?;
        Ok(self.body.sink.into_inner())
    }
}

/// Returns everything before the records.
fn head<O: Endian>(
    events: &[EventFields],
    format: AttrFormat,
    mut features: FeaturePayloads,
) -> Result<Vec<u8>, WriteFileError> {
    if let Some(desc) = attrs::event_desc::<O>(events, format)?.filter(|desc| fits::<O>(desc)) {
        features.event_desc(desc);
    }
    let magic = PipeHeader::<O> { magic: U64::new(MAGIC), size: U64::new(size_of::<PipeHeader<O>>() as u64) };
    let mut head = Vec::from(magic.as_bytes());
    for (index, event) in events.iter().enumerate() {
        head.extend(attr::<O>(index, event, format)?);
    }
    for (index, event) in events.iter().enumerate() {
        head.extend(update::records::<O>(index, event, true)?.into_iter().flatten());
    }
    for (feature, payload) in features.iter() {
        if feature != Feature::TRACING_DATA && feature != Feature::BUILD_ID {
            head.extend(header_feature::<O>(feature, payload)?);
        }
    }
    if let Some(payload) = features.get(Feature::TRACING_DATA) {
        head.extend(tracing_data::<O>(payload)?);
    }
    head.extend(build_ids::<O>(features.get(Feature::BUILD_ID).unwrap_or_default())?);
    Ok(head)
}

/// Returns a HEADER_ATTR record: the attr, then the ids up to the record's end.
fn attr<O: Endian>(index: usize, event: &EventFields, format: AttrFormat) -> Result<Vec<u8>, WriteFileError> {
    let mut payload = Vec::new();
    format.put::<O>(&mut payload, index, event)?;
    attrs::ids::<O>(&mut payload, &event.ids);
    let must = "so few that they fit into a record of 65535 bytes with the attr: write a file instead";
    let too_many = WriteFileError::Event { event: index, field: "ids", must };
    framed::<O>(RecordType::HEADER_ATTR, Misc(0), &[&payload]).ok_or(too_many)
}

/// Returns the HEADER_FEATURE record of a feature that a pipe may have.
fn header_feature<O: Endian>(feature: Feature, payload: &[u8]) -> Result<Vec<u8>, WriteFileError> {
    let invalid = |must| WriteFileError::Feature { feature, field: "", must };
    if FILE_ONLY.contains(&feature) {
        return Err(invalid("left out of a pipe: only files have it"));
    }
    if feature.0 >= Feature::LAST {
        return Err(invalid("left out of a pipe: a reader would take it for the end of the features"));
    }
    feature_record::<O>(feature, payload)
        .ok_or(invalid("so short that it fits into a record of 65535 bytes: write a file instead"))
}

fn feature_record<O: Endian>(feature: Feature, payload: &[u8]) -> Option<Vec<u8>> {
    let number = U64::<O>::new(u64::from(feature.0));
    framed::<O>(RecordType::HEADER_FEATURE, Misc(0), &[number.as_bytes(), payload])
}

/// Returns the section `TRACING_DATA` as a pipe has it: a record and the data after it.
fn tracing_data<O: Endian>(payload: &[u8]) -> Result<Vec<u8>, WriteFileError> {
    let mut data = payload.to_vec();
    pad(&mut data, 8);
    let too_long = |_| {
        let must = "shorter than 4 GiB";
        WriteFileError::Feature { feature: Feature::TRACING_DATA, field: "", must }
    };
    let fields = [U32::<O>::new(u32::try_from(data.len()).map_err(too_long)?), U32::ZERO];
    let record = framed::<O>(RecordType::HEADER_TRACING_DATA, Misc(0), &[fields.as_bytes()]);
    Ok([record.unwrap_or_default(), data].concat())
}

/// Returns the section `BUILD_ID` as a pipe has it: as records.
fn build_ids<O: Endian>(mut entries: &[u8]) -> Result<Vec<u8>, WriteFileError> {
    let must = "entries that are whole and fit into a record each, as build_ids makes them";
    let broken = || WriteFileError::Feature { feature: Feature::BUILD_ID, field: "", must };
    let mut records = Vec::new();
    while !entries.is_empty() {
        let (entry, rest) = RawRecord::<O>::parse(entries).map_err(|_| broken())?;
        let mut payload = entry.payload().to_vec();
        pad(&mut payload, 8);
        // The entries in files that perf writes have type 0.
        let record = framed::<O>(RecordType::HEADER_BUILD_ID, entry.misc(), &[&payload]);
        records.extend(record.ok_or_else(broken)?);
        entries = rest;
    }
    Ok(records)
}

/// Returns whether a pipe can have a feature.
pub(crate) fn fits_in_pipe(feature: Feature, payload: &[u8]) -> bool {
    // Of any size: the first is data after a record, the second a record for each entry.
    let is_apart = feature == Feature::TRACING_DATA || feature == Feature::BUILD_ID;
    is_apart || !FILE_ONLY.contains(&feature) && feature.0 < Feature::LAST && payload.len() <= MOST_PAYLOAD
}

/// Returns whether the payload fits into a HEADER_FEATURE record.
fn fits<O: Endian>(payload: &[u8]) -> bool {
    feature_record::<O>(Feature::EVENT_DESC, payload).is_some()
}

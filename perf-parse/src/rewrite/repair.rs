//! Repairs a capture: writes a well-formed file of everything that can be read from it.
//!
//! # Examples
//!
//! ```
//! use std::io::Cursor;
//!
//! use perf_parse::Reader;
//! use perf_parse::rewrite::{RepairOrder, repair};
//!
//! # let path = "examples/captures/plain.data";
//! let mut bytes = std::fs::read(path)?;
//! bytes.truncate(bytes.len() / 2); // damage: the end is lost, and the features with it
//! let repaired = repair(&Reader::new(&bytes)?, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {})?;
//! assert!(repaired.written > 0);
//!
//! let bytes = repaired.out.into_inner();
//! let reader = Reader::new(&bytes)?;
//! let mut records = reader.records();
//! records.try_for_each(|record| record.map(drop))?;
//! assert!(records.account().is_clean());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use alloc::vec::Vec;
use std::io::{self, Seek, Write};

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use super::descriptions::{DescriptionPart, Descriptions};
use super::{OF_CONTAINER, event_fields, is_section, name_all, tracing};
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::event::{EventRecord, Events};
use crate::file::write::{EventFields, FileWriter, WriteFileError, WriteOptions};
use crate::file::{EventRecords, Mode, Reader, RecordCheck};
use crate::record::user::EventUpdateData;
use crate::record::{RawRecord, Record, UserRecord};

/// The result of a repair.
#[derive(Debug)]
pub struct Repaired<W> {
    /// The output, which contains the file.
    pub out: W,
    /// Number of records that were written.
    pub written: u64,
    /// Number of records that were found and left out.
    pub dropped: u64,
    /// The features that were found and left out, in ascending order.
    pub features_dropped: Vec<Feature>,
    /// What was read, lost and skipped, and every fault that was found.
    pub account: Account,
}

/// The order in which records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairOrder {
    /// That of the capture.
    Capture,
    /// By time: see [`EventRecords::in_time_order`].
    Time,
}

/// A step of a repair.
#[derive(Debug)]
#[non_exhaustive]
pub enum RepairStep<'e> {
    /// How far the walk has read, in bytes from the start of the data file.
    At(u64),
    /// The capture itself has a fault: in its header, an attr, or the feature table. The account has it too.
    Capture {
        /// The fault.
        error: FileError,
    },
    /// A part of the capture cannot be read or decoded, and is left out. The account has the fault too.
    Unreadable {
        /// The data file of a folder capture, or the ring, with the fault.
        data_file: usize,
        /// The fault.
        error: FileError,
    },
    /// A record cannot be written, and is left out.
    Unwritable {
        /// Offset of the record in the capture.
        offset: u64,
        /// Type of the record.
        kind: RecordType,
        /// The reason why it cannot be written.
        error: &'e WriteFileError,
    },
}

/// Writes a file of everything in a capture that can be decoded. The output `out` should be empty. Calls `report` at
/// each step.
///
/// Records are copied unchanged, in the given order; compressed records are decompressed. Features are copied, with two
/// exceptions: features that describe the container are written anew, and formats of tracepoints that cannot be parsed
/// are left out. Records of simpleperf that were split and add ids to events are written as one, without ids of no event; its
/// record of tracepoints' formats becomes a section. What cannot be decoded is left out and noted in the account of the result.
///
/// If an event's attr asks for a field that this crate does not know, the event's samples are left out. The event is
/// written, with an attr that does not ask for that field.
///
/// The file is clean as defined by [`RecordCheck`], and repairing it again writes the same bytes.
///
/// # Errors
///
/// Those of [`FileWriter`]: [`WriteFileError::Io`]; [`WriteFileError::Event`] for an event that no file can hold. `Io`
/// of kind [`Unsupported`](io::ErrorKind::Unsupported) for a stream, because it has to be read twice.
pub fn repair<W: Write + Seek>(
    reader: &Reader<'_>,
    order: RepairOrder,
    out: W,
    report: impl FnMut(RepairStep<'_>),
) -> Result<Repaired<W>, WriteFileError> {
    if !reader.can_walk_again() {
        let error = io::Error::new(io::ErrorKind::Unsupported, "a stream cannot be read twice");
        return Err(WriteFileError::Io(error));
    }
    let mut records = reader.records();
    if matches!(reader.mode(), Mode::Pipe) {
        // The events and features of a pipe are only known at its end.
        records.by_ref().for_each(drop);
        records = reader.records_knowing(records.into_knowledge());
    }
    if order == RepairOrder::Time {
        records = records.in_time_order();
    }
    copy(records, reader.endianness(), out, report)
}

fn copy<W: Write + Seek>(
    mut records: EventRecords<'_>,
    endianness: Endianness,
    out: W,
    mut report: impl FnMut(RepairStep<'_>),
) -> Result<Repaired<W>, WriteFileError> {
    let opened = records.account().diagnostics.clone();
    opened.iter().for_each(|&error| report(RepairStep::Capture { error }));
    let mut events = events(records.events());
    let options = WriteOptions { endianness, ..WriteOptions::default() };
    let mut writer = FileWriter::new(out, &events, &options)?;
    let features_dropped = copy_features(&mut records, &mut writer, &mut report)?;
    let tracing_data = writer.features().get(Feature::TRACING_DATA).map(Vec::from).unwrap_or_default();
    let check = RecordCheck::new(&tracing_data);
    let mut descriptions = Descriptions::new(records.features().get(Feature::TRACING_DATA).is_some());
    let (mut written, mut dropped) = (0_u64, 0_u64);
    loop {
        report(RepairStep::At(records.reached().offset));
        let record = match records.next() {
            None => break,
            // The walk has noted the error.
            Some(Err(error)) => {
                report(RepairStep::Unreadable { data_file: records.reached().data_file, error });
                continue;
            }
            Some(Ok(record)) => record,
        };
        let (offset, data_file, kind) = (record.offset(), record.position().data_file, record.kind());
        let checked = check.record(&record);
        match checked.and_then(|()| rename(&record, records.events(), &mut events)) {
            Ok(()) if is_section(kind) => {}
            Ok(()) => {
                let part = descriptions.part(&record.raw(), records.events());
                let copied = match &part {
                    DescriptionPart::Whole => writer.copy(&record.raw(), record.trailing()),
                    DescriptionPart::Bytes(bytes) => match RawRecord::parse_in(endianness, bytes) {
                        Ok((raw, _)) => writer.copy(&raw, &[]),
                        Err(_) => continue,
                    },
                    DescriptionPart::Elsewhere => continue,
                    DescriptionPart::Wrong => {
                        dropped = dropped.saturating_add(1);
                        continue;
                    }
                    DescriptionPart::Late => {
                        dropped = dropped.saturating_add(1);
                        let must = "before the records that it describes";
                        let error = FileError::invalid("tracing_data", offset, must, offset);
                        records.account_mut().note(error);
                        report(RepairStep::Unreadable { data_file, error });
                        continue;
                    }
                };
                match copied {
                    Ok(()) => written = written.saturating_add(1),
                    Err(error @ WriteFileError::Record { .. }) => {
                        dropped = dropped.saturating_add(1);
                        report(RepairStep::Unwritable { offset, kind, error: &error });
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(error) => {
                dropped = dropped.saturating_add(1);
                // The walk notes an EVENT_UPDATE with an unknown id.
                let is_update =
                    matches!(error.kind, FileErrorKind::UnknownId { kind: RecordType::EVENT_UPDATE, .. });
                if !is_update {
                    records.account_mut().note(error);
                }
                if !is_update || !opened.contains(&error) {
                    report(RepairStep::Unreadable { data_file, error });
                }
            }
        }
    }
    name_all(&mut events);
    writer.name_events(&events)?;
    let account = records.account().clone();
    Ok(Repaired { out: writer.finish()?, written, dropped, features_dropped, account })
}

/// Returns the events to be written.
fn events(known: &Events) -> Vec<EventFields> {
    let mut events = event_fields(known);
    for event in &mut events {
        // Unknown bits affect only samples, but with them no reader could find the ids of the event's other records.
        event.attr.sample_type = decodable(event.attr.sample_type);
    }
    events
}

/// Returns the bits of a `sample_type` that this crate can decode: see [`SampleLayout::new`](crate::SampleLayout::new).
fn decodable(sample_type: SampleType) -> SampleType {
    let known = SampleType(sample_type.0 & SampleType::KNOWN.0);
    if known.contains(SampleType::WEIGHT_TYPE) { known.without(SampleType::WEIGHT_STRUCT) } else { known }
}

/// Copies the features that can be decoded, and returns the others.
fn copy_features<W: Write + Seek>(
    records: &mut EventRecords<'_>,
    writer: &mut FileWriter<W>,
    report: &mut impl FnMut(RepairStep<'_>),
) -> Result<Vec<Feature>, WriteFileError> {
    let noted = records.account().diagnostics.clone();
    let mut faults = records.check_features();
    let is_faulty = |feature| faults.iter().any(|&(of, _)| of == feature);
    let hostname = records.features().get(Feature::HOSTNAME).filter(|_| !is_faulty(Feature::HOSTNAME));
    let has_hostname = writer.features().endianness() == Endianness::Little || hostname.is_some();
    let mut dropped = Vec::new();
    let mut unfit = Vec::new();
    for section in records.features().iter().filter(|section| !OF_CONTAINER.contains(&section.feature)) {
        let (feature, number) = (section.feature, section.feature.0);
        if matches!(number, 32..64) && !has_hostname {
            let must = "below 32 in a big-endian file without HOSTNAME";
            let error = FileError::invalid("feature", u64::from(number), must, section.offset);
            unfit.push((feature, error));
            dropped.push(feature);
        } else if !is_faulty(feature) {
            writer.features().raw(feature, section.bytes)?;
        } else {
            let is_tracing_data = feature == Feature::TRACING_DATA;
            match is_tracing_data.then(|| tracing::of_good_formats(section.bytes)).flatten() {
                Some(good) => writer.features().raw(feature, &good)?,
                None => dropped.push(feature),
            }
        }
    }
    faults.append(&mut unfit);
    for (_, error) in faults {
        records.account_mut().note_once(error);
        if !noted.contains(&error) {
            report(RepairStep::Unreadable { data_file: 0, error });
        }
    }
    dropped.sort_unstable();
    Ok(dropped)
}

/// Applies the name in an EVENT_UPDATE record, as the reader of the output will.
fn rename(record: &EventRecord<'_>, known: &Events, events: &mut [EventFields]) -> Result<(), FileError> {
    if record.kind() != RecordType::EVENT_UPDATE {
        return Ok(());
    }
    let Record::User(UserRecord::EventUpdate(it), kind) = record.decode()? else { return Ok(()) };
    let index = known.index_of_id(it.id);
    let Some(event) = index.and_then(|index| events.get_mut(index)) else {
        return Err(FileError::new(FileErrorKind::UnknownId { kind, id: it.id }, record.offset()));
    };
    if let EventUpdateData::Name(name) = it.data {
        event.name = Some(Vec::from(name));
    }
    Ok(())
}

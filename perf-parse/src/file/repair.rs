//! Repairs a capture: writes a well-formed file of everything that can be read from it.
//!
//! # Examples
//!
//! ```
//! use std::io::Cursor;
//!
//! use perf_parse::file::{AnyReader, repair};
//!
//! # let path = "examples/captures/plain.data";
//! let mut bytes = std::fs::read(path)?;
//! bytes.truncate(bytes.len() / 2); // damage: the end is lost, and the features with it
//! let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on x86") };
//! let repaired = repair::repair(&mut reader, Cursor::new(Vec::new()), |_| {})?;
//! assert!(repaired.written > 0);
//!
//! let bytes = repaired.out.into_inner();
//! let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("as before") };
//! while reader.next()?.is_some() {}
//! assert!(reader.account().is_clean());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod tracing;

use alloc::vec::Vec;
use std::io::{self, Seek, Write};

use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use super::check::RecordCheck;
use super::events::Events;
use super::reader::Reader;
use super::records::FileRecord;
use super::source::Source;
use super::write::{EventFields, FileWriter, Options, WriteFileError};
use crate::error::{FileError, FileErrorKind};
use crate::record::user::EventUpdateData;
use crate::record::{Record, UserRecord};

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
}

/// A step of a repair.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'e> {
    /// How far the reader has read, in bytes from the start of the capture.
    At(u64),
    /// The capture itself has a fault: in its header, an attr, or the feature table. The reader's account has it too.
    Capture {
        /// The fault.
        error: FileError,
    },
    /// A part of the capture cannot be read or decoded, and is left out. The reader's account has the fault too.
    Unreadable {
        /// The data file of a directory capture, or the ring, with the fault.
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
        /// Why it cannot be written.
        error: &'e WriteFileError,
    },
}

/// Writes to `out`, which should be empty, a file of everything that can be decoded of a capture. Calls `tell` at each
/// step.
///
/// Records are copied unchanged, in the order in which the reader returns them; compressed records are decompressed.
/// Features are copied, with two exceptions: features that describe the container are written anew, and formats of
/// tracepoints that cannot be parsed are left out. What cannot be decoded is left out and noted in the
/// [account](Reader::account) of the reader, which this function rewinds first.
///
/// If an event's attr asks for a field that this crate does not know, the event's samples are left out. The event is
/// written, with an attr that does not ask for that field.
///
/// The file is clean as defined by [`RecordCheck`], and repairing it again writes the same bytes.
///
/// # Errors
///
/// Those of [`FileWriter`]: [`WriteFileError::Io`]; [`WriteFileError::Event`] for an event that no file can hold. `Io`
/// of kind [`Unsupported`](io::ErrorKind::Unsupported) for a capture that is not in memory, because it has to be read
/// twice.
pub fn repair<O: Endian, S: Source, W: Write + Seek>(
    reader: &mut Reader<'_, O, S>,
    out: W,
    mut tell: impl FnMut(Step<'_>),
) -> Result<Repaired<W>, WriteFileError> {
    if !S::IN_MEMORY {
        let error = io::Error::new(io::ErrorKind::Unsupported, "a stream cannot be read twice");
        return Err(WriteFileError::Io(error));
    }
    // The events and features of a stream are only known at its end.
    while !matches!(reader.next(), Ok(None)) {}
    reader.rewind_in_order();
    reader.account().diagnostics.iter().for_each(|&error| tell(Step::Capture { error }));
    let mut events = events(reader.events());
    let mut writer = FileWriter::<O, W>::new(out, &events, &Options::default())?;
    let features_dropped = copy_features(reader, &mut writer, &mut tell)?;
    let tracing_data = writer.features().get(Feature::TRACING_DATA).map(Vec::from).unwrap_or_default();
    let check = RecordCheck::new(&tracing_data);
    let (mut written, mut dropped) = (0_u64, 0_u64);
    loop {
        tell(Step::At(reader.offset()));
        let (data_file, error) = match reader.next() {
            Ok(None) => break,
            // The reader has noted the error.
            Err(error) => {
                tell(Step::Unreadable { data_file: reader.data_file(), error });
                continue;
            }
            Ok(Some(record)) => match check.record(&record).and_then(|()| rename(&record, &mut events)) {
                Err(error) => (record.data_file, error),
                Ok(()) if is_section(record.raw.kind()) => continue,
                Ok(()) => {
                    match writer.copy(&record.raw, record.behind) {
                        Ok(()) => written = written.saturating_add(1),
                        Err(error @ WriteFileError::Record { .. }) => {
                            dropped = dropped.saturating_add(1);
                            let (offset, kind) = (record.offset, record.raw.kind());
                            tell(Step::Unwritable { offset, kind, error: &error });
                        }
                        Err(error) => return Err(error),
                    }
                    continue;
                }
            },
        };
        dropped = dropped.saturating_add(1);
        // An EVENT_UPDATE with an unknown id was noted when it was first read.
        let is_update = matches!(error.kind, FileErrorKind::UnknownId { kind: RecordType::EVENT_UPDATE, .. });
        if !is_update || !reader.account().diagnostics.contains(&error) {
            tell(Step::Unreadable { data_file, error });
            reader.account_mut().note(error);
        }
    }
    name_all(&mut events);
    writer.name_events(&events)?;
    Ok(Repaired { out: writer.finish()?, written, dropped, features_dropped })
}

/// Returns the events to be written.
fn events(known: &Events) -> Vec<EventFields> {
    let fields = |event| {
        // The EVENT_UPDATE records with units and scales are copied unchanged.
        let mut fields = EventFields { unit: None, scale: None, ..EventFields::from(event) };
        // Unknown bits affect only samples, but with them no reader could find the ids of the event's other records.
        fields.attr.sample_type = decodable(fields.attr.sample_type);
        fields
    };
    let mut events: Vec<_> = known.iter().map(fields).collect();
    name_all(&mut events);
    events
}

/// Gives every event a name if one has a name: perf requires names for all events or for none.
fn name_all(events: &mut [EventFields]) {
    if events.iter().any(|event| event.name.is_some()) {
        for (index, event) in events.iter_mut().enumerate() {
            event.name.get_or_insert_with(|| alloc::format!("event-{index}").into_bytes());
        }
    }
}

/// Returns the bits of a `sample_type` that this crate can decode: see [`SampleLayout::new`](crate::SampleLayout::new).
fn decodable(sample_type: SampleType) -> SampleType {
    let known = SampleType(sample_type.0 & SampleType::KNOWN.0);
    if known.contains(SampleType::WEIGHT_TYPE) { known.without(SampleType::WEIGHT_STRUCT) } else { known }
}

/// Copies the features that can be decoded, and returns the others.
fn copy_features<O: Endian, S: Source, W: Write + Seek>(
    reader: &mut Reader<'_, O, S>,
    writer: &mut FileWriter<O, W>,
    tell: &mut impl FnMut(Step<'_>),
) -> Result<Vec<Feature>, WriteFileError> {
    // These features describe the container, not its content. They are written anew, or no longer apply.
    let made_anew = [Feature::EVENT_DESC, Feature::AUXTRACE, Feature::COMPRESSED, Feature::DIR_FORMAT];
    let noted = reader.account().diagnostics.clone();
    let mut faults = reader.check_features();
    let is_faulty = |feature| faults.iter().any(|&(of, _)| of == feature);
    let hostname = reader.feature(Feature::HOSTNAME).filter(|_| !is_faulty(Feature::HOSTNAME));
    let has_hostname = O::ENDIANNESS == Endianness::Little || hostname.is_some();
    let mut dropped = Vec::new();
    let mut unfit = Vec::new();
    for section in reader.features().iter().filter(|section| !made_anew.contains(&section.feature)) {
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
        reader.account_mut().note_once(error);
        if !noted.contains(&error) {
            tell(Step::Unreadable { data_file: 0, error });
        }
    }
    dropped.sort_unstable();
    Ok(dropped)
}

/// Returns whether a stream has this record for something that is a section in a file.
fn is_section(kind: RecordType) -> bool {
    let sections = [
        RecordType::HEADER_ATTR,
        RecordType::HEADER_EVENT_TYPE,
        RecordType::HEADER_FEATURE,
        RecordType::HEADER_TRACING_DATA,
    ];
    sections.contains(&kind)
}

/// Applies the name in an EVENT_UPDATE record, as the reader of the output will.
fn rename<O: Endian>(record: &FileRecord<'_, O>, events: &mut [EventFields]) -> Result<(), FileError> {
    if record.raw.kind() != RecordType::EVENT_UPDATE {
        return Ok(());
    }
    let Record::User(UserRecord::EventUpdate(it), kind) = record.decode()? else { return Ok(()) };
    let index = record.events.index_of_id(it.id);
    let Some(event) = index.and_then(|index| events.get_mut(index)) else {
        return Err(FileError::new(FileErrorKind::UnknownId { kind, id: it.id }, record.offset));
    };
    if let EventUpdateData::Name(name) = it.data {
        event.name = Some(Vec::from(name));
    }
    Ok(())
}

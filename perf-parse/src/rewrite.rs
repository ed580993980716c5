//! Writes captures from other captures: [`Edit`] leaves out samples and their fields and changes the container, [`merge`] makes
//! one of several, [`repair`] copies everything that can be decoded, and [`FileCopy`] copies the records that the caller
//! chooses.
//!
//! They write a `perf.data` file, whatever the capture is: the attrs, names and features of a pipe become the sections of
//! a file, and compressed records are decompressed. An edit also writes pipes, folders and compressed files.

mod account;
mod capture_filter;
mod copy;
mod descriptions;
mod edit;
mod edited;
mod features;
mod folder_sink;
mod merge;
mod perf_release;
mod record_words;
mod repair;
mod rewriter;
mod sample_fields;
mod sink;
mod sorted;
mod step;
mod tracing;

pub use account::EditAccount;
pub use capture_filter::CaptureFilter;
pub use copy::FileCopy;
pub use edit::Edit;
pub use edited::{AddedRecord, EditSummary, EditedRecord};
pub use folder_sink::FolderOutputs;
pub use merge::{CaptureMergeError, MergeOptions, merge};
pub use perf_release::PerfRelease;
pub use repair::repair;
pub use step::{RepairOrder, RepairStep};

use alloc::format;
use std::io;

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use crate::event::Events;
use crate::file::write::{EventFields, WriteFileError};
use crate::file::{EventRecords, Mode, Reader};

/// The features that describe the container of a capture, not its content. They are written anew, or no longer apply.
const OF_CONTAINER: [Feature; 4] =
    [Feature::EVENT_DESC, Feature::AUXTRACE, Feature::COMPRESSED, Feature::DIR_FORMAT];

/// Returns whether records of this type contain, in a pipe, the data that is a section in a file.
fn is_section(kind: RecordType) -> bool {
    let sections = [
        RecordType::HEADER_ATTR,
        RecordType::HEADER_EVENT_TYPE,
        RecordType::HEADER_FEATURE,
        RecordType::HEADER_TRACING_DATA,
    ];
    sections.contains(&kind)
}

/// Returns the records of a capture, with all of its events and features.
///
/// # Errors
///
/// For a stream, because it has to be read twice.
fn known_records<'r>(reader: &'r Reader<'_>) -> Result<EventRecords<'r>, WriteFileError> {
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
    Ok(records)
}

/// Returns the events to be written. Units and scales are left to the EVENT_UPDATE records, which are copied.
fn event_fields(known: &Events) -> alloc::vec::Vec<EventFields> {
    let fields = known.iter().map(|event| EventFields {
        unit: None,
        scale: None,
        ..EventFields::from(event.as_ref())
    });
    let mut events = fields.collect::<alloc::vec::Vec<_>>();
    name_all(&mut events);
    events
}

/// Gives every event a name if one has a name: perf requires names for all events or for none.
fn name_all(events: &mut [EventFields]) {
    if events.iter().any(|event| event.name.is_some()) {
        for (index, event) in events.iter_mut().enumerate() {
            event.name.get_or_insert_with(|| format!("event-{index}").into_bytes());
        }
    }
}

//! Writes captures from other captures: [`FileCopy`] copies the records that the caller chooses, [`repair`] copies
//! everything that can be decoded.
//!
//! Both write a `perf.data` file, whatever the capture is: the attrs, names and features of a pipe become the sections of
//! a file, and compressed records are decompressed.

mod copy;
mod descriptions;
mod repair;
mod tracing;

pub use copy::FileCopy;
pub use repair::{RepairOrder, RepairStep, Repaired, repair};

use alloc::format;

use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use crate::event::Events;
use crate::file::write::EventFields;

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

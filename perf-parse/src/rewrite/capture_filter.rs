//! What an edit leaves of everything in a capture but its samples.

use super::edited::EditedRecord;
use crate::file::write::{EventFields, FeaturePayloads};
use crate::layout::SampleLayout;
use crate::record::RawRecord;

/// Decides about what describes the samples of a capture: features, names of events, and all other records.
pub trait CaptureFilter {
    /// Removes or changes features. They are those of the result, except those that describe its container.
    fn features(&mut self, features: &mut FeaturePayloads);

    /// Changes the name of an event, and the bytes of its attr that are not known. The attr decides how records are decoded, and
    /// must stay.
    fn event(&mut self, event: &mut EventFields);

    /// Decides about a record that is not a sample. `layout` is that of its event, and `None` for records of perf and of
    /// simpleperf, and if the event is not known. The records of a pipe that are sections of a file are features here.
    fn record(&mut self, record: &RawRecord<'_>, layout: Option<&SampleLayout>) -> EditedRecord;
}

//! Records that a program has from elsewhere, and what is known of them.

use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_parse::file::{Limits, Mode};
use perf_parse::{EventRecord, FileError};

/// Records that a program has from elsewhere.
pub(super) type BoxedRecords<'r> = Box<dyn Iterator<Item = Result<EventRecord<'r>, FileError>> + Send + 'r>;

/// A copy of what is known of a stream.
#[derive(Debug)]
pub(super) struct StreamInfo {
    pub(super) events: Events,
    pub(super) features: Features<'static>,
    pub(super) mode: Mode,
    pub(super) limits: Limits,
}

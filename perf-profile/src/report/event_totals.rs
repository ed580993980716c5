//! The number of samples of an event, and the sum of their periods.

use std::sync::Arc;

use perf_parse::event::Event;

use crate::sample::SampleTotal;

/// The samples of an event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventTotals {
    /// The event.
    pub event: Arc<Event>,
    /// All samples, those of other threads, files and functions than the selected ones included.
    pub all: SampleTotal,
    /// The selected samples.
    pub selected: SampleTotal,
    /// The selected samples that are beyond the [limits](super::Options::limits).
    pub beyond: SampleTotal,
}

impl EventTotals {
    pub(super) fn new(event: &Arc<Event>) -> Self {
        let none = SampleTotal::default();
        Self { event: Arc::clone(event), all: none, selected: none, beyond: none }
    }
}

//! Weights of samples.

use perf_abi::event::EventType;
use perf_parse::event::Event;

use crate::sample::{Sample, SampleTotal};

/// What samples count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weight {
    /// What the event counted: the sum of the periods, which for samples without one are the event's. Samples of tracepoints
    /// count 1 each, because the text of `perf script` has no period of them.
    #[default]
    Period,
    /// The number of samples.
    Samples,
}

impl Weight {
    /// Returns what a sample counts.
    #[must_use]
    pub fn of(self, sample: &Sample, event: &Event) -> u64 {
        self.of_total(sample.total, event)
    }

    /// Returns what samples of an event count together.
    #[must_use]
    pub fn of_total(self, total: SampleTotal, event: &Event) -> u64 {
        match self {
            Self::Period if event.attr.kind != EventType::TRACEPOINT => total.period,
            _ => total.samples,
        }
    }
}

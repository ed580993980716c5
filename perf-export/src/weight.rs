//! What samples count.

use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;

use crate::profile::{Sample, Total};

/// What samples count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weight {
    /// What the event counted: the sum of the periods. Samples that do not have their period, and those of tracepoints, count
    /// 1 each, as in the text of `perf script`.
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
    pub fn of_total(self, total: Total, event: &Event) -> u64 {
        let has_period = event.attr.sample_type.contains(SampleType::PERIOD);
        if self == Self::Period && has_period && event.attr.kind != EventType::TRACEPOINT {
            total.period
        } else {
            total.samples
        }
    }
}

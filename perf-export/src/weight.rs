//! What samples count.

use perf_abi::event::EventType;
use perf_parse::event::Event;

use crate::profile::{Sample, Total};

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
    pub fn of_total(self, total: Total, event: &Event) -> u64 {
        match self {
            Self::Period if event.attr.kind != EventType::TRACEPOINT => total.period,
            _ => total.samples,
        }
    }
}

#[cfg(test)]
mod tests {
    use perf_symbol::unwind::StackEnd;

    use super::*;

    #[test]
    fn tracepoints_count_samples() {
        let reader = perf_parse::Reader::open(testdata::path("plain.data")).unwrap();
        let mut event = (*reader.events()[0]).clone();
        let total = Total { samples: 3, period: 300 };
        let (stack, end) = (crate::EMPTY, StackEnd::Rooted);
        let sample = Sample { event: 0, thread: 0, cpu: None, time: 0, stack, end, total };
        for (kind, period) in
            [(EventType::HARDWARE, 300), (EventType::SOFTWARE, 300), (EventType::TRACEPOINT, 3)]
        {
            event.attr.kind = kind;
            assert_eq!(Weight::Period.of(&sample, &event), period, "{kind:?}");
            assert_eq!(Weight::Samples.of(&sample, &event), 3, "{kind:?}");
        }
    }
}

//! The numbers beside instructions.

use perf_profile::SampleTotal;
use perf_profile::annotation::AnnotatedEvent;

/// The samples that percentages are of, and the number that is compared.
///
/// perf: `enum annotation_data_percent_type`, `tools/perf/util/annotate.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PercentType {
    /// Whether percentages are of all samples of the capture (global), not of those in the function (local).
    pub(super) of_capture: bool,
    /// Whether samples are counted (hits), not their periods.
    pub(super) by_samples: bool,
}

/// The number that rows show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShownNumber {
    #[default]
    Percent,
    Period,
    Samples,
}

impl PercentType {
    /// Returns its name in perf.
    pub(super) fn name(self) -> &'static str {
        match (self.of_capture, self.by_samples) {
            (false, false) => "local period",
            (false, true) => "local hits",
            (true, false) => "global period",
            (true, true) => "global hits",
        }
    }

    /// Returns the number of a total that is compared.
    pub(super) fn number(self, total: &SampleTotal) -> u64 {
        if self.by_samples { total.samples } else { total.period }
    }

    /// Returns the percentage that a total of an event is; 0 if the event has no samples.
    pub(super) fn percent(self, event: &AnnotatedEvent, total: &SampleTotal) -> f64 {
        let all = self.number(if self.of_capture { &event.of_capture } else { &event.total });
        if all == 0 { 0.0 } else { self.number(total) as f64 * 100.0 / all as f64 }
    }
}

impl ShownNumber {
    /// Returns the number that follows.
    ///
    /// perf: the key `t`, `annotate_browser__run`, `tools/perf/ui/browsers/annotate.c`.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Percent => Self::Period,
            Self::Period => Self::Samples,
            Self::Samples => Self::Percent,
        }
    }

    /// Returns its name in the title, if it is not a percentage.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Percent => None,
            Self::Period => Some("Event count"),
            Self::Samples => Some("Samples"),
        }
    }
}

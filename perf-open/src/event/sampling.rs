//! The default sampling of an event.

use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;

use super::EventSpec;

/// The sampling of an event for which the user gives neither a period nor a frequency.
///
/// perf: `evsel__newtp_idx` and `evsel__new_idx`, `tools/perf/util/evsel.c`; `parse_events_add_breakpoint`,
/// `tools/perf/util/parse-events.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefaultSampling {
    /// The period; 1 for events whose every occurrence is of interest. `None` if a frequency is usual, as for clocks and
    /// events of the hardware.
    pub period: Option<u64>,
    /// The fields of samples that carry what the event is about. Empty if it needs none.
    pub sample_type: SampleType,
}

impl EventSpec {
    /// Returns how a recorder samples this event by default. The terms of the event ([`EventSpec::terms`]) take
    /// precedence.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::abi::event::SwId;
    /// use perf_open::abi::sample_type::SampleType;
    /// use perf_open::event::EventSpec;
    ///
    /// let output = EventSpec::software(SwId::BPF_OUTPUT).default_sampling();
    /// assert_eq!(output.period, Some(1));
    /// assert!(output.sample_type.contains(SampleType::RAW));
    /// assert_eq!(EventSpec::software(SwId::CPU_CLOCK).default_sampling().period, None);
    /// ```
    #[must_use]
    pub fn default_sampling(&self) -> DefaultSampling {
        let raw = SampleType::RAW | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
        match (self.attr.kind, SwId(self.attr.config)) {
            (EventType::TRACEPOINT, _) | (EventType::SOFTWARE, SwId::BPF_OUTPUT) => {
                DefaultSampling { period: Some(1), sample_type: raw }
            }
            (EventType::BREAKPOINT, _) => DefaultSampling { period: Some(1), ..DefaultSampling::default() },
            _ => DefaultSampling::default(),
        }
    }
}

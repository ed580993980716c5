//! Units of events.

use perf_abi::attr::Attr;
use perf_abi::event::{EventType, SwId};

/// Returns whether an event counts nanoseconds.
pub fn is_clock(attr: &Attr) -> bool {
    let clocks = [SwId::CPU_CLOCK.0, SwId::TASK_CLOCK.0];
    attr.kind == EventType::SOFTWARE && clocks.contains(&attr.config)
}

/// Returns whether the samples of an event have periods: recorded, or that of the event.
pub fn has_periods(event: &perf_parse::event::Event) -> bool {
    use perf_abi::attr::AttrFlags;
    use perf_abi::sample_type::SampleType;

    event.attr.sample_type.contains(SampleType::PERIOD) || !event.attr.flags.contains(AttrFlags::FREQ)
}

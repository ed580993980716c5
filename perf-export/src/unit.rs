//! The units of events.

use perf_abi::event::EventType;
use perf_parse::event::Event;

/// `PERF_COUNT_SW_CPU_CLOCK` and `PERF_COUNT_SW_TASK_CLOCK`.
const CLOCKS: [u64; 2] = [0, 1];

/// Returns the unit of what an event counts, as pprof and OTLP spell it.
pub(crate) fn unit(event: &Event) -> &'static [u8] {
    let is_clock = event.attr.kind == EventType::SOFTWARE && CLOCKS.contains(&event.attr.config);
    if is_clock { b"nanoseconds" } else { b"count" }
}

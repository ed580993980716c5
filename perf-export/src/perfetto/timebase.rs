//! Events and clocks as Perfetto describes them.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, HwEvent, HwId, SwId};
use perf_parse::event::Event;
use perf_profile::{event_name, text::OneLine};

use super::messages::{PerfTracepoint, RawEvent, Timebase};

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceClock {
    /// `BuiltinClock`, `builtin_clock.proto`.
    pub(super) builtin: u32,
    /// `PerfEvents.PerfClock`, `perf_events.proto`; `None` if it has no number.
    of_event: Option<i32>,
}

/// `BUILTIN_CLOCK_REALTIME`.
pub(super) const REALTIME: u32 = 1;

/// `BUILTIN_CLOCK_BOOTTIME`: the clock of events of the scheduler, unless they tell another one.
pub(super) const BOOTTIME: u32 = 6;

/// Returns the clock of the times of an event: the kernel's own for events, unless it asked for another one that Perfetto
/// knows.
///
/// Linux: `CLOCK_*`, `include/uapi/linux/time.h`.
pub(super) fn clock(attr: Option<&Attr>) -> TraceClock {
    let asked = attr.filter(|attr| attr.flags.contains(AttrFlags::USE_CLOCKID)).map(|attr| attr.clockid);
    let (builtin, of_event) = match asked {
        Some(0) => (REALTIME, Some(1)),
        Some(1) => (3, Some(2)),
        Some(4) => (5, Some(3)),
        Some(7) => (BOOTTIME, Some(4)),
        // `BUILTIN_CLOCK_PERF`.
        _ => (10, None),
    };
    TraceClock { builtin, of_event }
}

/// Returns the description of an event.
pub(super) fn timebase(event: &Event) -> Timebase {
    let attr = &event.attr;
    let name = OneLine(&event_name(event)).to_string();
    let is_tracepoint = attr.kind == EventType::TRACEPOINT;
    let counter = counter(attr);
    let raw =
        RawEvent { r#type: attr.kind.0, config: attr.config, config1: attr.config1, config2: attr.config2 };
    let has_frequency = attr.flags.contains(AttrFlags::FREQ);
    let interval = Some(attr.sample_period).filter(|&interval| interval > 0);
    Timebase {
        period: interval.filter(|_| !has_frequency),
        frequency: interval.filter(|_| has_frequency),
        tracepoint: is_tracepoint.then(|| PerfTracepoint { name: name.clone() }),
        counter,
        raw_event: (!is_tracepoint && counter.is_none()).then_some(raw),
        name,
        timestamp_clock: clock(Some(attr)).of_event,
    }
}

/// Returns the number of an event of the kernel's own lists; `None` for others.
///
/// Perfetto: `PerfEvents.Counter`, `perf_events.proto`.
fn counter(attr: &Attr) -> Option<i32> {
    match attr.kind {
        EventType::HARDWARE => Some(match HwEvent::of(attr.config).id {
            HwId::CPU_CYCLES => 10,
            HwId::INSTRUCTIONS => 11,
            HwId::CACHE_REFERENCES => 12,
            HwId::CACHE_MISSES => 13,
            HwId::BRANCH_INSTRUCTIONS => 14,
            HwId::BRANCH_MISSES => 15,
            HwId::BUS_CYCLES => 16,
            HwId::STALLED_CYCLES_FRONTEND => 17,
            HwId::STALLED_CYCLES_BACKEND => 18,
            HwId::REF_CPU_CYCLES => 19,
            _ => return None,
        }),
        EventType::SOFTWARE => Some(match SwId(attr.config) {
            SwId::CPU_CLOCK => 1,
            SwId::PAGE_FAULTS => 2,
            SwId::TASK_CLOCK => 3,
            SwId::CONTEXT_SWITCHES => 4,
            SwId::CPU_MIGRATIONS => 5,
            SwId::PAGE_FAULTS_MIN => 6,
            SwId::PAGE_FAULTS_MAJ => 7,
            SwId::ALIGNMENT_FAULTS => 8,
            SwId::EMULATION_FAULTS => 9,
            SwId::DUMMY => 20,
            _ => return None,
        }),
        _ => None,
    }
}
